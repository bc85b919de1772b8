"""The check of the order of lines in a recording. Pure."""

from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.stream_ids import order_of

from antiphon.recording.lines import End, EventLine, Header, Line, RecordLine

_NUMBER_MAX = 2**64 - 1
"""The greatest number in a log entry's id, as in Redis."""


class Order:
    """The check that the lines of a recording are in order; `lines.py` describes the order."""

    def __init__(self) -> None:
        self._has_header = self._has_end = False
        self._events = self._records = 0
        self._log_id = (0, 0)

    def check(self, line: Line) -> None:
        """Raise UnreadableEvent if `line` cannot follow the lines before."""
        if self._has_end:
            raise UnreadableEvent("a line follows the end line.")
        if isinstance(line, Header) == self._has_header:
            message = (
                "a second header."
                if self._has_header
                else "the header is missing: it must be the first line."
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
        """Raise UnreadableEvent if lines are missing at the end."""
        if not self._has_header:
            raise UnreadableEvent("it is empty.")
        if not self._has_end:
            raise UnreadableEvent(
                "the end line is missing: the file is incomplete.", hint="Export the session again."
            )

    def _check_event(self, line: EventLine) -> None:
        log_id = order_of(line.entry)
        if (
            line.n != self._events + 1
            or log_id <= self._log_id
            or log_id[0] > _NUMBER_MAX
            or log_id[1] > _NUMBER_MAX
        ):
            raise UnreadableEvent(
                f"event {line.n} at {line.entry} cannot follow event {self._events} at "
                f"{self._log_id[0]}-{self._log_id[1]}: numbers increase by one, and log ids increase."
            )
        self._log_id = log_id
        self._events += 1

    def _check_end(self, line: End) -> None:
        if (line.events, line.records) != (self._events, self._records):
            raise UnreadableEvent(
                f"the end line counts {line.events} events and {line.records} records, but the "
                f"recording contains {self._events} and {self._records}: lines were lost or added."
            )
        self._has_end = True
