"""What can happen to a run, and the commands that a decision gives. Pure.

Nodes are named by their path: `book`, `outer/book` in a sub-workflow, `legs/flight` in a parallel, `each/3` for the
fourth item of a foreach. The call that undoes a node has the node's path and `~undo`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from antiphon_shared.events.session import RunStatus
from antiphon_shared.workflows.nodes import Fields, ReasonNode

_MESSAGE_CHARACTERS_MAX = 2_000
TRANSIENT = frozenset(("rate_limit", "api_failure", "timeout", "circuit_open"))
"""Kinds of error that may pass, so that a node with retries is tried again."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a node has failed."""

    kind: str
    """An error type of a tool call, or one of the engine: reference_missing, no_branch_matched, ..."""
    message: str
    """Cut where it is long: tools and references may put anything into it, and events are bounded."""

    def __post_init__(self) -> None:
        if len(self.message) > _MESSAGE_CHARACTERS_MAX:
            object.__setattr__(self, "message", f"{self.message[:_MESSAGE_CHARACTERS_MAX]}...")

    @property
    def is_unknown(self) -> bool:
        """Whether the call may have had its effect all the same."""
        return self.kind == "outcome_unknown"


@dataclass(frozen=True, slots=True)
class Started:
    """The run begins."""

    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Succeeded:
    """A call, a reasoning or a wait for a person has brought a result."""

    path: str
    attempt: int
    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """A call or a reasoning has failed, or a person has not answered in time."""

    path: str
    attempt: int
    failure: Failure


@dataclass(frozen=True, slots=True)
class TimerFired:
    """The time that a SetTimer asked for has come."""

    path: str
    attempt: int


@dataclass(frozen=True, slots=True)
class StopRequested:
    """The run is to end: somebody has cancelled it, its time is over, or a step of it cannot be taken."""

    status: Literal["cancelled", "timed_out", "failed"]
    message: str


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """The run cannot even be stopped as it should: it is to end at once, with nothing undone."""

    message: str


@dataclass(frozen=True, slots=True)
class OutcomeFound:
    """A person has found out whether a write of unknown outcome took effect. Only of a run that has ended."""

    path: str
    happened: bool
    value: Any = None


@dataclass(frozen=True, slots=True)
class Resumed:
    """A run that has ended is to go on; see resuming.py."""


Happening = Started | Succeeded | Failed | TimerFired | StopRequested | BrokenOff | OutcomeFound | Resumed


@dataclass(frozen=True, slots=True)
class CallTool:
    """Make a tool call. Its idempotency key is made of the run, the path and `key`."""

    path: str
    attempt: int
    key: int
    """The same as that of the attempt before, where a repetition must not take effect twice."""
    tool: str
    arguments: Mapping[str, Any]
    timeout_s: float | None = None
    is_retried_by_run: bool = False
    """Whether the node's own retries stand in place of those of the tool's contract."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Let a model answer a question, in a session inside the run."""

    path: str
    attempt: int
    question: str
    instructions: str
    node: ReasonNode


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Wait for a person's values."""

    path: str
    attempt: int
    message: str
    expects: Fields
    timeout_s: float


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Report a TimerFired in so many seconds, or at a time (ISO 8601)."""

    path: str
    attempt: int
    seconds: float = 0.0
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Forget a timer or a wait for a person: its node has been stopped."""

    path: str


@dataclass(frozen=True, slots=True)
class EndReasoning:
    """Let a model's session end now; how it has ended is still to be reported."""

    path: str


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep a value that references may read: the result of a node, the items of a foreach, the params of a scope."""

    key: str
    value: Any


@dataclass(frozen=True, slots=True)
class End:
    """The run is over."""

    status: RunStatus
    output: Any = None
    failure: Failure | None = None
    standing: tuple[str, ...] = ()
    """Paths of writes that took effect and were not undone, in the order in which they were done."""
    unknown: tuple[str, ...] = ()
    """Paths of writes of which nobody knows whether they took effect."""
    undone: tuple[str, ...] = field(default=())


Command = CallTool | Reason | EndReasoning | AskPerson | SetTimer | Withdraw | Keep | End
