"""The result of a verification, for programs and for the reports in `reports/`. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from antiphon_shared.events import Component

Answer = Literal["same", "different", "unknown", "unasked", "none"]
"""The comparison of the answer that today's code composes with the recorded one.

`unasked`: the assembler's steps are not repeated in this verification. `unknown`: the coordinator would have sent
other events before, or the step that sent the answer cannot be repeated. `none`: there was no answer.
"""
Result = Literal["same", "unchecked", "diverged"]
"""The verdict. `unchecked`: no step has diverged, but some could not be checked."""
DIVERGENCES_MAX = 1_000
STILL_OPEN = "the session continued when it was recorded"
"""The reason why an event without a decision or a record counts as unchecked."""

REDACTED_CHANGE = "the change of a decision has redacted values, so its digest cannot be compared"
"""The reason why a decision on a run counts as unchecked, although all its outputs are the same."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """A value that today's code decides differently than recorded."""

    event: int
    """The number of the event that was decided on."""
    type: str
    """The type of that event."""
    component: Component
    output: str
    """The output that differs: the type of an event, or `state`, `timers`, `sends`, `effects`, `request`, `error`,
    `units` or `begins`; `outputs` is the whole step, if today's code raises.
    """
    path: str
    """The JSON path in the output; empty for the whole output."""
    expected: Any
    """The recorded value."""
    got: Any
    """Today's value."""
    node: str = ""
    """The path of the node of a run; empty if no node is concerned."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why steps of a component could not be checked, or calls were not run."""

    component: str
    why: str

    def __str__(self) -> str:
        return f"{self.component}: {self.why}"


@dataclass(frozen=True)
class Report:
    """The verification of one recording with today's code."""

    session_id: str
    events: int
    steps: Mapping[str, int]
    """The number of checked steps, by component, and under `tools` the number of repeated calls."""
    divergences: tuple[Divergence, ...] = ()
    """The first DIVERGENCES_MAX divergences, in the order of the recording."""
    divergences_in_all: int = 0
    answer: Answer = "none"
    unchecked: Mapping[Reason, int] = field(default_factory=dict)
    """The number of steps that could not be checked."""
    not_run: Mapping[Reason, int] = field(default_factory=dict)
    """The number of calls that today's tools do not repeat, such as writes; see `tool_results`."""

    @property
    def result(self) -> Result:
        """Return the verdict; a divergence outweighs unchecked steps."""
        if self.divergences_in_all:
            return "diverged"
        return "unchecked" if self.unchecked else "same"

    @property
    def is_same(self) -> bool:
        """Return whether every step was checked and none has diverged."""
        return self.result == "same"

    def passes(self, allow_unchecked: str = "") -> bool:
        """Return whether no step has diverged or is unchecked; a reason in `allow_unchecked` allows unchecked steps."""
        return self.is_same or (self.result == "unchecked" and bool(allow_unchecked.strip()))

    @property
    def unchecked_steps(self) -> dict[str, int]:
        """Return the numbers of unchecked steps, by component."""
        return by_component(self.unchecked)

    @property
    def incomparable(self) -> dict[Reason, int]:
        """Return the unchecked steps, without events that the session had not handled yet."""
        return {reason: count for reason, count in self.unchecked.items() if reason.why != STILL_OPEN}

    @property
    def first(self) -> Divergence | None:
        return self.divergences[0] if self.divergences else None


def by_component(unchecked: Mapping[Reason, int]) -> dict[str, int]:
    """Return the number of unchecked steps of each component."""
    counts: Counter[str] = Counter()
    for reason, count in unchecked.items():
        counts[reason.component] += count
    return dict(counts)


def by_text(counts: Mapping[Reason, int]) -> dict[str, int]:
    """Return the counts by the text of their reason, such as `coordinator: no record was made of it`."""
    return {str(reason): count for reason, count in counts.items()}
