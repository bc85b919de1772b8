"""The journal as the dispatcher keeps it."""

from redis.exceptions import ConnectionError as ConnectionLost

from shared.journal import begun_entry, journal_name
from shared.tools import ToolResult
from tests.fakes import FakeSession
from tool_dispatcher.journal import Journal

RESULT = ToolResult(index=0, call_id="c", tool="t", status="ok", data=1)


class _LossySession(FakeSession):
    """Makes every first note, and loses the reply."""

    async def note(self, journal: str, entry: str, content: bytes) -> bool:
        entries = self.journals.setdefault(journal, {})
        if entry in entries:
            return False
        entries[entry] = content
        raise ConnectionLost("the connection was lost")


async def test_a_write_begins_once() -> None:
    session = FakeSession()
    assert await Journal(session, 1).begin("k") is True
    assert await Journal(session, 1).begin("k") is False
    assert await Journal(session, 2).begin("k") is True


async def test_whoever_settles_first_is_right() -> None:
    session = FakeSession()
    later = RESULT.model_copy(update={"data": 2})
    assert await Journal(session, 1).settle("k", RESULT) == RESULT
    assert await Journal(session, 1).settle("k", later) == RESULT


async def test_a_lost_reply_is_no_reason_not_to_begin() -> None:
    session = _LossySession()
    assert await Journal(session, 1).begin("k") is True
    assert await Journal(session, 1).begin("k") is False
    assert begun_entry("k") in session.journals[journal_name(1)]


async def test_a_lost_reply_does_not_lose_an_outcome() -> None:
    assert await Journal(_LossySession(), 1).settle("k", RESULT) == RESULT
