"""What a verification has found: values, for programs and for the renderings in `reports.py`."""

from collections import Counter
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
Result = Literal["same", "unchecked", "diverged"]
"""`unchecked`: nothing has diverged, but some step could not be held against today's code. That is not the same."""
DIVERGENCES_KEPT_MAX = 1_000
STILL_OPEN = "the session went on when it was recorded"
"""Why an event that nothing was decided on counts as unchecked, where no step of it was recorded."""

REDACTED_CHANGE = "values were redacted that the digest of what a decision changed was made of"
"""Why a decision on a run counts as unchecked, although all that it sent is the same."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """One place where today's code decides otherwise than was recorded."""

    event: int
    """Number of the event that was decided on."""
    type: str
    """Its type."""
    component: Component
    output: str
    """What came of it: the type of an event, or `state`, `timers`, `sends`, `effects`, `request`, `error`, `units`,
    `begins`; `outputs`: all of it, where today's code raises."""
    path: str
    """Where in it, as JSON path; empty: all of it."""
    expected: Any
    """As it was recorded."""
    got: Any
    """As it is today."""
    node: str = ""
    """Of a run: the path of the node that it is about; empty where it is about none."""


@dataclass(frozen=True)
class Report:
    """One recording, held against today's code."""

    session_id: str
    events: int
    steps: Mapping[str, int]
    """Steps that were done again and compared whole, by component; with `tools`, the calls that were made again."""
    divergences: tuple[Divergence, ...] = ()
    """In the order of the recording; the first ones, where there are very many."""
    divergences_in_all: int = 0
    answer: Answer = "none"
    unchecked: Mapping[str, int] = field(default_factory=dict)
    """Steps that could not be held against today's code, by component and reason: `coordinator: no record ...`."""
    not_run: Mapping[str, int] = field(default_factory=dict)
    """Recorded calls that today's tools are never asked for, such as writes, by reason; see `tool_results`."""

    @property
    def result(self) -> Result:
        """The verdict. Where a divergence was found, that is said first."""
        if self.divergences_in_all:
            return "diverged"
        return "unchecked" if self.unchecked else "same"

    @property
    def is_same(self) -> bool:
        """Whether every step was held against today's code, and nothing has diverged."""
        return self.result == "same"

    def passes(self, allow_unchecked: str = "") -> bool:
        """Whether it is the same; or, given a reason why steps may go unchecked, whether nothing has diverged."""
        return self.is_same or (self.result == "unchecked" and bool(allow_unchecked.strip()))

    @property
    def unchecked_steps(self) -> dict[str, int]:
        """Steps that could not be held against today's code, by component."""
        return by_component(self.unchecked)

    @property
    def incomparable(self) -> dict[str, int]:
        """What is unchecked of steps that were recorded: an event that the session had not come to is no step."""
        return {reason: count for reason, count in self.unchecked.items() if not reason.endswith(STILL_OPEN)}

    @property
    def first(self) -> Divergence | None:
        return self.divergences[0] if self.divergences else None


def by_component(unchecked: Mapping[str, int]) -> dict[str, int]:
    """Return how many steps of each component were not checked, whatever the reason."""
    counts: Counter[str] = Counter()
    for reason, count in unchecked.items():
        counts[reason.partition(":")[0]] += count
    return dict(counts)
