"""The journal as the dispatcher keeps it: no noted outcome is lost, and the first one counts."""

import asyncio

from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.sessions import RedisSession
from antiphon_shared.formats import FORMAT
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.journal import begun_entry, journal_name, outcome_entry, write_outcome
from redis.exceptions import ConnectionError as ConnectionLost

from tests.tool_dispatcher.builders import a_bus, a_call, until
from tests.tool_dispatcher.idempotency.builders import BreakableWire, a_wire
from tool_dispatcher.journal import Journal, JournaledCalls

RESULT = ToolResult(index=0, call_id="c1", tool="look", status="ok", data=1)
LATER = RESULT.model_copy(update={"data": 2})


def a_session(bus: Bus, wire: BreakableWire | None = None) -> RedisSession:
    return RedisSession(bus.batcher if wire is None else Batcher(wire), bus.keys, "s1", 60)


class _LossySession(RedisSession):
    """Makes every first note, and loses the reply."""

    is_first = True

    async def note(self, journal: str, entry: str, content: bytes) -> bool:
        added = await super().note(journal, entry, content)
        if self.is_first:
            self.is_first = False
            raise ConnectionLost("the reply was lost")
        return added


async def test_the_first_settlement_counts(bus: Bus) -> None:
    assert await Journal(a_session(bus), 1).settle([RESULT]) == (RESULT,)
    assert await Journal(a_session(bus), 1).settle([LATER]) == (RESULT,)
    assert await Journal(a_session(bus), 2).settle([LATER]) == (LATER,), "another round has its own"


async def test_several_are_settled_each_by_itself(bus: Bus) -> None:
    journal = Journal(a_session(bus), 1)
    await journal.settle([RESULT])
    other = LATER.model_copy(update={"call_id": "c2", "index": 1})
    assert await journal.settle([LATER, other]) == (RESULT, other)
    assert await journal.settle([]) == ()


async def test_journal_entries_are_returned_by_index(bus: Bus) -> None:
    session = a_session(bus)
    await Journal(session, 1).settle([RESULT])
    await session.note(journal_name(1), begun_entry("c1"), b"somebody")
    await session.note(journal_name(1), begun_entry("c2"), b"somebody")
    noted = await Journal(session, 1).journaled_calls([a_call("c0"), a_call("c1"), a_call("c2")])
    assert noted == JournaledCalls({1: RESULT}, frozenset({2}))
    assert await Journal(session, 2).journaled_calls([a_call("c1")]) == JournaledCalls()


async def test_an_unreadable_entry_counts_as_missing(bus: Bus) -> None:
    session = a_session(bus)
    await session.note(journal_name(1), outcome_entry("c1"), b"{")
    assert await Journal(session, 1).journaled_calls([a_call("c1")]) == JournaledCalls()
    assert await Journal(session, 1).settle([RESULT]) == (RESULT,)


async def test_a_lost_reply_does_not_lose_an_outcome() -> None:
    async with a_bus() as bus:
        session = _LossySession(bus.batcher, bus.keys, "s1", 60)
        assert await Journal(session, 1).settle([RESULT]) == (RESULT,)
        assert await session.settled(journal_name(1)) == {outcome_entry("c1"): write_outcome(RESULT, FORMAT)}


async def test_the_journal_waits_for_redis() -> None:
    async with a_bus() as bus:
        wire = a_wire(bus)
        wire.is_away = True
        settling = asyncio.create_task(Journal(a_session(bus, wire), 1).settle([RESULT]))
        await until(lambda: wire.attempts > 2)
        assert not settling.done()
        wire.is_away = False
        assert await settling == (RESULT,)


async def test_a_whole_result_is_kept_under_its_handle(bus: Bus) -> None:
    journal = Journal(a_session(bus), 1)
    await journal.store_complete("r1c0", b'"whole"')
    assert await journal.load_complete("r1c0") == b'"whole"'
    assert await journal.load_complete("r1c1") is None
