"""The shell around the decisions."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.breakers.outages import Outages
from antiphon_shared.bus.handling import (
    MEMORY,
    NOTHING,
    RESPONSE,
    STATE,
    Delivery,
    Outcome,
    PutDocument,
    SetTimer,
)
from antiphon_shared.events import (
    AnyEvent,
    AssemblyOverdue,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    EventData,
    QuerySubmitted,
    ReasoningCompleted,
    ResponseReady,
    SessionOpened,
    SummaryCompleted,
    ToolsRequested,
)
from antiphon_shared.events.session import Limits, QueryOptions
from antiphon_shared.events.step_records import DecisionRecord, MaterialRead
from antiphon_shared.memory.layers import Document, Fact, MemoryDelta
from antiphon_shared.process.errors import ErrorInfo, TryLater
from antiphon_shared.process.ids import new_id
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.calls import Catalogue

from coordinator import handlers
from coordinator.decide import decide
from coordinator.decision import Inputs, OfferBounds
from coordinator.document import SESSION
from coordinator.handlers import Coordinator
from coordinator.session import Session
from coordinator.session_parts import replace
from coordinator.settings import CoordinatorSettings
from tests.coordinator.builders import (
    ENTRY,
    SEARCH,
    a_briefing,
    a_call,
    a_catalogue,
    a_decision,
    a_reply,
    a_tool,
    an_opened_session,
    answered,
    met,
    too_much,
)
from tests.envelopes import START, an_event
from tests.fakes import FakeSession


def a_coordinator(
    content_hash: str | None = "c0ffee",
    tools: Catalogue = SEARCH,
    offer: OfferBounds | None = None,
    catalogue_wait_s: float = 1.0,
    age_s: float = 0.0,
) -> Coordinator:
    async def current() -> str | None:
        return content_hash

    async def catalogue(wanted: str) -> Catalogue:
        assert wanted == content_hash
        return tools

    limits = Limits(max_rounds=4, max_tool_calls=20, max_tokens=200_000, deadline_s=300)
    now = START + timedelta(seconds=age_s)
    return Coordinator(limits, catalogue_wait_s, current, catalogue, offer=offer, now=lambda: now)


def a_delivery(data: EventData, attempt: int = 0) -> Delivery:
    return Delivery(an_event(data), ENTRY, attempt)


def stored(session: Session, log: dict[str, AnyEvent] | None = None) -> FakeSession:
    return FakeSession(documents={STATE: (1, SESSION.write(session, session.format))}, log=log or {})


def state_of(outcome: Outcome) -> Session:
    (write,) = outcome.writes
    assert isinstance(write, PutDocument)
    return SESSION.read(write.content)


async def test_a_query_opens_its_session_with_the_current_tools() -> None:
    outcome = await a_coordinator().on_query_submitted(
        a_delivery(QuerySubmitted(query="Why?")), FakeSession()
    )
    assert isinstance(outcome.events[0], SessionOpened)
    assert outcome.events[0].tools == ("search",)
    assert state_of(outcome).tools.catalogue == "c0ffee"


async def test_a_query_that_arrives_twice_opens_one_session() -> None:
    known = stored(an_opened_session().session)
    assert (
        await a_coordinator().on_query_submitted(a_delivery(QuerySubmitted(query="Why?")), known) == NOTHING
    )


async def test_a_session_waits_a_while_for_the_first_catalogue() -> None:
    with pytest.raises(TryLater):
        await a_coordinator(None).on_query_submitted(a_delivery(QuerySubmitted(query="Why?")), FakeSession())


async def test_a_session_that_waited_long_enough_starts_without_tools_and_reports_it() -> None:
    delivery = a_delivery(QuerySubmitted(query="Why?"), attempt=2)
    session = state_of(await a_coordinator(None).on_query_submitted(delivery, FakeSession()))
    assert session.tools.usable == ()
    assert [uncertainty.kind for uncertainty in session.uncertainty] == ["tools_unavailable"]


async def test_a_session_waits_for_a_catalogue_no_longer_than_its_deadline() -> None:
    hurried = QuerySubmitted(query="Why?", options=QueryOptions(deadline_s=0.5))
    with pytest.raises(TryLater):
        await a_coordinator(None).on_query_submitted(a_delivery(hurried), FakeSession())
    opened = await a_coordinator(None, age_s=60).on_query_submitted(a_delivery(hurried), FakeSession())
    assert state_of(opened).tools.usable == ()


async def test_only_the_first_of_many_sessions_waits_for_a_missing_dispatcher() -> None:
    coordinator, query = a_coordinator(None), QuerySubmitted(query="Why?")
    assert state_of(await coordinator.on_query_submitted(a_delivery(query, attempt=2), FakeSession()))
    assert state_of(await coordinator.on_query_submitted(a_delivery(query), FakeSession()))


async def test_a_session_that_is_answered_before_it_was_opened_stays_closed() -> None:
    """Its cancellation may have become a dead letter while the query still waited for a catalogue."""
    answered = FakeSession(documents={RESPONSE: (1, b"{}")})
    query = a_delivery(QuerySubmitted(query="Why?"))
    assert await a_coordinator().on_query_submitted(query, answered) == NOTHING


async def test_the_number_of_offered_tools_follows_the_settings() -> None:
    tools = a_catalogue(*(f"t{n}" for n in range(6)))
    settings = CoordinatorSettings(tools_offered_all_max=5, tools_offered=3)
    coordinator = a_coordinator(tools=tools, offer=settings.offer)
    session = state_of(
        await coordinator.on_query_submitted(a_delivery(QuerySubmitted(query="Why?")), FakeSession())
    )
    assert (len(session.tools.usable), session.tools.offer) == (6, ("t0", "t1", "t2"))


async def test_a_decision_of_a_person_takes_a_waiting_session_on() -> None:
    tools = a_catalogue(a_tool("book", approval="always"))
    reasoning = answered(an_opened_session(tools).session, a_briefing(), tools).session
    waiting = answered(reasoning, a_reply(calls=[a_call("book")]), tools).session
    outcome = await a_coordinator(tools=tools).on_event(a_delivery(a_decision(True)), stored(waiting))
    (request,) = outcome.events
    assert isinstance(request, ToolsRequested)
    assert request.calls[0].approval == ENTRY
    assert state_of(outcome).phase == "tools"
    out = stored(state_of(outcome))
    assert await a_coordinator(tools=tools).on_event(a_delivery(a_decision(False)), out) == NOTHING


async def test_a_session_that_waits_for_a_person_releases_its_slot() -> None:
    tools = a_catalogue(a_tool("book", approval="always"))
    coordinator = a_coordinator(tools=tools)
    reasoning = answered(an_opened_session(tools).session, a_briefing(), tools).session
    reply = an_event(a_reply(calls=[a_call("book")])).model_copy(
        update={"causationid": reasoning.pending_request}
    )
    waits = await coordinator.on_event(Delivery(reply, ENTRY), stored(reasoning))
    assert waits.takes_room is False
    goes_on = await coordinator.on_event(a_delivery(a_decision(True)), stored(state_of(waits)))
    assert goes_on.takes_room is True
    assert (await coordinator.on_event(a_delivery(a_briefing()), stored(reasoning))).takes_room is None


async def test_an_event_of_an_unopened_session_is_dropped() -> None:
    assert await a_coordinator().on_event(a_delivery(AssemblyOverdue()), FakeSession()) == NOTHING


async def test_a_cancellation_before_the_opening_is_retried() -> None:
    with pytest.raises(TryLater):
        await a_coordinator().on_event(a_delivery(CancellationRequested()), FakeSession())


async def test_a_cancellation_before_the_opening_is_retried_without_a_catalogue_wait() -> None:
    coordinator = a_coordinator(catalogue_wait_s=0.0)
    with pytest.raises(TryLater):
        await coordinator.on_event(a_delivery(CancellationRequested(), attempt=3), FakeSession())
    assert await coordinator.on_event(a_delivery(CancellationRequested(), 1_000), FakeSession()) == NOTHING


async def test_a_query_that_could_not_be_opened_is_answered_once() -> None:
    error = ErrorInfo(code="internal_error", message="it broke")
    failed = ComponentFailed(component="coordinator", failed_event=new_id(), error=error)
    outcome = await a_coordinator().on_event(a_delivery(failed), FakeSession())
    (response,) = outcome.events
    assert isinstance(response, ResponseReady)
    assert response.status == "failed"
    assert [
        (write.document, write.version) for write in outcome.writes if isinstance(write, PutDocument)
    ] == [
        (RESPONSE, 0),
        (STATE, 0),
    ], "a worker that is about to open the session finds it closed"
    answered = FakeSession(documents={RESPONSE: (1, b"{}")})
    assert await a_coordinator().on_event(a_delivery(failed), answered) == NOTHING


async def test_a_session_whose_state_is_lost_is_answered_once_at_its_deadline() -> None:
    """Redis may evict keys, against the documented setting."""
    query = an_event(QuerySubmitted(query="Why?"))
    due = an_event(DeadlineReached()).model_copy(update={"correlationid": query.id})
    store = FakeSession(log={ENTRY: query})
    outcome = await a_coordinator().on_event(Delivery(due, "2-0"), store)
    (response,) = outcome.events
    assert isinstance(response, ResponseReady)
    assert (response.status, response.termination_reason) == ("failed", "internal_error")
    assert "no longer stored" in response.answer
    assert [write.document for write in outcome.writes if isinstance(write, PutDocument)] == [RESPONSE, STATE]
    store.documents[RESPONSE] = (1, b"{}")
    assert await a_coordinator().on_event(Delivery(due, "2-0"), store) == NOTHING
    assert await a_coordinator().on_event(Delivery(due, "2-0"), FakeSession()) == NOTHING


async def test_the_answer_of_the_coordinator_yields_to_an_existing_one() -> None:
    ending = replace(an_opened_session().session, phase="assembling")
    session = stored(ending)
    outcome = await a_coordinator().on_event(a_delivery(AssemblyOverdue()), session)
    assert isinstance(outcome.events[0], ResponseReady)
    session.documents[RESPONSE] = (1, b"{}")
    over = await a_coordinator().on_event(a_delivery(AssemblyOverdue()), session)
    assert over == Outcome(closes_session=True), "it makes room, should the news of the answer be lost"


async def test_the_answer_of_the_coordinator_contains_reply_and_facts_of_the_log() -> None:
    """The reply, its facts, and the time it took: the timer's event bears the time that it was set at."""
    ending, log = an_ending(a_reply("It is 30 m high [F1]."))
    session = stored(ending, log=log)
    session.lists[MEMORY] = [a_fact("The lighthouse is 30 m high.").model_dump_json().encode()]
    late = Delivery(an_event(AssemblyOverdue()), f"{round(ending.deadline.timestamp() * 1000)}-0")
    outcome = await a_coordinator().on_event(late, session)
    (response,) = outcome.events
    assert isinstance(response, ResponseReady)
    assert response.answer.startswith("It is 30 m high [1].")
    assert (response.status, response.termination_reason) == ("partial", "natural_completion")
    assert [(one.id, one.tool, one.call_id) for one in response.sources] == [("F1", "search", "call_1")]
    assert response.duration_ms == 300_000
    assert (response.rounds_used, response.usage.input_tokens) == (1, 100)
    assert isinstance(outcome.record, DecisionRecord)
    assert outcome.record.read == MaterialRead(filings=1)


