"""A client never hands out the answer of another query, tenant or subject under an id that was used before."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from antiphon_shared.events import encode
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import new_id

from antiphon import Antiphon, SessionConflict, tool
from antiphon.submission import submission
from tests.antiphon.conftest import QUESTION
from tests.grants import a_grant

ALICE, BOB = (a_grant(["read"], tenant=name) for name in ("alice", "bob"))


@tool(effect="read")
def find_recipe(query: str) -> list[dict[str, str]]:
    """Find recipes by what is in them."""
    return [{"title": "Lentil soup", "text": "Lentils, carrots and cumin, cooked for 40 minutes."}]


@pytest.fixture
async def client() -> AsyncIterator[Antiphon]:
    async with Antiphon.embedded([find_recipe], model="offline") as client:
        await client.ask(QUESTION, session_id="s1", grant=ALICE)
        yield client


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("What does Bob want?", {"grant": BOB}),
        (QUESTION, {"grant": BOB}),
        (QUESTION, {}),
        (QUESTION, {"grant": ALICE, "max_rounds": 3}),
        ("What does Alice want?", {"grant": ALICE}),
    ],
)
async def test_a_submission_that_differs_under_the_same_id_is_refused_before_anything_is_sent(
    client: Antiphon, query: str, given: dict[str, Any]
) -> None:
    for verb in (client.ask, client.submit):
        with pytest.raises(SessionConflict, match="session s1 already exists, with another"):
            await verb(query, session_id="s1", **given)
    bus = client.open_bus()
    assert await bus.batcher.submit("XLEN", bus.keys.rejected()) == 0
    assert await bus.batcher.submit("XLEN", bus.keys.queries()) == 0


async def test_the_same_query_gets_the_same_answer(client: Antiphon) -> None:
    first = await client.result("s1")
    assert await client.ask(QUESTION, session_id="s1", grant=ALICE) == first


async def test_the_later_of_two_concurrent_submissions_does_not_get_the_answer_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both submissions are sent before either session exists; the queue decides which of them is first."""
    async with Antiphon.embedded([find_recipe], model="offline") as client:
        other = Antiphon()
        other._bus = client.open_bus()
        bus = client.open_bus()
        event = submission(
            "What does Alice want?",
            {},
            "s1",
            traceparent=None,
            event_id=new_id(),
            now=utc_now(),
            bytes_max=10_000,
            grant="",
        )
        submitting = bus.batcher.submit("XADD", bus.keys.queries(), "*", "event", encode(event))
        monkeypatch.setattr(
            "antiphon.client.refuse_other", _sees_nothing
        )  # as before the other's session was there
        await submitting
        id = await other.submit("What does Bob want?", session_id="s1")
        monkeypatch.undo()
        with pytest.raises(SessionConflict):
            await other.result(id)
        with pytest.raises(SessionConflict):
            await other.result(id)
        assert (await client.result("s1")).session_id == "s1", "any client that knows the id may wait for it"
        codes = [
            fields[b"code"] for _, fields in await bus.batcher.submit("XRANGE", bus.keys.rejected(), "-", "+")
        ]
        assert codes == [b"session_conflict"]
        other._bus = None


async def _sees_nothing(*_: object) -> None:
    return None


async def test_invalid_entries_in_a_log_do_not_end_its_readers() -> None:
    async with Antiphon.embedded([find_recipe], model="offline") as client:
        id = await client.submit(QUESTION)
        bus, received = client.open_bus(), 0
        async for _ in client.stream(id):
            received += 1
            if received == 1:
                await bus.batcher.submit("XADD", bus.keys.log(id), "*", "junk", "junk", "signature", "x")
        assert received > 3
        assert (await client.result(id)).status == "complete"


async def test_a_submission_under_an_id_taken_by_foreign_data_is_refused() -> None:
    async with Antiphon.embedded([find_recipe], model="offline") as client:
        bus = client.open_bus()
        await bus.batcher.submit("XADD", bus.keys.log("s1"), "*", "event", "junk")
        with pytest.raises(SessionConflict, match="is unreadable"):
            await client.ask(QUESTION, session_id="s1")
