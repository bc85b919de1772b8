"""Any batch, any contracts, any outcomes, ended in any order and taken over after any crash."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from antiphon_shared.events import ToolsRequested
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.contract import BatchVariant, Contract, Dependency
from antiphon_shared.tools.placeholders import Reference, find
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tool_dispatcher.batch.builders import a_call, a_failure, a_request, result_of
from tool_dispatcher.batch import BatchState, Bounds, Plan, Progress, Step, Unit, advance, plan_batch, start
from tool_dispatcher.batch.dependencies import missing_fields

TOOLS = "abcd"
CRASHES_MAX = 3


@st.composite
def contracts(draw: st.DrawFn) -> dict[str, Contract]:
    """Draw tools that depend only on those before them, each with a batch variant that may be one of its own kind."""
    made = {}
    for place, name in enumerate(TOOLS):
        needed = draw(st.lists(st.sampled_from(TOOLS[:place]), max_size=2, unique=True)) if place else []
        fields = draw(st.sampled_from([(), ("id",)]))
        bounded = draw(st.booleans())
        effect = draw(st.sampled_from(["read", "write"]))
        common: dict[str, Any] = {
            "effect": effect,
            "mode": draw(st.sampled_from(["parallel-safe", "sequential-only"])),
            "error_propagation": draw(st.sampled_from(["partial-success", "fail-fast"])),
            "max_concurrency": draw(st.integers(1, 3)) if bounded else None,
        }
        has_batch = draw(st.booleans())
        made[name] = Contract(
            **common,
            depends_on=tuple(Dependency(tool=other, required_fields=fields) for other in needed),
            batch=BatchVariant(tool=f"many_{name}", argument="items", items_max=draw(st.integers(2, 4)))
            if has_batch
            else None,
        )
        made[f"many_{name}"] = Contract(
            effect=effect, max_concurrency=draw(st.sampled_from([None, 1, 2])), mode=common["mode"]
        )
    return made


@st.composite
def requests(draw: st.DrawFn) -> ToolsRequested:
    count = draw(st.integers(1, 12))
    names = st.sampled_from([*TOOLS, *TOOLS[:2] * 3, "many_a", "ghost"])
    calls = []
    for _ in range(count):
        named = draw(st.lists(st.integers(0, count), max_size=2)) if draw(st.integers(0, 3)) == 0 else []
        fields: dict[str, Any] = {}
        if draw(st.integers(0, 15)) == 0:
            fields["refused"] = "the limit is reached"
        if draw(st.integers(0, 15)) == 0:
            fields["problem"] = "It was cut off."
        if draw(st.integers(0, 20)) == 0:
            fields |= {"id": "twin", "idempotency_key": "twin"}
        arguments = {str(n): f"${{calls[{place}]}}" for n, place in enumerate(named)}
        calls.append(a_call(draw(names), arguments=arguments, **fields))
    succeeded = draw(st.lists(st.sampled_from(TOOLS), max_size=2))
    allowed = (*TOOLS, *(f"many_{name}" for name in TOOLS))
    return a_request(*calls, allowed=allowed, succeeded=tuple(succeeded))


outcomes = st.sampled_from(
    [
        {"id": 1},
        {"id": 1},
        {"id": 1},
        {"id": 1},
        [{"id": 2}],
        {},
        a_failure(),
        a_failure(error_type="cancelled"),
    ]
)


@dataclass
class World:
    """One batch, the tools it calls, its journal, and a watch over every rule."""

    request: ToolsRequested
    contracts: Mapping[str, Contract]
    bounds: Bounds
    refused: Mapping[int, ToolError]
    outcomes: list[Any]
    journal: dict[int, ToolResult] = field(default_factory=dict)
    key_of: dict[int, str] = field(default_factory=dict)
    begun: Counter[int] = field(default_factory=Counter)
    sequence: list[Unit] = field(default_factory=list)

    def live(self, random: Random) -> tuple[ToolResult, ...]:
        """Run the batch to its end, through crashes at any instant."""
        for _ in range(CRASHES_MAX):
            results = self.deliver(random, may_crash=True)
            if results is not None:
                return results
        results = self.deliver(random, may_crash=False)
        assert results is not None
        return results

    def deliver(self, random: Random, may_crash: bool) -> tuple[ToolResult, ...] | None:
        """Run one delivery; return None when the process dies."""
        crash_after = random.randrange(12) if may_crash else -1
        plan = plan_batch(
            self.request, self.contracts, self.bounds, BatchState(dict(self.journal), self.refused)
        )
        self.sequence = []
        running: list[Unit] = []
        answered: set[int] = set(self.journal)
        step = start(plan)
        while True:
            self.watch(plan, step, running)
            for result in step.answered:
                assert result.index not in answered, "answered once"
                answered.add(result.index)
                if crash_after == 0 and random.random() < 0.3:
                    return None
                self.settle(result)
            if step.progress.is_done:
                assert running == []
                return step.progress.results()
            assert running, "while calls have no result, something runs"
            ended = []
            for unit in random.sample(running, random.randint(1, len(running))):
                running.remove(unit)
                results = [result_of(i, self.request.calls[i], self.outcomes[i]) for i in unit.calls]
                for result in random.sample(results, len(results)):
                    if crash_after == 0 and random.random() < 0.5:
                        return None
                    self.settle(result)
                if crash_after == 0:
                    return None
                crash_after -= 1
                answered.update(unit.calls)
                ended.append((unit, results))
            step = advance(step.progress, *ended)

    def settle(self, result: ToolResult) -> None:
        """Settle a call; the first settlement counts."""
        self.journal.setdefault(result.index, result)

    def watch(self, plan: Plan, step: Step, running: list[Unit]) -> None:
        for unit in step.begin:
            running.append(unit)
            self.check_needs(step.progress, unit)
            self.check_identity(unit)
            self.check_not_stopped(step.progress, unit)
            if self.is_sequential(unit):
                self.check_lane(unit, running)
        self.check_bounds(running)

    def check_needs(self, progress: Progress, unit: Unit) -> None:
        for index in unit.calls:
            for place in self.places_named(index):
                result = progress.outcomes[place]
                assert result is not None
                assert result.status == "ok"
            for dependency in self.contracts[self.request.calls[index].name].depends_on:
                own = [place for place, call in enumerate(self.request.calls) if call.name == dependency.tool]
                given = [progress.outcomes[place] for place in own]
                if own:
                    assert None not in given
                    assert any(
                        result is not None
                        and result.status == "ok"
                        and not missing_fields(result, dependency.required_fields)
                        for result in given
                    )
                else:
                    assert dependency.tool in self.request.succeeded

    def check_identity(self, unit: Unit) -> None:
        assert any(index not in self.journal for index in unit.calls), "settled calls do not run again"
        for index in unit.calls:
            self.begun[index] += 1
            assert self.key_of.setdefault(index, unit.key) == unit.key, "a call never changes its key"
            call = self.request.calls[index]
            assert index not in self.refused
            assert call.refused is None
            assert call.problem is None
        if unit.variant is None:
            (index,) = unit.calls
            assert unit.tool == self.request.calls[index].name
            return
        (name,) = {self.request.calls[index].name for index in unit.calls}
        assert unit.variant == self.contracts[name].batch
        assert len(unit.calls) <= unit.variant.items_max
        assert not any(self.places_named(index) for index in unit.calls)

    def check_not_stopped(self, progress: Progress, unit: Unit) -> None:
        for index, result in enumerate(progress.outcomes):
            if result is None or result.error is None or result.error.error_type == "cancelled":
                continue
            assert not (self.is_fail_fast(index) and any(map(self.is_fail_fast, unit.calls)))

    def check_lane(self, unit: Unit, running: list[Unit]) -> None:
        assert sum(map(self.is_sequential, running)) == 1, "one at a time"
        for earlier in self.sequence:
            if earlier.calls[0] > unit.calls[0]:
                assert any(
                    self.needs(index, earlier.calls)
                    for index, call in enumerate(self.request.calls)
                    if index <= unit.calls[0]
                    and self.contracts.get(call.name, Contract(effect="read")).mode == "sequential-only"
                ), "out of order only for one that needs it"
        self.sequence.append(unit)

    def check_bounds(self, running: list[Unit]) -> None:
        assert len(running) <= self.bounds.batch_concurrency
        counted: Counter[str] = Counter()
        for unit in running:
            counted.update({unit.tool, self.request.calls[unit.calls[0]].name})
        for name, count in counted.items():
            most = self.contracts[name].max_concurrency
            assert most is None or count <= most

    def check_end(self, results: tuple[ToolResult, ...]) -> None:
        assert [result.index for result in results] == list(range(len(self.request.calls)))
        twins = set()
        for result, call in zip(results, self.request.calls, strict=True):
            assert (result.call_id, result.tool) == (call.id, call.name)
            is_twin = call.id in twins
            twins.add(call.id)
            if not is_twin:
                assert result == self.journal[result.index], "the reported outcome is the settled one"
            if result.status == "ok":
                assert self.begun[result.index] >= 1
                assert result.data == self.outcomes[result.index]
            elif self.is_harmless(result.index, call) and not is_twin:
                assert self.begun[result.index] >= 1, "one bad call never harms its neighbours"

    def is_harmless(self, index: int, call: RequestedCall) -> bool:
        contract = self.contracts.get(call.name)
        return not (
            contract is None
            or index in self.refused
            or call.refused
            or call.problem
            or call.arguments
            or contract.depends_on
            or contract.error_propagation == "fail-fast"
        )

    def is_fail_fast(self, index: int) -> bool:
        contract = self.contracts.get(self.request.calls[index].name)
        return contract is not None and contract.error_propagation == "fail-fast"

    def is_sequential(self, unit: Unit) -> bool:
        names = (unit.tool, self.request.calls[unit.calls[0]].name)
        return any(self.contracts[name].mode == "sequential-only" for name in names)

    def places_named(self, index: int) -> set[int]:
        found = find(self.request.calls[index].arguments)
        return {one.call for _, one in found if isinstance(one, Reference)}

    def needs(self, index: int, others: tuple[int, ...]) -> bool:
        """Return whether one call waits for one of others, directly or through any number of others."""
        waiting, seen = [index], {index}
        while waiting:
            call = self.request.calls[waiting.pop()]
            contract = self.contracts.get(call.name)
            tools = {dependency.tool for dependency in contract.depends_on} if contract else set()
            found = {one.call for _, one in find(call.arguments) if isinstance(one, Reference)}
            found |= {place for place, one in enumerate(self.request.calls) if one.name in tools}
            if not found.isdisjoint(others):
                return True
            new = {place for place in found if place < len(self.request.calls)} - seen
            waiting += new
            seen |= new
        return False


@settings(max_examples=150, deadline=None)
@given(
    requests(),
    contracts(),
    st.builds(Bounds, st.integers(1, 5), st.integers(0, 4)),
    st.lists(outcomes, min_size=12, max_size=12),
    st.sets(st.integers(0, 40), max_size=3),
    st.randoms(use_true_random=False),
)
def test_every_rule_holds_at_every_instant(
    request: ToolsRequested,
    contracts: dict[str, Contract],
    bounds: Bounds,
    outcomes: list[Any],
    refused: set[int],
    random: Random,
) -> None:
    refusals = {index: a_failure("not valid") for index in refused if index < len(request.calls)}
    world = World(request, contracts, bounds, refusals, outcomes)
    world.check_end(world.live(random))


@settings(max_examples=60, deadline=None)
@given(requests(), contracts(), st.sets(st.integers(0, 11)))
def test_a_plan_has_the_same_units_regardless_of_settled_calls(
    request: ToolsRequested, contracts: dict[str, Contract], settled: set[int]
) -> None:
    known = {
        index: result_of(index, request.calls[index], {"id": 1})
        for index in settled
        if index < len(request.calls)
    }
    bounds = Bounds(2)
    assert (
        plan_batch(request, contracts, bounds).units
        == plan_batch(request, contracts, bounds, BatchState(known)).units
    )