async def test_the_assembler_is_waited_for_until_the_deadline() -> None:
    ending, log = an_ending(a_reply())
    outcome = await a_coordinator().on_event(a_delivery(AssemblyOverdue()), stored(ending, log=log))
    assert outcome.events == ()
    assert outcome.timers == (SetTimer("assembly", ending.deadline, AssemblyOverdue()),)


async def test_a_cancellation_leaves_an_assembler_that_is_at_it_a_moment() -> None:
    ending, log = an_ending(a_reply("Because."))
    with pytest.raises(TryLater):
        await a_coordinator().on_event(a_delivery(CancellationRequested()), stored(ending, log=log))
    outcome = await a_coordinator().on_event(a_delivery(CancellationRequested(), 1), stored(ending, log=log))
    (response,) = outcome.events
    assert isinstance(response, ResponseReady)
    assert response.answer.startswith("Because.")


def an_ending(reply: ReasoningCompleted) -> tuple[Session, dict[str, AnyEvent]]:
    """Return a session that waits for its answer, and its log."""
    reasoning = answered(an_opened_session().session, a_briefing()).session
    replied = an_event(reply, answers=reasoning.pending_request)
    decision = decide(reasoning, replied, "2-0", Inputs(SEARCH))
    request = an_event(decision.commands[0]).model_copy(update={"id": decision.session.pending_request})
    query = an_event(QuerySubmitted(query="How high is it?"))
    return decision.session, {ENTRY: query, "2-0": replied, "3-0": request}


