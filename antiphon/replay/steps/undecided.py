"""The coordinator's events without a recorded decision, which the session must ignore. Pure."""

from collections.abc import Callable

from antiphon.recording.lines import EventLine

IsIgnored = Callable[[EventLine], bool | None]
"""A function that returns whether the session in its current state ignores an event; None if that is unknown."""
_CHECKS_MAX = 32
"""The number of checks of an event without a decision, before the last one at the end."""


class Undecided:
    """The events without a decision, by number; each is checked at every later decision, and at the end."""

    def __init__(self) -> None:
        self._lines: dict[int, EventLine] = {}
        self._checks_left: dict[int, int] = {}

    def add(self, line: EventLine) -> None:
        self._lines[line.n], self._checks_left[line.n] = line, _CHECKS_MAX

    def drop(self, line: EventLine) -> None:
        """Remove an event with a decision, even if the decision was not recorded."""
        self._lines.pop(line.n, None)

    def remove_ignored(self, is_ignored: IsIgnored, to: int | None = None) -> list[EventLine]:
        """Remove the events before number `to` that the session now ignores; return the others."""
        for n in [n for n in self._lines if to is None or (n < to and self._checks_left[n])]:
            ignored = is_ignored(self._lines[n])
            if ignored is None:
                break
            self._checks_left[n] -= 1
            if ignored:
                del self._lines[n]
        return list(self._lines.values())
