"""The async shell around `decide`: load the session, decide, return the outcome to commit."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from antiphon_shared import faults
from antiphon_shared.breakers.outages import NO_OUTAGES, Outages
from antiphon_shared.bus.handling import (
    NOTHING,
    RESPONSE,
    STATE,
    Delivery,
    Handlers,
    Outcome,
    SessionStore,
)
from antiphon_shared.bus.offered_workflows import NO_OFFERS, OfferedWorkflows, Offers
from antiphon_shared.bus.reads import Completed, together
from antiphon_shared.events import (
    AnyEvent,
    CancellationRequested,
    EventData,
    QuerySubmitted,
    ResponseReady,
)
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
from antiphon_shared.workflows.specification import Specification

from coordinator.approvals import has_untrusted_source
from coordinator.decide import decide
from coordinator.decision import BELIEVED, Decision, GrantCheck, LoggedEvent, OfferBounds, Opening
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
"""A function that verifies a session's grant now."""

CATALOGUE_POLL_S = 0.5
_WORKFLOWS_SINCE = 5
"""The first format of sessions in which workflows are offered as tools."""
_TURN_POLL_S, _TURN_WAITS = 0.1, 20
_OPENING_WAITS = 20
_SOON_S, _SOON_WAITS = 0.01, 20  # a session is opened soon after it was admitted
"""Further deliveries of an early cancellation, in addition to those for a catalogue, as opening may take time and
fail at first.
"""


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
        grants: CheckGrant = lambda grant, session_id: BELIEVED,
        runs: Runs | None = None,
        offered: OfferedWorkflows | None = None,
        is_cancelled: Callable[[AnyEvent], Awaitable[bool]] = lambda query: Completed(False),
        last_catalogue: Callable[[], Awaitable[str | None]] = lambda: Completed(None),
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._limits, self._offer = limits, offer or OfferBounds()
        self._catalogue_waits = round(catalogue_wait_s / CATALOGUE_POLL_S)
        self._current_catalogue, self._catalogue = current_catalogue, catalogue
        self._models, self._outages = models, outages
        self._turns = turns
        self._grants = grants
        self._runs = runs or Runs(_no_specification, _no_workflows)
        self._offered = offered
        self._is_cancelled, self._last_catalogue, self._now = is_cancelled, last_catalogue, now
        self._is_dispatcher_gone = False
        """Whether a query has waited in vain for a dispatcher; until there is one, no other waits."""
        self._session_cache = SessionCache()

    @property
    def handlers(self) -> Handlers:
        received: list[type[EventData]] = [kind for kind in ENVELOPES if kind.inbox == "coordinator"]
        return dict.fromkeys(received, self.on_event) | {QuerySubmitted: self.on_query_submitted}

    async def on_query_submitted(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Open the session once a dispatcher has published its tools, or when the time for that is over."""
        query = delivery.event.data
        assert isinstance(query, QuerySubmitted)
        (version, content), (_, answered), content_hash, offers, is_cancelled = await together(
            session.document(STATE),
            session.document(RESPONSE),
            self._current_catalogue(),
            self._offers(delivery),
            self._is_cancelled(delivery.event),
        )
        if content is not None or answered is not None:
            return NOTHING
        if content_hash is not None:
            self._is_dispatcher_gone = False
        elif not is_cancelled:
            if self._waits_for_dispatcher(delivery, query):
                raise TryLater("no running dispatcher has published its tools yet", delay_s=CATALOGUE_POLL_S)
            content_hash = await self._last_catalogue()
        catalogue = await self._catalogue(content_hash) if content_hash else Catalogue()
        check = self._grants(query.grant, delivery.event.subject)
        opening = Opening(
            limits=self._limits,
            catalogue=content_hash or "",
            offer=self._offer,
            is_catalogue_missing=content_hash is None,
            models=self._models,
            conversation=() if is_cancelled else await self._turns_before(delivery, query, check),
            grant=check,
            is_cancelled=is_cancelled,
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

    def _waits_for_dispatcher(self, delivery: Delivery, query: QuerySubmitted) -> bool:
        """Return whether the query still waits: within its deadline, unless another has waited in vain."""
        self._is_dispatcher_gone |= delivery.attempt >= self._catalogue_waits
        age = self._now() - delivery.event.time
        is_in_time = age < timedelta(seconds=query.options.deadline_s or self._limits.deadline_s)
        return is_in_time and not self._is_dispatcher_gone

    async def on_event(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Take the session one step on. An event of an unknown session is dropped."""
        # A run in memory needs no look-up of a document; the commit fails if the stored state differs.
        if self._runs.is_under_way(delivery.event.subject) and not isinstance(
            delivery.event.data, ResponseReady
        ):
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
        question = await session.event(before.query.question) if needs_query(before, delivery.event) else None
        schema = schema_of(question.data if question else None, before.steps.number)
        decision = await offload_if(
            ranks_after(before, delivery.event.data) or is_long_answer(before, delivery.event),
            decide,
            before,
            delivery.event,
            delivery.log_entry,
            catalogue=catalogue,
            outages=self._outages(),
            needed=needed,
            earlier=earlier,
            schema=schema,
        )
        await faults.pass_point("decision.made")
        if decision.unless_answered:
            answered, content = await session.document(RESPONSE)
            # The session is over, even if the event with its answer was lost.
            if answered:
                over = Decision(before, closes=True)
                if content is not None and has_parent(before):
                    response = ResponseReady(**RESPONSE_KIND.read(content).model_dump())
                    over = notify_parent(over, response, await read_question(before, session))
                return Outcome(closes_session=True, sends=over.sends)
        if decision.own_answer_reason:
            return await _own_answer(delivery, session, decision, needed, catalogue)
        if decision.session is before and not decision.timers and not decision.sends:
            return NOTHING
        if decision.closes:
            await self._keep_turn(before, delivery.event.data, catalogue)
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
            raise TryLater("the conversation's last answer is about to be kept", delay_s=_TURN_POLL_S)
        await self._turns.begin(*conversation, open_turn(id, asked_at, query.query))
        return stored.turns

    async def _keep_turn(self, ended: Session, data: EventData, catalogue: Catalogue) -> None:
        """Keep question and answer for later turns. It precedes the commit, which does not cover conversations."""
        if self._turns is None or ended.query.conversation is None or not isinstance(data, ResponseReady):
            return
        conversation = ended.query.tenant, ended.query.conversation
        if question := await self._turns.open_question(*conversation, ended.id):
            untrusted = ended.material.has_untrusted or has_untrusted_source(data, catalogue)
            await self._turns.complete(*conversation, turn_of(question, data, untrusted))

    async def _load(self, delivery: Delivery, store: SessionStore) -> tuple[int, Session | None]:
        """Return the session's document and version: as remembered, if that is the newest, else from Redis."""
        cached = self._session_cache.awaiting(store.session_id, delivery.event.causationid)
        if cached is not None:
            return cached
        version, content = await store.document(STATE)
        return version, None if content is None else SESSION.read(content)

    async def _on_event_before_opening(self, delivery: Delivery, session: SessionStore) -> Outcome:
        if (of_run := await self._runs.on_event(delivery, session)) is not None:
            return of_run
        match delivery.event.data:
            case CancellationRequested() if delivery.attempt < self._catalogue_waits + _OPENING_WAITS:
                delay_s = _SOON_S if delivery.attempt < _SOON_WAITS else CATALOGUE_POLL_S
                raise TryLater("the session is not open yet", delay_s=delay_s)
            case ResponseReady():
                return Outcome(closes_session=True)
            case _:
                return await answer_without_state(delivery, session)


async def _no_specification(content_hash: str) -> Specification | None:
    return None


async def _no_workflows() -> dict[str, str]:
    return {}


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
