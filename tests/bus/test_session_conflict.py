"""A reused session id: the same content is the same session, and anything else is refused on admission."""

import json
from typing import Any

import pytest
from antiphon_shared.bus.handling import RESPONSE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.session_content import SessionConflict, SessionContent
from antiphon_shared.events import QuerySubmitted, encode
from antiphon_shared.events.session import QueryOptions

from tests.bus.builders import entries, length
from tests.bus.test_intake import opened, running_intake, submit, until_let_in
from tests.envelopes import an_event
from tests.grants import a_grant

ALICE = a_grant(["read"], tenant="acme", sub="alice")
RENEWED = a_grant(["read", "write"], tenant="acme", sub="alice", exp=3_999_999_999, jti="another")
BASE = {"query": "What do we earn?", "session_id": "s1", "options": '{"max_rounds": 2}', "grant": ALICE}

AS_DATA = QuerySubmitted(query=BASE["query"], options=QueryOptions(max_rounds=2), grant=RENEWED)

OTHERS: list[tuple[str, dict[str, str]]] = [
    ("query", {"query": "What do they earn?"}),
    ("options", {"options": '{"max_rounds": 3}'}),
    ("options", {"options": '{"max_rounds": 2, "tools": []}'}),
    ("options", {"options": ""}),
    ("tenant", {"grant": a_grant(["read"], tenant="globex", sub="alice")}),
    ("tenant", {"grant": a_grant(["read"], sub="alice")}),
    ("subject", {"grant": a_grant(["read"], tenant="acme", sub="bob")}),
    ("tenant and subject", {"grant": ""}),
    ("query and tenant", {"query": "And?", "grant": a_grant(["read"], tenant="globex", sub="alice")}),
]


async def rejections(bus: Bus) -> list[tuple[str, str]]:
    found = [fields for _, fields in await entries(bus, bus.keys.rejected())]
    return [(fields[b"code"].decode(), fields[b"reason"].decode()) for fields in found]


@pytest.mark.parametrize(("differing", "changed"), OTHERS)
async def test_a_different_query_under_the_same_id_is_rejected_and_the_first_continues(
    bus: Bus, differing: str, changed: dict[str, str]
) -> None:
    async with running_intake(bus):
        await submit(bus, BASE)
        await submit(bus, {**BASE, **changed})
        await until_let_in(bus)
    ((code, reason),) = await rejections(bus)
    assert code == "session_conflict"
    assert reason.startswith(f"session s1 already exists, with another {differing}.")
    ((_, first),) = await bus.session("s1").log()
    assert isinstance(first.data, QuerySubmitted)
    assert (first.data.query, first.data.grant) == (BASE["query"], ALICE)


@pytest.mark.parametrize(
    "again",
    [
        BASE,
        {**BASE, "grant": RENEWED},
        {**BASE, "options": '{ "max_rounds":2, "tools": null }'},
        {**BASE, "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"},
        {"event": encode(an_event(AS_DATA))},
    ],
    ids=["the very same", "grant renewed", "options spelt otherwise", "another trace", "as an event"],
)  # fmt: skip
async def test_the_same_query_under_the_same_id_is_the_same_session(bus: Bus, again: dict[str, Any]) -> None:
    async with running_intake(bus):
        await submit(bus, BASE)
        await submit(bus, again)
        await until_let_in(bus)
    assert await rejections(bus) == []
    assert await opened(bus) == ["s1"]
    assert await length(bus, bus.keys.log("s1")) == 1


async def test_a_queued_query_reserves_its_session_id(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"max_open_sessions": 1})
    async with running_intake(bus):
        for n in range(8):  # so that some wait, in any partition
            await submit(bus, {**BASE, "session_id": f"w{n}"})
        for n in range(8):
            await submit(bus, {**BASE, "session_id": f"w{n}", "query": "Another one?"})
            await submit(bus, {**BASE, "session_id": f"w{n}"})
        await until_let_in(bus)
    assert [code for code, _ in await rejections(bus)] == ["session_conflict"] * 8


async def test_an_answered_session_holds_its_id_for_as_long_as_its_log_is_kept(bus: Bus) -> None:
    async with running_intake(bus):
        await submit(bus, BASE)
        await until_let_in(bus)
        await bus.client.hset(bus.keys.of_session("s1", RESPONSE), mapping={"version": 1, "content": "{}"})
        await submit(bus, {**BASE, "query": "Another one?"})
        await until_let_in(bus)
        assert [code for code, _ in await rejections(bus)] == ["session_conflict"]
        await bus.batcher.submit("DEL", bus.keys.log("s1"))
        await submit(bus, {**BASE, "query": "Another one?"})
        await until_let_in(bus)
    assert len(await rejections(bus)) == 1, "its id is free again"
    assert await length(bus, bus.keys.log("s1")) == 1


async def test_a_session_opened_by_the_previous_release_is_compared_with_its_log(bus: Bus) -> None:
    """Its log is the only data: no other key stores its content."""
    event = json.loads(encode(an_event(QuerySubmitted(query="What do we earn?"), "s1")))
    event.pop("format", None)
    await bus.batcher.submit("XADD", bus.keys.log("s1"), "*", "event", json.dumps(event))
    async with running_intake(bus):
        await submit(bus, {"query": "What do we earn?", "session_id": "s1"})
        await submit(bus, {"query": "What do they earn?", "session_id": "s1"})
        await until_let_in(bus)
    assert [code for code, _ in await rejections(bus)] == ["session_conflict"]


async def test_an_id_that_something_foreign_has_taken_is_refused(bus: Bus) -> None:
    await bus.batcher.submit("XADD", bus.keys.log("s1"), "*", "event", "junk")
    async with running_intake(bus):
        await submit(bus, BASE)
        await until_let_in(bus)
    ((code, reason),) = await rejections(bus)
    assert (code, "is unreadable" in reason) == ("session_conflict", True)


def test_unreadable_grants_are_compared_by_their_text() -> None:
    one, other = (an_event(QuerySubmitted(query="Why?", grant=grant)) for grant in ("a.b.c", "a.b.d"))
    SessionContent.of(one).refuse_other(one, "s1")
    with pytest.raises(SessionConflict, match="with another subject"):
        SessionContent.of(one).refuse_other(other, "s1")
