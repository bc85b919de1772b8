"""The verification of recordings with today's code: the first thing to do after any change."""

from collections.abc import Collection, Iterable
from pathlib import Path

from antiphon_shared.events import COMPONENTS, Component

from antiphon.recording.envelopes import Envelopes
from antiphon.recording.files import naming, read_lines
from antiphon.recording.lines import Line
from antiphon.recording.replaying.replay import Replay
from antiphon.recording.replaying.report import Report


def verify(path: Path, only: Collection[Component] = COMPONENTS) -> Report:
    """Verify one recording with today's code, or only the steps of some components.

    Raises UnreadableEvent, which names the file, and OSError.
    """
    with naming(path):
        return verify_lines(read_lines(path), only)


def verify_lines(lines: Iterable[Line], only: Collection[Component] = COMPONENTS) -> Report:
    """Verify the lines of a recording. Raises UnreadableEvent."""
    verification = Verification(only)
    for line in lines:
        verification.read(line)
    return verification.report()


class Verification:
    """A verification, line by line."""

    def __init__(self, only: Collection[Component] = COMPONENTS) -> None:
        self._envelopes, self._replay = Envelopes(), Replay(only=only)

    def read(self, line: Line) -> None:
        """Add the next line. Raises UnreadableEvent."""
        self._envelopes.check(line)
        self._replay.read(line)

    def report(self) -> Report:
        """Return the result. Raises UnreadableEvent when the recording is not whole."""
        return self._replay.report()
