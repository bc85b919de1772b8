"""What a verification has found: values, for programs and for the renderings in `reports.py`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from antiphon_shared.events import Component

Answer = Literal["same", "different", "unknown", "unasked", "none"]
"""Whether today's code composes the recorded answer from what was recorded.

`unasked`: the assembler's steps were not among those to do again; `unknown`: the coordinator would have sent
something else before, so that the session had gone another way; or the step that brought the answer could not be
done again. `none`: there was no answer.
"""
DIVERGENCES_KEPT_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Divergence:
    """One place where today's code decides otherwise than was recorded."""

    event: int
    """Number of the event that was decided on."""
    type: str
    """Its type."""
    component: Component
    output: str
    """What came of it: the type of an event, or `state`, `timers`, `effects`, `request`, `error`, `units`, `begins`;
    `outputs`: all of it, where today's code raises."""
    path: str
    """Where in it, as JSON path; empty: all of it."""
    expected: Any
    """As it was recorded."""
    got: Any
    """As it is today."""


@dataclass(frozen=True)
class Report:
    """One recording, held against today's code."""

    session_id: str
    events: int
    steps: Mapping[Component, int]
    """Steps that were done again, by component."""
    divergences: tuple[Divergence, ...] = ()
    """In the order of the recording; the first ones, where there are very many."""
    divergences_in_all: int = 0
    answer: Answer = "none"
    unchecked: Mapping[str, int] = field(default_factory=dict)
    """What could not be held against today's code, by reason."""

    @property
    def is_same(self) -> bool:
        """Whether nothing has diverged."""
        return not self.divergences_in_all

    @property
    def first(self) -> Divergence | None:
        return self.divergences[0] if self.divergences else None