def a_fact(statement: str) -> MemoryDelta:
    document = Document(id="D1", round=1, call_id="call_1", tool="search", position="$")
    return MemoryDelta(
        documents=(document,), facts=(Fact(id="F1", document="D1", position="$", statement=statement),)
    )


async def test_a_session_whose_answer_the_coordinator_failed_at_is_looked_at_again() -> None:
    """Otherwise it would count as open indefinitely: the timer that would have found it has fired by then."""
    ending = replace(an_opened_session().session, phase="assembling")
    error = ErrorInfo(code="internal_error", message="it broke")
    failed = ComponentFailed(component="coordinator", failed_event=new_id(), error=error)
    outcome = await a_coordinator().on_event(a_delivery(failed), stored(ending))
    (timer,) = outcome.timers
    assert isinstance(timer, SetTimer)
    session = stored(state_of(outcome))
    session.documents[RESPONSE] = (1, b"{}")
    assert (await a_coordinator().on_event(a_delivery(timer.event), session)).closes_session


async def test_a_summary_updates_a_session_that_keeps_waiting_for_the_model() -> None:
    """Each step is decided on the newest session, cached or read again."""
    briefed = answered(an_opened_session().session, a_briefing(to_summarize=too_much())).session
    coordinator, store = a_coordinator(), stored(briefed)
    summary = SummaryCompleted(round=1, text="F20: Six.", facts=("F20",), model="m")
    event = an_event(summary, answers=briefed.summaries.awaiting)
    outcome = await coordinator.on_event(Delivery(event, "1-1"), store)
    (write,) = outcome.writes
    assert isinstance(write, PutDocument)
    assert outcome.events == ()
    store.documents[STATE] = (2, write.content)
    replied = an_event(a_reply(calls=1), answers=briefed.pending_request)
    after = state_of(await coordinator.on_event(Delivery(replied, ENTRY), store))
    assert (after.summaries.ready, after.phase) == ("1-1", "tools")


