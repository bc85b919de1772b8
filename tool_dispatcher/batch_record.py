"""The record of a batch for replay: the input of its plan, the plan, and the order of execution. Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.tools.calls import ToolError, ToolResult

from tool_dispatcher.batch import Plan, Unit


@dataclass(frozen=True, slots=True)
class Known:
    """The state of a batch's calls before any of them runs: the input of `plan_batch`."""

    settled: Mapping[int, ToolResult]
    refused: Mapping[int, ToolError]
    begun: Collection[int]
    barred: Collection[str]
    repeats: Collection[int] = ()


@dataclass(slots=True)
class Trace:
    """The order in which the units of a batch, given by number, began and ended."""

    begins: list[tuple[int, ...]] = field(default_factory=list)
    ends: list[tuple[int, ...]] = field(default_factory=list)

    def began(self, units: Sequence[Unit]) -> None:
        self.begins.append(tuple(unit.number for unit in units))

    def ended(self, units: Sequence[tuple[Unit, Sequence[ToolResult]]]) -> None:
        self.ends.append(tuple(unit.number for unit, _ in units))


def batch_record(
    of: UUID,
    plan: Plan,
    known: Known,
    course: Trace,
    results: Sequence[ToolResult],
    filled: Mapping[int, str],
) -> BatchRecord:
    """Return the record of a batch that has run to its end."""
    return BatchRecord.trusted(
        of=of,
        outputs=0,
        kind="batch",
        batch_concurrency=plan.bounds.batch_concurrency,
        collapse_above=plan.bounds.collapse_above,
        settled=dict(known.settled),
        begun=tuple(sorted(known.begun)),
        repeats=tuple(sorted(known.repeats)),
        refused=dict(known.refused),
        barred=tuple(sorted(known.barred)),
        examples={
            result.tool: result.error.example_valid_call
            for result in results
            if result.error is not None and result.error.example_valid_call is not None
        },
        filled=dict(sorted(filled.items())),
        units=tuple((unit.tool, unit.calls) for unit in plan.units),
        begins=tuple(course.begins),
        ends=tuple(course.ends),
    )
