"""A run in memory that is ahead of the stored state, or behind it, becomes the stored state."""

from datetime import UTC, datetime
from uuid import UUID

from antiphon_shared.bus.handling import RUN
from antiphon_shared.events import RunOpened
from antiphon_shared.workflows.graph import Graph

from coordinator.runs.memory import RunInMemory
from coordinator.runs.state import RUN_CHANGE, Beginning, RunChange
from coordinator.runs.step_builder import Pinned
from coordinator.workflows.plan import Plan
from coordinator.workflows.state import NodeState
from tests.fakes import FakeSession

NEVER = UUID(int=99)


class CountingSession(FakeSession):
    """Counts the items that are read."""

    read = 0

    async def items(self, name: str, start: int = 0) -> list[bytes]:
        found = await super().items(name, start)
        self.read += len(found)
        return found


def a_change(n: int) -> RunChange:
    """Return the change that the n-th event caused."""
    return RunChange(nodes={f"n{n}": NodeState("done")}, values={"newest": n}, number=n)


def a_run(length: int) -> RunInMemory:
    opened = RunOpened(workflow="w", specification="", catalogue="", tools={}, timeout_s=1, person_s=1)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    beginning = Beginning(opened=opened, at=at)
    run = RunInMemory(Pinned("s1", Plan(Graph({}, {})), beginning))
    for n in range(length):
        decided(run, n)
    return run


def decided(run: RunInMemory, n: int) -> None:
    run.note_decision(UUID(int=n))
    run.apply(UUID(int=n), a_change(n))


def stored(*events: int) -> CountingSession:
    items = [UUID(int=n).bytes + RUN_CHANGE.write(a_change(n), 1) for n in events]
    return CountingSession(lists={RUN: items})


def nodes(run: RunInMemory) -> list[str]:
    return list(run.state.run.nodes)


async def test_an_uncommitted_change_is_reverted_and_only_new_entries_are_read() -> None:
    run = a_run(6)
    store = stored(0, 1, 2, 7, 8)
    assert await run.catch_up(UUID(int=3), store)
    assert nodes(run) == ["n0", "n1", "n2", "n7", "n8"]
    assert (run.newest, run.state.values["newest"], run.length) == (UUID(int=8), 8, 5)
    assert store.read == 3  # the one that it went on from, and two


async def test_after_a_conflict_decisions_on_uncommitted_entries_are_dropped() -> None:
    run = a_run(6)
    assert await run.catch_up(UUID(int=3), stored(0, 1, 2, 7))
    assert list(run.decided) == [UUID(int=n) for n in range(3)]


async def test_a_run_with_an_uncommitted_decision_catches_up_with_the_stored_entries() -> None:
    run = a_run(3)
    run.note_decision(NEVER)
    assert await run.catch_up(NEVER, stored(0, 1, 2, 7))
    assert nodes(run) == ["n0", "n1", "n2", "n7"]


async def test_a_run_with_several_deciders_reads_new_entries_before_it_decides() -> None:
    run = a_run(3)
    store = stored(0, 1, 7)
    assert await run.catch_up(UUID(int=2), store)
    store.lists[RUN] += stored(8).lists[RUN]
    assert await run.catch_up(NEVER, store)
    assert nodes(run) == ["n0", "n1", "n7", "n8"]


async def test_alone_it_reads_nothing() -> None:
    run, store = a_run(3), stored()
    assert await run.catch_up(NEVER, store)
    assert store.read == 0


async def test_a_run_with_a_different_past_has_to_be_read_again() -> None:
    assert not await a_run(3).catch_up(UUID(int=2), stored(0, 7, 8))
    assert not await a_run(3).catch_up(UUID(int=2), stored())
