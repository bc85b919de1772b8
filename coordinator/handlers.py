"""The async shell around `decide`: load the session, decide, return the outcome to commit."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

from antiphon_shared import faults
from antiphon_shared.breakers.outages import NO_OUTAGES, Outages
from antiphon_shared.bus.handling import NOTHING, RESPONSE, STATE, Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.bus.offered_workflows import NO_OFFERS, OfferedWorkflows, Offers
from antiphon_shared.bus.reads import Completed, together
from antiphon_shared.events import AnyEvent, CancellationRequested, EventData, QuerySubmitted, ResponseReady
from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.events.session import RESPONSE_KIND, Limits, Turn
from antiphon_shared.memory.conversation import Turns, open_turn, turn_of
from antiphon_shared.memory.findings import findings_of
from antiphon_shared.memory.reading import Reading
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import TryLater
from antiphon_shared.process.offload import offload_if
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.values import SessionId

from coordinator.approvals import has_untrusted_source
from coordinator.before_opening import OpeningWait
from coordinator.decide import decide
from coordinator.decision import (
    GRANT_ACCEPTED,
    Decision,
    GrantCheck,
    Inputs,
    LoggedEvent,
    OfferBounds,
    Opening,
)
from coordinator.dispatchers import needs_dispatcher
from coordinator.document import SESSION
from coordinator.endings import ending_of, has_parent, moment_of, notify_parent
from coordinator.lookup import (
    is_long_answer,
    needs_query,
    read_calls_to_repeat,
    read_needed_event,
    read_question,
    schema_of,
)
from coordinator.offer import ranks_after, ranks_at_opening
from coordinator.opening import conversation_of, open_session
from coordinator.outcomes import outcome_of, outcome_of_answer
from coordinator.own_answer import answer_without_assembler
from coordinator.runs.handlers import Runs
from coordinator.session import Session
from coordinator.session_cache import SessionCache
from coordinator.without_state import answer_without_state

CheckGrant = Callable[[str, SessionId], GrantCheck]
"""A function that verifies the grant of a session that is about to be opened."""

_WORKFLOWS_SINCE = 5
"""The first format of sessions in which workflows are offered as tools."""
_TURN_POLL_S, _TURN_WAITS = 0.1, 20
"""Waits of a query for the last answer of its conversation."""


class Coordinator:
    """The handlers of every event that a coordinator consumes."""

    def __init__(
        self,
        limits: Limits,
        catalogue_wait_s: float,
        current_catalogue: Callable[[], Awaitable[str | None]],
        catalogue: Callable[[str], Awaitable[Catalogue]],
        *,
        offer: OfferBounds | None = None,
        models: tuple[str, ...] = (),
        outages: Callable[[], Outages] = lambda: NO_OUTAGES,
        turns: Turns | None = None,
        grants: CheckGrant = lambda grant, session_id: GRANT_ACCEPTED,
        runs: Runs | None = None,
        offered: OfferedWorkflows | None = None,
        cancellation_reason: Callable[[AnyEvent], Awaitable[str | None]] = lambda query: Completed(None),
        last_catalogue: Callable[[], Awaitable[str | None]] = lambda: Completed(None),
        is_served: Callable[[], Awaitable[bool]] = lambda: Completed(True),
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._limits, self._offer = limits, offer or OfferBounds()
        self._wait = OpeningWait(catalogue_wait_s, limits.deadline_s, last_catalogue, now)
        self._current_catalogue, self._catalogue = current_catalogue, catalogue
        self._models, self._outages = models, outages
        self._turns = turns
        self._grants = grants
        self._runs = runs or Runs(lambda content_hash: Completed(None), lambda: Completed({}))
        self._offered = offered
        self._cancellation_reason, self._is_served = cancellation_reason, is_served
        self._session_cache = SessionCache()

    @property
    def handlers(self) -> Handlers:
        received: list[type[EventData]] = [kind for kind in ENVELOPES if kind.inbox == "coordinator"]
        return dict.fromkeys(received, self.on_event) | {QuerySubmitted: self.on_query_submitted}

    async def on_query_submitted(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Open the session once a dispatcher has published its tools, or when the time for that is over."""
        query = delivery.event.data
        assert isinstance(query, QuerySubmitted)
        (version, content), (_, response), current, offers, reason = await together(
            session.document(STATE),
            session.document(RESPONSE),
            self._current_catalogue(),
            self._offers(delivery),
            self._cancellation_reason(delivery.event),
        )
        if content is not None or response is not None:
            return NOTHING
        is_cancelled = reason is not None
        content_hash = await self._wait.catalogue(delivery, query, current, is_cancelled=is_cancelled)
        catalogue = await self._catalogue(content_hash) if content_hash else Catalogue()
        check = self._grants(query.grant, delivery.event.subject)
        opening = Opening(
            limits=self._limits,
            catalogue=content_hash or "",
            offer=self._offer,
            is_catalogue_missing=content_hash is None,
            is_too_late_for_tools=current is None
            and not is_cancelled
            and self._wait.is_over(delivery, query),
            models=self._models,
            conversation=() if is_cancelled else await self._turns_before(delivery, query, check),
            grant=check,
            cancelled_because=reason,
        )
        if self._offered is not None and content_hash:
            content_hash, catalogue = await self._offered.added_to(content_hash, catalogue, offers)
            opening = replace(opening, catalogue=content_hash)
        if query.options.workflow is not None:
            return await self._runs.open(delivery, query, opening, catalogue, session)
        opened = await offload_if(
            ranks_at_opening(catalogue, self._offer),
            open_session,
            delivery.event,
            delivery.log_entry,
            query,
            opening,
            catalogue,
        )
        return self._outcome(version, delivery.event, opened)

    def _offers(self, delivery: Delivery) -> Awaitable[Offers]:
        """Return the workflows and recipes that a session may be offered; a run is offered none."""
        query = delivery.event.data
        is_run = isinstance(query, QuerySubmitted) and query.options.workflow is not None
        if self._offered is None or is_run or delivery.event.format < _WORKFLOWS_SINCE:
            return Completed(NO_OFFERS)
        return self._offered.current()

    async def on_event(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Take the session one step on. Ignore an event of an unknown session."""
        is_answer = isinstance(delivery.event.data, ResponseReady)
        # A run in memory needs no look-up of a document; the commit fails if the stored state differs.
        if not is_answer and self._runs.is_under_way(delivery.event.subject):
            of_run = await self._runs.on_event(delivery, session)
            if of_run is not None:
                return of_run
        version, before = await self._load(delivery, session)
        if before is None:
            return await self._on_event_before_opening(delivery, session)
        # Cached in this process after the first read.
        catalogue = await self._catalogue(before.tools.catalogue) if before.tools.catalogue else Catalogue()
        needed = await read_needed_event(before, delivery, session)
        earlier = await read_calls_to_repeat(before, delivery.event.data, session)
        question = (
            await session.event(before.query.question) if needs_query(before, delivery.event.data) else None
        )
        schema = schema_of(question.data if question else None, before.steps.number)
        is_served = not needs_dispatcher(before, delivery.event.data) or await self._is_served()
        decision = await offload_if(
            ranks_after(before, delivery.event.data) or is_long_answer(before, delivery.event.data),
            decide,
            before,
            delivery.event,
            delivery.log_entry,
            Inputs(catalogue, self._outages(), needed, earlier, schema, is_served),
        )
        await faults.pass_point("decision.made")
        if decision.unless_answered and (closing := await _closing(before, session)) is not None:
            return closing
        if decision.own_answer_reason:
            return await _own_answer(delivery, session, decision, needed, catalogue)
        if decision.session is before and not decision.timers and not decision.sends:
            return NOTHING
        if decision.closes:
            await self._store_turn(before, delivery.event.data, catalogue)
        if decision.closes and has_parent(before):
            decision = notify_parent(decision, delivery.event.data, await read_question(before, session))
        return self._outcome(version, delivery.event, decision, before)

    def _outcome(
        self, version: int, event: AnyEvent, decision: Decision, before: Session | None = None
    ) -> Outcome:
        """Return the outcome; once it is committed, the session is cached."""
        store_in_cache = partial(self._session_cache.store, version + 1, decision.session)
        return outcome_of(version, event, decision, before, store_in_cache)

    async def _turns_before(
        self, delivery: Delivery, query: QuerySubmitted, check: GrantCheck
    ) -> tuple[Turn, ...]:
        """Return the conversation's earlier turns, and begin a turn with the query."""
        id, asked_at = delivery.event.subject, delivery.event.time
        conversation = conversation_of(query, id, asked_at, check)
        if self._turns is None or conversation is None:
            return ()
        stored = await self._turns.turns(*conversation, asked_at)
        if stored.is_turn_due and delivery.attempt < _TURN_WAITS:
            raise TryLater("the conversation's last answer is about to be stored", delay_s=_TURN_POLL_S)
        await self._turns.begin(*conversation, open_turn(id, asked_at, query.query))
        return stored.turns

    async def _store_turn(self, ended: Session, data: EventData, catalogue: Catalogue) -> None:
        """Store question and answer for later turns, before the commit, which does not cover conversations."""
        if self._turns is None or ended.query.conversation is None or not isinstance(data, ResponseReady):
            return
        conversation = ended.query.tenant, ended.query.conversation
        if question := await self._turns.open_question(*conversation, ended.id):
            untrusted = ended.material.has_untrusted or has_untrusted_source(data, catalogue)
            await self._turns.complete(*conversation, turn_of(question, data, untrusted))

    async def _load(self, delivery: Delivery, store: SessionStore) -> tuple[int, Session | None]:
        """Return the document's version and the session: from the cache if it is the newest one, else from Redis."""
        cached = self._session_cache.awaiting(store.session_id, delivery.event.causationid)
        if cached is not None:
            return cached
        version, content = await store.document(STATE)
        return version, None if content is None else SESSION.read(content)

    async def _on_event_before_opening(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Take a run one step on, or answer an event of a session that has no stored state."""
        if (of_run := await self._runs.on_event(delivery, session)) is not None:
            return of_run
        match delivery.event.data:
            case CancellationRequested():
                self._wait.delay_cancellation(delivery.attempt)
                return NOTHING
            case ResponseReady():
                return Outcome(closes_session=True)
            case _:
                return await answer_without_state(delivery, session)


async def _closing(session: Session, store: SessionStore) -> Outcome | None:
    """Return the end of a session that has an answer, as the event with its answer may be lost; None without one."""
    version, content = await store.document(RESPONSE)
    if not version:
        return None
    closing = Decision(session, closes=True)
    if content is not None and has_parent(session):
        response = ResponseReady(**RESPONSE_KIND.read(content).model_dump())
        closing = notify_parent(closing, response, await read_question(session, store))
    return Outcome(closes_session=True, sends=closing.sends)


async def _own_answer(
    delivery: Delivery,
    store: SessionStore,
    decision: Decision,
    needed: LoggedEvent | None,
    catalogue: Catalogue,
) -> Outcome:
    """Give the answer that the assembler does not give, from the readable part of the session's record."""
    reading = Reading(store)
    request = ending_of(decision.session, needed)
    findings = findings_of(request, await reading.of(request))
    at = moment_of(delivery.event, delivery.log_entry)
    why = decision.own_answer_reason
    response = answer_without_assembler(decision.session, request, findings, catalogue, at, why)
    return outcome_of_answer(delivery.event, response, reading.record)
