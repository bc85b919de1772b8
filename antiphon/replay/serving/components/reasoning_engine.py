"""The reasoning engine of a rerun."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from antiphon_shared.bus.handling import Delivery, Outcome, SessionStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, ReasoningRequested, SummaryFailed, SummaryRequested
from antiphon_shared.events.step_records import ExchangeRecord
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import PipelineSettings

from antiphon.replay.requests import system_in
from antiphon.replay.serving.components.part import Part
from antiphon.replay.serving.exchanges import Exchanges, Miss
from antiphon.replay.serving.model import (
    ExchangeInFlight,
    RecordedCallGuard,
    RecordedModel,
    exchange_in_flight,
)
from antiphon.replay.serving.recording_index import RecordingIndex
from antiphon.replay.serving.turns import wait_for_events
from reasoning_engine.component import build
from reasoning_engine.prices import Prices
from reasoning_engine.settings import EngineSettings

_TIME_TO_REPLY = timedelta(minutes=10)
_TIME_TO_TIME_OUT = timedelta(seconds=2)
"""The time for an exchange that did not end before its session's deadline."""
_ATTEMPTS_MAX = 20
"""A limit above the calls of any exchange; the guard rejects calls after the recorded ones."""
_PAUSE_S = 0.001


class EnginePart(Part):
    """The engine with the recorded model, settings and prices, and without pauses between attempts."""

    name = "reasoning_engine"

    def __init__(self, bus: Bus, recordings: Mapping[str, RecordingIndex], misses: list[Miss]) -> None:
        super().__init__(bus, recordings, misses)
        self._exchanges = {
            id: Exchanges(
                id, (call for exchange in one.exchanges.values() for call in exchange.calls), misses
            )
            for id, one in recordings.items()
        }

    def service(self, bus: Bus, recording_index: RecordingIndex) -> Service:
        records = list(recording_index.records_of(ExchangeRecord))
        is_offline = any(record.is_offline for record in records)
        default = next((record.default_model for record in records), "")
        return build(
            bus,
            RecordedModel(self._exchanges[recording_index.session_id], is_offline),
            guard=RecordedCallGuard(),
            settings=engine_settings(recording_index),
            pipeline=PipelineSettings.model_construct(model=default),
        )

    async def play(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Run a step.

        A summary that failed without a call fails again, as other sessions may have occupied the engine.
        """
        id, recording_index = delivery.event.id, self.recording_index(session.session_id)
        failed = recording_index.output(id, SummaryFailed)
        if failed is None or id in recording_index.exchanges:
            return await super().play(delivery, session)
        await wait_for_events(self.bus, session.session_id, recording_index.events_before(id))
        return Outcome(events=(failed,))

    def prepare(self, recording_index: RecordingIndex, event: AnyEvent) -> None:
        exchange = recording_index.exchanges.get(event.id)
        exchange_in_flight.set(None if exchange is None else ExchangeInFlight(exchange))

    def as_recorded(self, recording_index: RecordingIndex, event: AnyEvent) -> AnyEvent:
        """Return the event with a deadline in the future."""
        exchange = recording_index.exchanges.get(event.id)
        is_late = exchange is not None and any(call.is_unanswered for call in exchange.calls)
        deadline = utc_now() + (_TIME_TO_TIME_OUT if is_late else _TIME_TO_REPLY)
        return event.model_copy(update={"data": event.data.model_copy(update={"deadline": deadline})})


class RecordedSettings(EngineSettings):
    """Settings with the text of the operator's prompt in place of its file."""

    own_prompt: str | None = None

    def system_prompt(self) -> str | None:
        return self.own_prompt


def engine_settings(recording_index: RecordingIndex) -> EngineSettings:
    """Return the recorded settings of a session's exchanges that matter in a rerun."""
    prices: dict[str, Prices] = {}
    values: dict[str, Any] = {}
    for of, exchange in recording_index.exchanges.items():
        request, record = recording_index.by_id[of].event.data, exchange.record
        if isinstance(request, SummaryRequested) and exchange.calls:
            values["summary_model"] = str(exchange.calls[0].request.get("model", ""))
            prices[values["summary_model"]] = Prices(**record.prices)
        elif isinstance(request, ReasoningRequested):
            values["max_output_tokens"] = record.max_output_tokens
            values["tool_style"] = record.tool_style
            if values.get("output_style") != "auto":  # a refused style is replaced by that of a tool
                values["output_style"] = record.output_style
            if record.has_own_prompt and exchange.calls:
                values["own_prompt"] = system_in(exchange.calls[0].request)
            prices[request.model or record.default_model] = Prices(**record.prices)
    return RecordedSettings.model_construct(
        prices=prices,
        max_attempts=_ATTEMPTS_MAX,
        backoff_initial_s=_PAUSE_S,
        backoff_max_s=_PAUSE_S,
        retry_after_max_s=0.0,
        summary_concurrency=1_000,
        **values,
    )
