"""The async shell: load the briefing and the tools, call the model, return the event."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

from antiphon_shared.bus.handling import BRIEFING, TO_SUMMARIZE, Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.events import (
    QuerySubmitted,
    ReasoningCompleted,
    ReasoningRequested,
    SummaryFailed,
    SummaryRequested,
)
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.events.step_records import ExchangeRecord, ModelCall
from antiphon_shared.memory.briefing import digest_of
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import ErrorInfo, UnreadableEvent
from antiphon_shared.redaction.redactor import WELL_KNOWN, Redactor
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.values import Usage

from reasoning_engine.call_guard import CallGuard
from reasoning_engine.deltas import Deltas
from reasoning_engine.engine import UNGUARDED, reason, summarize
from reasoning_engine.exchange_differences import ExchangeDifferences
from reasoning_engine.exchange_record import Keep, exchange_record
from reasoning_engine.offer import NO_TOOLS, Offer
from reasoning_engine.port import Model
from reasoning_engine.refused_schemas import RefusedSchemas
from reasoning_engine.result_events import NOT_SUPPORTED
from reasoning_engine.settings import EngineSettings

_OFFERS_MAX = 256
_DEFAULT_OPTIONS = QueryOptions()
_STALE = ErrorInfo(
    code="stale", message="The facts to summarize have changed. A new summary will be requested."
)
_BUSY = ErrorInfo(
    code="overloaded",
    message="Too many summaries are in flight. Raise ANTIPHON_REASONING_ENGINE_SUMMARY_CONCURRENCY if this persists.",
    retryable=True,
)


class ReasoningEngine:
    """The handlers of every event that a reasoning engine consumes."""

    def __init__(
        self,
        model: Model,
        settings: EngineSettings,
        default_model_id: str,
        *,
        load_catalogue: Callable[[str], Awaitable[Catalogue]],
        is_offline: bool = False,
        guard: CallGuard = UNGUARDED,
        remember: Keep | None = None,
        system: str | None = None,
        record_bytes_max: int,
        interruptions: Callable[[], int] = int,
        redactor: Redactor = WELL_KNOWN,
    ) -> None:
        """`is_offline`: the model writes no summaries, and its reported usage is an estimate.

        `remember` stores content that the records of many sessions share; without it no records are made.
        `system` is the operator's own prompt. The bus leaves out records above `record_bytes_max`, and
        `interruptions` returns how often its connection has failed. `redactor` knows this process's secrets.
        """
        if is_offline:  # its rules read only native tools, and do not write the prompted form
            settings = settings.model_copy(update={"tool_style": "native"})
        self._model, self._settings, self._default_model_id = model, settings, default_model_id
        self._is_offline, self._guard, self._redactor = is_offline, guard, redactor
        self._load_catalogue, self._keep, self._system = load_catalogue, remember, system
        self._offers: dict[tuple[str, tuple[str, ...]], Offer] = {}
        self._summaries_under_way = 0
        self._refused = RefusedSchemas()
        self._differences = ExchangeDifferences(record_bytes_max, interruptions)

    @property
    def handlers(self) -> Handlers:
        return {
            ReasoningRequested: self.on_reasoning_requested,
            SummaryRequested: self.on_summary_requested,
        }

    async def on_reasoning_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Return the model's reply as an event, or its failure.

        Raises UnreadableEvent when the briefing that the request names is missing.
        """
        request = delivery.event.data
        assert isinstance(request, ReasoningRequested)
        seconds_left = _seconds_until(request.deadline)
        briefing = await _briefing(session, request)
        offer = await self._offered(request)
        schema, validation_tools = (await _options(session, request)).demanded(request.step)
        model_id = request.model or self._default_model_id
        settings = self._settings.priced_for(model_id, is_default=model_id == self._default_model_id)
        style = self._refused.style(model_id, schema, settings.output_style)
        if style != settings.output_style:
            settings = settings.model_copy(update={"output_style": style})
        calls: list[ModelCall] = []
        with Deltas(session.stream_text) as deltas:
            outcome = await reason(
                request,
                briefing,
                offer,
                self._model,
                deltas.add,
                settings,
                model_id=model_id,
                seconds_left=seconds_left,
                guard=self._guard,
                on_call=calls.append,
                redactor=self._redactor,
                system=self._system,
                schema=schema,
                validation_tools=validation_tools,
                on_schema_refused=partial(self._refused.add, model_id, schema or {}),
            )
        if self._is_offline and isinstance(outcome, ReasoningCompleted):
            outcome = outcome.model_copy(update={"prompt_tokens_estimated": 0})
        record = await self._record(delivery, calls, settings)
        if record is None:
            return Outcome(events=(outcome,))
        stored, remember = await self._differences.stored(record, delivery.event, request.round, session)
        return Outcome(events=(outcome,), record=stored, after_commit=remember)

    async def on_summary_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Return a summary as an event, or its failure; its text is not streamed."""
        request = delivery.event.data
        assert isinstance(request, SummaryRequested)
        _, source = await session.document(TO_SUMMARIZE)
        text = (source or b"").decode()
        problem, calls = self._why_not(request, text), list[ModelCall]()
        settings = self._settings.for_summaries()
        if problem is not None:
            nothing = Usage(cost_usd=0.0)
            failed = SummaryFailed(
                round=request.round, error=problem, model=self._settings.summary_model, usage=nothing
            )
            return Outcome(events=(failed,), record=await self._record(delivery, calls, settings))
        self._summaries_under_way += 1
        try:
            outcome = await summarize(
                request,
                text,
                self._model,
                self._settings,
                seconds_left=_seconds_until(request.deadline),
                guard=self._guard,
                on_call=calls.append,
                redactor=self._redactor,
            )
        finally:
            self._summaries_under_way -= 1
        return Outcome(events=(outcome,), record=await self._record(delivery, calls, settings))

    async def _record(
        self, delivery: Delivery, calls: list[ModelCall], settings: EngineSettings
    ) -> ExchangeRecord | None:
        if self._keep is None:
            return None
        is_summary = isinstance(delivery.event.data, SummaryRequested)
        default_model_id = settings.summary_model if is_summary else self._default_model_id
        return await exchange_record(
            delivery.event.id,
            calls,
            settings,
            default_model_id,
            self._is_offline,
            self._keep,
            has_own_prompt=self._system is not None and not is_summary,
        )

    def _why_not(self, request: SummaryRequested, text: str) -> ErrorInfo | None:
        """Return the reason not to call the model for a summary; None if there is no such reason."""
        if self._is_offline:
            return NOT_SUPPORTED
        if digest_of(text) != request.source:
            return _STALE
        return _BUSY if self._summaries_under_way >= self._settings.summary_concurrency else None

    async def _offered(self, request: ReasoningRequested) -> Offer:
        """Return the tools that the request names, from the catalogue that it names; rendered once per combination."""
        if not request.tools:
            return NO_TOOLS
        key = (request.catalogue, request.tools)
        if key in self._offers:
            return self._offers[key]
        names = set(request.tools)
        catalogue = await self._load_catalogue(request.catalogue)
        offer = Offer.of(tool for tool in catalogue.tools if tool.name in names)
        if offer.tools:
            if len(self._offers) >= _OFFERS_MAX:
                self._offers.clear()
            self._offers[key] = offer
        return offer


async def _options(session: SessionStore, request: ReasoningRequested) -> QueryOptions:
    """Return the query's demands on its answer. Raises UnreadableEvent when the query is missing."""
    if request.output is None:
        return _DEFAULT_OPTIONS
    query = (await session.event(request.output)).data
    return query.options if isinstance(query, QuerySubmitted) else _DEFAULT_OPTIONS


async def _briefing(session: SessionStore, request: ReasoningRequested) -> str:
    _, content = await session.document(BRIEFING)
    briefing = (content or b"").decode()
    if digest_of(briefing) != request.briefing:
        raise UnreadableEvent(
            f"the briefing of round {request.round} of session {session.session_id} is no longer stored."
        )
    return briefing


def _seconds_until(deadline: datetime) -> float:
    return (deadline - utc_now()).total_seconds()
