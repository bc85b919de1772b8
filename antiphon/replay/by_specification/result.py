"""The result of comparing a recorded run with another specification: values. Pure."""

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
"""`other`: the recording is of another session or workflow, to which the specification does not apply."""


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first node that would take another course."""

    kind: Kind
    node: str
    """The node's path; empty for a difference of the whole run."""
    event: int
    """The number of the recorded event with another decision."""
    type: str
    """The type of the event."""
    sentence: str
    """The difference without values, so that many runs share it."""
    did: Any = None
    """The recorded act; None without an act on that side."""
    would: Any = None
    """The rehearsed act; None without an act on that side."""
    more: int = 0
    """The number of further nodes that this decision would treat differently."""


@dataclass(frozen=True, slots=True)
class Rest:
    """The course of the run after its first difference, as far as recorded results lead."""

    status: str = ""
    """The status at the end; empty if it is unknown."""
    is_same_end: bool = False
    """Whether it would end with the recorded status and output."""
    missing: Sequence[str] = ()
    """The calls and people's answers without a recorded result, which leave the end unknown."""


@dataclass(frozen=True, slots=True)
class SpecificationResult:
    """The result for one recording."""

    result: Result
    session_id: str
    workflow: str = ""
    events: int = 0
    decisions: int = 0
    """The number of decisions that the other specification makes identically."""
    first: FirstDifference | None = None
    rest: Rest | None = None
    why: str = ""
    """The reason why it is unchecked, or why the specification does not apply."""
