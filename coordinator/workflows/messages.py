"""The events that a run's graph decides on, and the commands of a decision. Pure.

Nodes are named by their path: `book`, `outer/book` in a sub-workflow, `legs/flight` in a parallel, `each/3`
for the fourth item of a foreach. The call that undoes a node has the node's path and `~undo`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from antiphon_shared.events.session import RunStatus
from antiphon_shared.text.excerpt import cut
from antiphon_shared.workflows.nodes import ReasonNode
from antiphon_shared.workflows.params import Fields

_MESSAGE_CHARACTERS_MAX = 2_000
OUTCOME_UNKNOWN = "outcome_unknown"
"""The kind of error of a call that may have taken effect."""
TRANSIENT = frozenset(("rate_limit", "api_failure", "timeout", "circuit_open"))
"""Transient kinds of error, after which a node with retries is retried."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a node has failed."""

    kind: str
    """An error type of a tool call, or one of the engine: reference_missing, no_branch_matched, ..."""
    message: str
    """The message, cut to a maximum, as events are bounded."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", cut(self.message, _MESSAGE_CHARACTERS_MAX))

    @property
    def is_unknown(self) -> bool:
        """Return whether the call may have taken effect."""
        return self.kind == OUTCOME_UNKNOWN


@dataclass(frozen=True, slots=True)
class Started:
    """The beginning of the run."""

    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The result of a call, of a model's session, or of a wait for a person."""

    path: str
    attempt: int
    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """The failure of a call or of a model's session, or the timeout of a wait for a person."""

    path: str
    attempt: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class TimerFired:
    """A timer that has elapsed."""

    path: str
    attempt: int


@dataclass(frozen=True, slots=True)
class StopRequested:
    """A request to end the run: it was cancelled, its time is over, or one of its steps failed."""

    status: Literal["cancelled", "timed_out", "failed"]
    message: str


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """A request to end the run at once without undoing, because it cannot be stopped properly."""

    message: str


@dataclass(frozen=True, slots=True)
class OutcomeFound:
    """A person's finding whether a write of unknown outcome took effect; only for a run that has ended."""

    path: str
    happened: bool
    value: Any = None


@dataclass(frozen=True, slots=True)
class Resumed:
    """A request to resume a run that has ended; see resuming.py."""


GraphEvent = Started | Succeeded | Failed | TimerFired | StopRequested | BrokenOff | OutcomeFound | Resumed


@dataclass(frozen=True, slots=True)
class CallTool:
    """A command to make a tool call. Its idempotency key is made of the run, the path and `key`."""

    path: str
    attempt: int
    key: int
    """The `key` of the previous attempt, when a repetition must not take effect twice."""
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reason:
    """A command to let a model answer a question, in a session inside the run."""

    path: str
    attempt: int
    question: str
    instructions: str
    node: ReasonNode


@dataclass(frozen=True, slots=True)
class AskPerson:
    """A command to wait for a person's values."""

    path: str
    attempt: int
    message: str
    expects: Fields
    timeout_s: float


@dataclass(frozen=True, slots=True)
class SetTimer:
    """A command to report a TimerFired in `seconds`, or at the time `until` (ISO 8601)."""

    path: str
    attempt: int
    seconds: float = 0.0
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Withdraw:
    """A command to cancel a timer or a wait for a person, as its node has been stopped."""

    path: str


@dataclass(frozen=True, slots=True)
class EndReasoning:
    """A command to end a model's session now; its end is still reported."""

    path: str


@dataclass(frozen=True, slots=True)
class KeepValue:
    """A command to keep a value for references: a node's result, the items of a foreach, the params of a scope."""

    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class End:
    """A command to end the run."""

    status: RunStatus
    output: Any = None
    failure: Failure | None = None
    standing: tuple[str, ...] = ()
    """Paths of writes that took effect and were not undone, in the order of their completion."""
    unknown: tuple[str, ...] = ()
    """Paths of writes whose effect is unknown."""
    undone: tuple[str, ...] = ()


Command = CallTool | Reason | EndReasoning | AskPerson | SetTimer | Withdraw | KeepValue | End
