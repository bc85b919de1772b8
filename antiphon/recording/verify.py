"""Hold recordings against today's code: the first thing to do after any change."""

from collections.abc import Collection, Iterable
from pathlib import Path

from antiphon_shared.events import COMPONENTS, Component

from antiphon.recording.envelopes import Envelopes
from antiphon.recording.files import naming, read_lines
from antiphon.recording.lines import Line
from antiphon.recording.replaying.replay import Replay
from antiphon.recording.replaying.report import Report


def verify(path: Path, only: Collection[Component] = COMPONENTS) -> Report:
    """Hold one recording against today's code, or only the steps of some components.

    Raises UnreadableEvent, which names the file, and OSError.
    """
    with naming(path):
        return verify_lines(read_lines(path), only)


def verify_lines(lines: Iterable[Line], only: Collection[Component] = COMPONENTS) -> Report:
    """The same for lines. Raises UnreadableEvent."""
    envelopes, replay = Envelopes(), Replay(only=only)
    for line in lines:
        envelopes.check(line)
        replay.read(line)
    return replay.report()
