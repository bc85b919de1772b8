"""The result of a verification: values, for programs and for the renderings in `reports/`. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from antiphon_shared.events import Component

Answer = Literal["same", "different", "unknown", "unasked", "none"]
"""The comparison of the answer that today's code composes with the recorded one.

`unasked`: the assembler's steps were not to be repeated. `unknown`: the coordinator would have sent other
events before, so that the session takes another course; or the step that sent the answer could not be
repeated. `none`: there was no answer.
"""
Result = Literal["same", "unchecked", "diverged"]
"""`unchecked`: nothing has diverged, but some step could not be checked, which is weaker than `same`."""
DIVERGENCES_KEPT_MAX = 1_000
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
    """The differing output: the type of an event, or `state`, `timers`, `sends`, `effects`, `request`,
    `error`, `units`, `begins`; `outputs`: the whole step, where today's code raises.
    """
    path: str
    """The path in the output, as a JSON path; empty for all of it."""
    expected: Any
    """The recorded value."""
    got: Any
    """Today's value."""
    node: str = ""
    """The path of the node, in a run; empty for no node."""


@dataclass(frozen=True)
class Report:
    """The verification of one recording with today's code."""

    session_id: str
    events: int
    steps: Mapping[str, int]
    """The steps that were repeated and compared whole, by component; with `tools`, the repeated calls."""
    divergences: tuple[Divergence, ...] = ()
    """In the order of the recording; the first DIVERGENCES_KEPT_MAX of them."""
    divergences_in_all: int = 0
    answer: Answer = "none"
    unchecked: Mapping[str, int] = field(default_factory=dict)
    """The steps that could not be checked, by component and reason: `coordinator: no record ...`."""
    not_run: Mapping[str, int] = field(default_factory=dict)
    """The recorded calls that are never repeated with today's tools, such as writes, by reason; see `tool_results`.
    """

    @property
    def result(self) -> Result:
        """Return the verdict; a divergence counts before unchecked steps."""
        if self.divergences_in_all:
            return "diverged"
        return "unchecked" if self.unchecked else "same"

    @property
    def is_same(self) -> bool:
        """Return whether every step was checked, and nothing has diverged."""
        return self.result == "same"

    def passes(self, allow_unchecked: str = "") -> bool:
        """Return whether it is the same; or, with a reason to allow unchecked steps, whether nothing has diverged."""
        return self.is_same or (self.result == "unchecked" and bool(allow_unchecked.strip()))

    @property
    def unchecked_steps(self) -> dict[str, int]:
        """Return the numbers of unchecked steps, by component."""
        return by_component(self.unchecked)

    @property
    def incomparable(self) -> dict[str, int]:
        """Return the unchecked recorded steps; an event that the session had not handled does not count as a step."""
        return {reason: count for reason, count in self.unchecked.items() if not reason.endswith(STILL_OPEN)}

    @property
    def first(self) -> Divergence | None:
        return self.divergences[0] if self.divergences else None


def by_component(unchecked: Mapping[str, int]) -> dict[str, int]:
    """Return the number of unchecked steps of each component, for any reason."""
    counts: Counter[str] = Counter()
    for reason, count in unchecked.items():
        counts[reason.partition(":")[0]] += count
    return dict(counts)