async def test_a_step_is_cached_after_its_commit() -> None:
    coordinator, before = a_coordinator(), an_opened_session().session
    briefed = an_event(a_briefing(), answers=before.pending_request)
    outcome = await coordinator.on_event(Delivery(briefed, ENTRY), stored(before))
    assert outcome.after_commit is not None
    outcome.after_commit()
    reply = Delivery(an_event(a_reply(), answers=state_of(outcome).pending_request), ENTRY)
    unread = FakeSession()
    assert state_of(await coordinator.on_event(reply, unread)).phase == "assembling"
    assert await coordinator.on_event(reply, unread) == NOTHING, "it is remembered for one event"


async def test_a_step_overtaken_by_a_summary_is_not_cached() -> None:
    briefed = answered(an_opened_session().session, a_briefing(to_summarize=too_much())).session
    coordinator, store = a_coordinator(), stored(briefed)
    summary = SummaryCompleted(round=1, text="F20: Six.", facts=("F20",), model="m")
    await coordinator.on_event(Delivery(an_event(summary, answers=briefed.summaries.awaiting), "1-1"), store)
    # Another worker was faster: the document never had this step.
    replied = an_event(a_reply(calls=1), answers=briefed.pending_request)
    after = state_of(await coordinator.on_event(Delivery(replied, ENTRY), store))
    assert after.summaries.ready is None


async def test_the_state_document_is_small_for_any_query() -> None:
    query = QuerySubmitted(query="Why? " * 20_000)
    outcome = await a_coordinator().on_query_submitted(a_delivery(query), FakeSession())
    (write,) = outcome.writes
    assert isinstance(write, PutDocument)
    assert len(write.content) < 2_000


def test_a_dead_assembler_is_replaced_before_the_coordinator_answers_itself() -> None:
    """Its work is reclaimed when its lease expires, which is checked every quarter of a lease."""
    bus, coordinator = BusSettings(), CoordinatorSettings()
    assert coordinator.limits(bus.lease_s, bus.deadline_max_s).assembly_s > 2 * 1.25 * bus.lease_s
    (overdue, _) = met(an_opened_session().session, CancellationRequested()).timers
    assert isinstance(overdue, SetTimer)
    assert overdue.due == timedelta(seconds=an_opened_session().session.limits.assembly_s)


async def test_a_step_that_another_worker_has_committed_is_not_remembered() -> None:
    """It may have seen other outages, and committed the same step otherwise."""
    coordinator, before = a_coordinator(), an_opened_session().session
    briefed = an_event(a_briefing(), answers=before.pending_request)
    await coordinator.on_event(Delivery(briefed, ENTRY), stored(before))
    committed = decide(before, briefed, ENTRY, Inputs(SEARCH, outages=Outages(tools=("search",)))).session
    newest = FakeSession(documents={STATE: (2, SESSION.write(committed, committed.format))})
    reply = Delivery(an_event(a_reply(), answers=committed.pending_request), ENTRY)
    assert state_of(await coordinator.on_event(reply, newest)).models.outages == committed.models.outages


@pytest.mark.parametrize(("all_max", "is_aside"), [(1, True), (30, False)])
async def test_many_tools_are_ranked_outside_the_event_loop(
    all_max: int, is_aside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []

    def watched(work: Any) -> Any:
        def run(*args: Any, **options: Any) -> Any:
            threads.append(threading.current_thread().name)
            return work(*args, **options)

        return run

    for name in ("open_session", "decide"):
        monkeypatch.setattr(f"coordinator.handlers.{name}", watched(getattr(handlers, name)))
    tools = a_catalogue(a_tool("weather"), a_tool("mail"))
    coordinator = a_coordinator(tools=tools, offer=OfferBounds(all_max=all_max, subset=1))
    opened = await coordinator.on_query_submitted(
        a_delivery(QuerySubmitted(query="weather")), FakeSession(documents={}, log={})
    )
    await coordinator.on_event(a_delivery(a_reply()), stored(state_of(opened)))
    assert [name.startswith("offload") for name in threads] == [is_aside, is_aside]
