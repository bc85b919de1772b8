"""Sessions of one conversation: the turns each is opened with, and the turn it adds."""

from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.bus.conversations import SharedTurns
from antiphon_shared.bus.handling import RESPONSE, STATE, Delivery, Outcome, PutDocument
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import BriefingRequested, QuerySubmitted, ResponseReady, SessionOpened
from antiphon_shared.events.session import Limits, QueryOptions, Source, Turn
from antiphon_shared.process.errors import TryLater
from antiphon_shared.tools.calls import Catalogue

from coordinator.decision import GRANT_ACCEPTED, Opening
from coordinator.grants import Grants
from coordinator.handlers import Coordinator
from coordinator.opening import open_session
from coordinator.session import Session
from tests.coordinator.builders import ENTRY, a_catalogue, a_response, a_tool
from tests.envelopes import START, an_event
from tests.fakes import FakeSession
from tests.grants import a_grant

LIMITS = Limits(max_rounds=4, max_tool_calls=20, max_tokens=200_000, deadline_s=300)
TOOLS = a_catalogue("search", a_tool("forum", open_world=True))
ACME = a_grant(["read"], tenant="acme")


def a_query(question: str = "How long is it?", grant: str = "", id: str | None = "c1") -> QuerySubmitted:
    return QuerySubmitted(query=question, options=QueryOptions(conversation_id=id), grant=grant)


def a_turn(has_untrusted: bool = False, minute: int = -1) -> Turn:
    at = START + timedelta(minutes=minute)
    return Turn(
        session_id="s0",
        at=at,
        question="What?",
        answer="That.",
        status="complete",
        has_untrusted=has_untrusted,
    )


def opened(query: QuerySubmitted, *turns: Turn) -> tuple[Session, SessionOpened, BriefingRequested]:
    opening = Opening(limits=LIMITS, catalogue="c0ffee", conversation=turns)
    decision = open_session(an_event(query, at_s=0), ENTRY, query, opening, TOOLS)
    noted, request = decision.commands
    assert isinstance(noted, SessionOpened)
    assert isinstance(request, BriefingRequested)
    return decision.session, noted, request


def test_the_turns_a_session_begins_with_are_recorded_and_filed() -> None:
    session, noted, request = opened(a_query(), a_turn())
    assert noted.conversation == request.conversation == (a_turn(),)
    assert (session.query.conversation, session.material.has_untrusted) == ("c1", False)


def test_an_untrusted_turn_makes_the_session_untrusted_from_the_start() -> None:
    session, _, _ = opened(a_query(), a_turn(has_untrusted=True))
    assert session.material.has_untrusted


def test_a_turn_outside_the_conversation_has_no_effect() -> None:
    session, noted, _ = opened(a_query(), a_turn(has_untrusted=True, minute=1))
    assert (noted.conversation, session.material.has_untrusted) == ((), False)


def test_a_session_without_a_conversation_has_no_turns() -> None:
    session, noted, request = opened(a_query(id=None), a_turn())
    assert session.query.conversation is None
    assert noted.conversation == request.conversation == ()


@pytest.mark.parametrize("grant", ["nonsense", a_grant(["read"], tenant="acme", exp=1)])
def test_an_unusable_grant_opens_no_conversation_and_is_reported(grant: str) -> None:
    session, noted, _ = opened(a_query(grant=grant), a_turn())
    assert (session.query.conversation, noted.conversation) == (None, ())
    assert "its conversation was not continued" in session.uncertainty[0].message


class Conversing:
    """A coordinator on a bus, and its sessions in memory."""

    def __init__(self, bus: Bus, grants: Grants | None = None) -> None:
        self.bus, self.turns = bus, SharedTurns(bus)

        async def current() -> str:
            return "c0ffee"

        async def catalogue(content_hash: str) -> Catalogue:
            return TOOLS

        check = grants.check if grants else lambda grant, session_id: GRANT_ACCEPTED
        self.coordinator = Coordinator(LIMITS, 1.0, current, catalogue, turns=self.turns, grants=check)
        self.stores: dict[str, FakeSession] = {}

    async def open(self, id: str, query: QuerySubmitted, at_s: float, attempt: int = 0) -> SessionOpened:
        store = self.stores.setdefault(id, FakeSession(id))
        event = an_event(query, id, at_s=at_s)
        outcome = await self.coordinator.on_query_submitted(Delivery(event, ENTRY, attempt), store)
        self._commit(store, outcome)
        noted = outcome.events[0]
        assert isinstance(noted, SessionOpened)
        return noted

    async def end(self, id: str, answer: str = "Six hours [1].", **fields: Any) -> Outcome:
        """Give the session its answer, and report it to the coordinator."""
        ready = ResponseReady(**{**a_response().model_dump(), "session_id": id, "answer": answer, **fields})
        return await self.coordinator.on_event(Delivery(an_event(ready, id), ENTRY), self.stores[id])

    def _commit(self, store: FakeSession, outcome: Outcome) -> None:
        for write in outcome.writes:
            assert isinstance(write, PutDocument)
            store.documents[write.document] = ((write.version or 0) + 1, write.content)


