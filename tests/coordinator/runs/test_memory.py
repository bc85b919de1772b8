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
    """Return the change that came of the n-th event."""
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


async def test_what_was_not_committed_is_reverted_and_only_what_is_new_is_read() -> None:
    run = a_run(6)
    store = stored(0, 1, 2, 7, 8)
    assert await run.catch_up(UUID(int=3), store)
    assert nodes(run) == ["n0", "n1", "n2", "n7", "n8"]
    assert (run.newest, run.state.values["newest"], run.length) == (UUID(int=8), 8, 5)
    assert store.read == 3  # the one that it went on from, and two


async def test_after_a_conflict_those_decided_on_what_was_not_stored_are_decided_on_anew() -> None:
    run = a_run(6)
    assert await run.catch_up(UUID(int=3), stored(0, 1, 2, 7))
    assert list(run.decided) == [UUID(int=n) for n in range(3)]


async def test_what_was_decided_for_nothing_behind_what_is_stored_catches_up() -> None:
    run = a_run(3)
    run.note_decision(NEVER)
    assert await run.catch_up(NEVER, stored(0, 1, 2, 7))
    assert nodes(run) == ["n0", "n1", "n2", "n7"]


async def test_once_others_decide_too_it_looks_before_it_decides() -> None:
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


async def test_a_run_whose_past_is_another_has_to_be_read_anew() -> None:
    assert not await a_run(3).catch_up(UUID(int=2), stored(0, 7, 8))
    assert not await a_run(3).catch_up(UUID(int=2), stored())
