"""Events of the coordinator's inbox that nothing was decided on, as it seems: the session must let each go. Pure."""

from collections.abc import Callable

from antiphon.recording.lines import EventLine

LetsGo = Callable[[EventLine], bool | None]
"""Whether the session, as it stands, changes nothing on an event; None: it cannot be told."""
_LOOKS_MAX = 32
"""How often an event without a decision is looked at before the end."""


class Undecided:
    """The events without a decision, by number; each is looked at when a later one is decided on, and in the end."""

    def __init__(self) -> None:
        self._lines: dict[int, EventLine] = {}
        self._looks_left: dict[int, int] = {}

    def add(self, line: EventLine) -> None:
        self._lines[line.n], self._looks_left[line.n] = line, _LOOKS_MAX

    def drop(self, line: EventLine) -> None:
        """Something was decided on it, or its decision is known to be lost."""
        self._lines.pop(line.n, None)

    def look(self, lets_go: LetsGo, to: int | None = None) -> list[EventLine]:
        """Let go what the session lets go now, of the events before number `to`; returns what is left."""
        for n in [n for n in self._lines if to is None or (n < to and self._looks_left[n])]:
            is_let_go = lets_go(self._lines[n])
            if is_let_go is None:
                break
            self._looks_left[n] -= 1
            if is_let_go:
                del self._lines[n]
        return list(self._lines.values())
