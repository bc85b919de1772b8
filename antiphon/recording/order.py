"""The order of the lines in a recording. Pure."""

from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.lines import End, EventLine, Header, Line, RecordLine

_PART_MAX = 2**64 - 1
"""The greatest number in a log entry's id, as in Redis."""


class Order:
    """The check that the lines of one recording are in order; see `lines.py`."""

    def __init__(self) -> None:
        self._has_header = self._has_end = False
        self._events = self._records = 0
        self._place = (0, 0)

    def check(self, line: Line) -> None:
        """Raise UnreadableEvent when `line` cannot follow the lines before."""
        if self._has_end:
            raise UnreadableEvent("a line follows the end line.")
        if isinstance(line, Header) == self._has_header:
            message = (
                "a second header."
                if self._has_header
                else ("the header is missing: it must be the first line.")
            )
            raise UnreadableEvent(message, hint="Check that the file is a single recording.")
        match line:
            case EventLine():
                self._check_event(line)
            case RecordLine(record=record):
                if record.outputs > self._events:
                    raise UnreadableEvent(
                        f"it reports {record.outputs} events of a step, more than the recording contains."
                    )
                self._records += 1
            case Header():
                self._has_header = True
            case End():
                self._check_end(line)
            case _:
                pass

    def finish(self) -> None:
        """Raise UnreadableEvent when lines are missing at the end."""
        if not self._has_header:
            raise UnreadableEvent("it is empty.")
        if not self._has_end:
            raise UnreadableEvent(
                "the end line is missing: the file is incomplete.", hint="Export the session again."
            )

    def _check_event(self, line: EventLine) -> None:
        place = place_of(line.entry)
        if line.n != self._events + 1 or place <= self._place or place[0] > _PART_MAX or place[1] > _PART_MAX:
            raise UnreadableEvent(
                f"event {line.n} at {line.entry} cannot follow event {self._events} at "
                f"{self._place[0]}-{self._place[1]}: numbers increase by one, and log ids increase."
            )
        self._place = place
        self._events += 1

    def _check_end(self, line: End) -> None:
        if (line.events, line.records) != (self._events, self._records):
            raise UnreadableEvent(
                f"the end line counts {line.events} events and {line.records} records, but the "
                f"recording contains {self._events} and {self._records}: lines were lost or added."
            )
        self._has_end = True


def place_of(entry: str) -> tuple[int, int]:
    """Return the two numbers of a log entry's id, milliseconds first."""
    milliseconds, _, sequence = entry.partition("-")
    return int(milliseconds), int(sequence)
