"""Recordings that a command is given."""

from pathlib import Path

from antiphon.recording.files import read_lines
from antiphon.recording.lines import Line
from shared.errors import UnreadableEvent


def recording(path: Path) -> list[Line]:
    """All lines of a recording. Raises UnreadableEvent."""
    try:
        return list(read_lines(path))
    except OSError as error:
        raise UnreadableEvent(f"{path} cannot be read: {error.strerror or error}.") from None