async def test_a_follow_up_is_opened_with_the_earlier_turns(bus: Bus) -> None:
    conversing = Conversing(bus)
    assert (await conversing.open("s1", a_query("How long is it?"), 0)).conversation == ()
    outcome = await conversing.end("s1")
    assert outcome.closes_session
    (turn,) = (await conversing.open("s2", a_query("Why?"), 60)).conversation
    assert (turn.question, turn.answer, turn.at) == ("How long is it?", "Six hours.", START)


async def test_handling_the_same_answer_again_keeps_one_turn(bus: Bus) -> None:
    conversing = Conversing(bus)
    await conversing.open("s1", a_query(), 0)
    first, again = await conversing.end("s1"), await conversing.end("s1")
    assert (again.events, again.writes) == (first.events, first.writes), "it was not committed the first time"
    assert len((await conversing.turns.turns("default", "c1")).turns) == 1


async def test_another_tenant_with_the_same_id_is_opened_with_nothing(bus: Bus) -> None:
    conversing = Conversing(bus)
    await conversing.open("s1", a_query(grant=ACME), 0)
    await conversing.end("s1")
    other = await conversing.open("s2", a_query(grant=a_grant(["read"], tenant="globex")), 60)
    default = await conversing.open("s3", a_query(), 60)
    expired = await conversing.open("s4", a_query(grant=a_grant(["read"], tenant="acme", exp=1)), 60)
    same = await conversing.open("s5", a_query(grant=ACME), 60)
    assert (other.conversation, default.conversation, expired.conversation) == ((), (), ())
    assert len(same.conversation) == 1


async def test_a_follow_up_does_not_wait_for_a_session_that_still_runs(bus: Bus) -> None:
    conversing = Conversing(bus)
    await conversing.open("s1", a_query(), 0)
    assert (await conversing.open("s2", a_query("Why?"), 1)).conversation == ()


async def test_a_follow_up_waits_a_little_for_an_answer_that_its_user_may_have_read(bus: Bus) -> None:
    conversing = Conversing(bus)
    await conversing.open("s1", a_query(), 0)
    key = bus.keys.of_session("s1", RESPONSE)
    await bus.client.hset(key, mapping={"version": 1, "content": "{}"})
    with pytest.raises(TryLater):
        await conversing.open("s2", a_query("Why?"), 1)
    assert (await conversing.open("s3", a_query("Why?"), 1, attempt=20)).conversation == ()
    await conversing.end("s1")
    assert len((await conversing.open("s2", a_query("Why?"), 1)).conversation) == 1


@pytest.mark.parametrize(("tool", "is_untrusted"), [("forum", True), ("gone", True), ("search", False)])
async def test_an_answer_with_untrusted_content_is_stored_as_untrusted(
    bus: Bus, tool: str, is_untrusted: bool
) -> None:
    """The session may have ended during a batch whose results no decision has processed."""
    conversing = Conversing(bus)
    await conversing.open("s1", a_query(), 0)
    source = Source(id="F1", number=1, tool=tool, call_id="t1", title="A page", excerpt="Six hours.")
    await conversing.end("s1", sources=(source,))
    (turn,) = (await conversing.open("s2", a_query("Why?"), 60)).conversation
    assert turn.has_untrusted is is_untrusted


async def test_sixty_turns_stay_within_bounds(bus: Bus) -> None:
    conversing = Conversing(bus)
    for number in range(60):
        await conversing.open(f"s{number}", a_query(f"Question {number}? " * 1_000), number)
        await conversing.end(f"s{number}", "It takes six hours. " * 1_000)
    noted = await conversing.open("last", a_query(), 60)
    assert [turn.session_id for turn in noted.conversation] == ["s58", "s59"]
    assert len(noted.model_dump_json()) < 25_000
    key = bus.keys.conversation("default", "c1")
    assert await bus.client.hlen(key) == 50
    assert sum(map(len, await bus.client.hvals(key))) < 500_000


async def test_the_state_of_a_session_does_not_grow_by_its_conversation(bus: Bus) -> None:
    conversing = Conversing(bus)
    for number in range(3):
        await conversing.open(f"s{number}", a_query("How long? " * 200), number)
        await conversing.end(f"s{number}", "It takes six hours. " * 300)
    _, content = conversing.stores["s2"].documents[STATE]
    assert content is not None
    assert len(content) < 2_000
