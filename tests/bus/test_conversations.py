"""Turns of conversations in Redis, of every kind."""

from datetime import UTC, datetime, timedelta

from antiphon_shared.bus.conversations import SharedTurns
from antiphon_shared.bus.handling import RESPONSE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events.session import Turn
from antiphon_shared.memory.conversation import TURNS_STORED_MAX, OpenTurn, StoredTurns, open_turn

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def asked(minute: int, session_id: str = "") -> OpenTurn:
    return open_turn(session_id or f"s{minute}", NOON + timedelta(minutes=minute), f"Question {minute}?")


def answered(turn: OpenTurn, answer: str = "Six hours.") -> Turn:
    return Turn(**turn.model_dump(), answer=answer, status="complete", has_untrusted=True)


async def keep(turns: SharedTurns, minute: int, tenant: str = "acme") -> Turn:
    turn = answered(asked(minute))
    await turns.begin(tenant, "c1", asked(minute))
    await turns.complete(tenant, "c1", turn)
    return turn


async def put_response(bus: Bus, session_id: str) -> None:
    await bus.client.hset(bus.keys.of_session(session_id, RESPONSE), mapping={"version": 1, "content": "{}"})


async def test_questions_and_answers_are_read_in_their_order(bus: Bus) -> None:
    turns = SharedTurns(bus)
    second, first = await keep(turns, 2), await keep(turns, 1)
    assert await turns.turns("acme", "c1") == StoredTurns((first, second))
    assert await turns.turns("acme", "c1", NOON + timedelta(minutes=1)) == StoredTurns((first,))


async def test_each_tenant_and_conversation_has_its_own_turns(bus: Bus) -> None:
    turns = SharedTurns(bus)
    await keep(turns, 1)
    assert await turns.turns("globex", "c1") == StoredTurns()
    assert await turns.turns("acme", "c2") == StoredTurns()
    assert await turns.turns("acme", "c1:s1") == StoredTurns()


async def test_a_question_is_open_until_its_turn_is_kept(bus: Bus) -> None:
    turns = SharedTurns(bus)
    await turns.begin("acme", "c1", asked(1))
    assert await turns.open_question("acme", "c1", "s1") == asked(1)
    assert await turns.turns("acme", "c1") == StoredTurns(open=(asked(1),))
    turn = answered(asked(1))
    for _ in range(2):
        await turns.complete("acme", "c1", turn)
        await turns.begin("acme", "c1", asked(1))
    assert await turns.open_question("acme", "c1", "s1") is None
    assert await turns.turns("acme", "c1") == StoredTurns((turn,))


async def test_a_turn_is_due_once_its_question_is_answered(bus: Bus) -> None:
    turns = SharedTurns(bus)
    await turns.begin("acme", "c1", asked(1))
    assert not (await turns.turns("acme", "c1")).is_turn_due
    await put_response(bus, "s1")
    assert (await turns.turns("acme", "c1")).is_turn_due
    assert not (await turns.turns("acme", "c1", NOON)).is_turn_due, "it was asked later"
    await turns.complete("acme", "c1", answered(asked(1)))
    assert not (await turns.turns("acme", "c1")).is_turn_due


async def test_a_conversation_keeps_its_newest_turns_within_a_bound(bus: Bus) -> None:
    turns = SharedTurns(bus)
    kept = [await keep(turns, minute) for minute in range(TURNS_STORED_MAX + 10)]
    assert (await turns.turns("acme", "c1")).turns == tuple(kept[10:])
    assert await bus.client.hlen(bus.keys.conversation("acme", "c1")) == TURNS_STORED_MAX


async def test_an_unreadable_turn_is_skipped_and_removed_first(bus: Bus) -> None:
    turns, key = SharedTurns(bus), bus.keys.conversation("acme", "c1")
    for number, content in enumerate((b"", b"\xff", b"[" * 10_000, b'{"session_id":"s1"}')):
        await bus.client.hset(key, f"strange-{number}", content)
    turn = await keep(turns, 1)
    assert await turns.turns("acme", "c1") == StoredTurns((turn,))
    for minute in range(2, TURNS_STORED_MAX + 1):
        await keep(turns, minute)
    assert not [name for name in await bus.client.hkeys(key) if name.startswith(b"strange")]


async def test_a_conversation_is_kept_for_the_retention_after_its_last_turn(bus: Bus) -> None:
    turns, key = SharedTurns(bus), bus.keys.conversation("acme", "c1")
    retention_ms = bus.settings.retention_s * 1000
    for write in (
        turns.begin("acme", "c1", asked(1)),
        turns.complete("acme", "c1", answered(asked(1))),
        turns.begin("acme", "c1", asked(2)),
    ):
        await bus.client.persist(key)
        await write
        assert 0 < await bus.client.pttl(key) <= retention_ms
