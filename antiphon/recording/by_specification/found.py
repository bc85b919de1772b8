"""What holding a recorded run against another specification has found: values. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "gone",
    "cannot_begin",
    "branch",
    "tool",
    "arguments",
    "approval",
    "question",
    "wait",
    "begins",
    "begins_earlier",
    "not_begun",
    "begins_later",
    "settles",
    "limit",
    "end",
    "output",
]
Result = Literal["same", "differs", "unchecked", "other"]
"""`other`: the recording is of no run of these workflows, so that the specification has nothing to do with it."""


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first node that would go another way."""

    kind: Kind
    node: str
    """Its path; empty where it is about the run as a whole."""
    event: int
    """Number of the recorded event that is decided on otherwise."""
    type: str
    """Its type."""
    sentence: str
    """What would be otherwise, without values, so that many runs share it."""
    did: Any = None
    """What the run did there; None: nothing."""
    would: Any = None
    """What it would do; None: nothing."""
    more: int = 0
    """Further nodes that this decision would treat otherwise."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Where the run would go after its first difference, as far as the recorded results lead."""

    status: str = ""
    """How it would end; empty where that cannot be told."""
    is_same_end: bool = False
    """Whether it would end with the recorded status and output."""
    missing: Sequence[str] = ()
    """What nothing is recorded of, so that it cannot be told how the run goes on: calls, and waits for people."""


@dataclass(frozen=True, slots=True)
class Found:
    """One recording."""

    result: Result
    session_id: str
    workflow: str = ""
    events: int = 0
    decisions: int = 0
    """How many decisions were made by the other specification and are the same."""
    first: FirstDifference | None = None
    rest: Rest | None = None
    why: str = ""
    """Why it is unchecked, or not concerned."""
