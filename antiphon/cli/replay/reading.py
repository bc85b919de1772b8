"""Recordings that a command is given."""

from pathlib import Path

from antiphon.recording.files import read_lines
from antiphon.recording.lines import Line
from antiphon.recording.verify_all import UNREADABLE, explained
from shared.errors import UnreadableEvent


def recording(path: Path) -> list[Line]:
    """All lines of a recording. Raises UnreadableEvent."""
    try:
        return list(read_lines(path))
    except UnreadableEvent:
        raise
    except UNREADABLE as error:
        raise UnreadableEvent(f"{path}: {explained(error, path)}") from None
