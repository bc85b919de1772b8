"""The state of a dispatcher's write in flight. Pure."""

from dataclasses import dataclass
from typing import Literal, get_args

from tests.chaos.write_effects import Stage
from tests.chaos.write_runs import Run

Kind = Literal["keyed", "asked", "plain"]
KINDS: tuple[Kind, ...] = get_args(Kind)

State = Literal["read", "claim", "before", "sending", "during", "after", "settle", "commit", "waiting"]
"""The states of a write, in their order:

    read      its batch is in flight, and it is not claimed
    claim     claimed, and the tool has not begun
    before    the tool has begun, and has not sent its request
    sending   it has, and the service does not have it yet
    during    the service has it, and has not answered
    after     the service has answered, and the tool has not returned
    settle    the tool has returned, and its outcome is not settled
    commit    settled, and the batch is not answered
    waiting   another worker has claimed it, and its lease has not expired
"""
STATES: tuple[State, ...] = get_args(State)

CUT: frozenset[State] = frozenset(("claim", "before", "sending", "during", "after", "settle"))
"""Between claim and settle: only the process that runs it knows its outcome."""


@dataclass(frozen=True, slots=True)
class Record:
    """The data that Redis has of a write."""

    state: str = ""
    """Empty when it is not claimed."""
    fence: int = 0


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a batch in flight, and its state."""

    key: str
    kind: Kind
    fence: int
    state: State


def state_of(record: Record, pid: int, run: Run | None, stage: Stage | None, cut_fence: int) -> State:
    """Return the state of a write that the process `pid` has in flight.

    `run` is the run under the record's fence, `stage` its stage at the service, `cut_fence` the last fence that is
    known to have been cut off.
    """
    if not record.state:
        return "read"
    if record.state != "in_progress":
        return "commit"
    if run is None:
        return "waiting" if record.fence <= cut_fence else "claim"
    if run.pid != pid or record.fence <= cut_fence:
        return "waiting"
    match run.at:
        case "begin":
            return "before"
        case "end":
            return "settle"
        case "sends":
            return _WITH_THE_SERVICE[stage]


_WITH_THE_SERVICE: dict[Stage | None, State] = {None: "sending", "held": "during", "answered": "after"}
