"""Batches without anything that runs them: requests, contracts, and a `PlanRun` that plays the tools."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from antiphon_shared.events import ToolsRequested
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.contract import BatchVariant, Contract, Dependency

from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.batch import BatchState, Bounds, Plan, Step, Unit, advance, failed, plan_batch, start

DEADLINE = datetime(2099, 1, 1, tzinfo=UTC)
READ = Contract(effect="read")
WRITE = Contract(effect="write", mode="sequential-only", error_propagation="fail-fast")
SEARCH_FIRST = Contract(
    effect="read", mode="dependent", depends_on=(Dependency(tool="search", required_fields=("id",)),)
)
MANY = BatchVariant(tool="many", argument="items", items_max=10)
ROOMY = Bounds(batch_concurrency=100)


def a_call(name: str = "look", **fields: Any) -> RequestedCall:
    """Return a call that gets its id and key by its index in a request."""
    return RequestedCall(**{"id": "?", "idempotency_key": "?", "name": name, **fields})


def a_request(*calls: RequestedCall, **fields: Any) -> ToolsRequested:
    """Return a request whose calls get the ids c0, c1 and so on, unless they have their own."""
    numbered = tuple(
        call.model_copy(update={"id": f"c{index}", "idempotency_key": f"k{index}"})
        if call.id == "?"
        else call
        for index, call in enumerate(calls)
    )
    return ToolsRequested(**{"round": 1, "calls": numbered, "deadline": DEADLINE, **fields})


def a_plan(
    *calls: RequestedCall,
    contracts: Mapping[str, Contract] | None = None,
    bounds: Bounds = ROOMY,
    succeeded: tuple[str, ...] = (),
    example_of: Callable[[str], Any] = lambda _: None,
    **state: Any,
) -> Plan:
    """Return a plan in which every tool with a contract is allowed; tools are reads by default."""
    given = dict.fromkeys((call.name for call in calls), READ) if contracts is None else contracts
    request = a_request(*calls, allowed=tuple(given), succeeded=succeeded)
    return plan_batch(request, given, bounds, BatchState(**state), example_of)


def a_failure(message: str = "the service is down", **fields: Any) -> ToolError:
    return tool_error(fields.pop("error_type", "api_failure"), message, "Try later.", **fields)


def ok(index: int, data: Any = None, name: str = "look", **fields: Any) -> ToolResult:
    return ToolResult(index=index, call_id=f"c{index}", tool=name, status="ok", data=data, **fields)


def error_in(result: ToolResult | None) -> ToolError:
    assert result is not None
    assert result.status == "error"
    assert result.data is None
    assert result.error is not None
    return result.error


def result_of(index: int, call: RequestedCall, outcome: Any | ToolError, duration_ms: int = 0) -> ToolResult:
    """Return the result of a call: `outcome` is JSON, or why it failed."""
    if isinstance(outcome, ToolError):
        return failed(index, call, outcome, duration_ms)
    return ToolResult(
        index=index, call_id=call.id, tool=call.name, status="ok", data=outcome, duration_ms=duration_ms
    )


Outcomes = Mapping[int, Any]
"""The outcomes of the tools by call; `{"id": 1}` by default."""


@dataclass
class PlanRun:
    """Runs a plan: units end in the order in which they began, unless a test chooses another."""

    plan: Plan
    outcomes: Outcomes = field(default_factory=dict)
    begun: list[Unit] = field(default_factory=list)
    running: list[Unit] = field(default_factory=list)
    answered: list[ToolResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.progress = self._take(start(self.plan)).progress

    def end(self, call: int) -> None:
        """End the unit of that call."""
        (unit,) = (unit for unit in self.running if call in unit.calls)
        self.running.remove(unit)
        self.progress = self._take(advance(self.progress, (unit, self.results_of(unit)))).progress

    def end_all(self) -> tuple[ToolResult, ...]:
        while self.running:
            self.end(self.running[0].calls[0])
        return self.progress.results()

    def results_of(self, unit: Unit) -> list[ToolResult]:
        calls = self.plan.request.calls
        return [result_of(index, calls[index], self.outcomes.get(index, {"id": 1})) for index in unit.calls]

    @property
    def running_calls(self) -> list[tuple[int, ...]]:
        return [unit.calls for unit in self.running]

    @property
    def begun_calls(self) -> list[tuple[int, ...]]:
        return [unit.calls for unit in self.begun]

    def _take(self, step: Step) -> Step:
        self.begun += step.begin
        self.running += step.begin
        self.answered += step.answered
        return step
