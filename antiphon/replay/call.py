"""The repetition of a recorded model call with several models, for a comparison.

    replies = await call(lines, "reasoning.requested@2", ["claude-opus-5-5", "offline"])

The request is sent as it was recorded, except for the model's name, and the system prompt if another is passed. An
error of one model does not affect the others.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from antiphon_shared.events.base import short_type
from antiphon_shared.events.step_records import ExchangeRecord, ModelCall
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secret_values

from antiphon.recording.lines import ContentLine, EventLine, Line, records_in
from antiphon.replay.forking.event_at import NoSuchPoint, event_at
from antiphon.replay.provider import provider_of
from antiphon.replay.requests import complete_request, prices_in
from reasoning_engine.access import load_access
from reasoning_engine.choice import choose_model
from reasoning_engine.exchange_record import message_of
from reasoning_engine.model_errors import MODEL_ERRORS, classify, hide_secrets
from reasoning_engine.port import OwnedModel
from reasoning_engine.prompt import Prompt
from reasoning_engine.reply import Reply, parse, usage_of
from reasoning_engine.settings import EngineSettings
from reasoning_engine.wires import wire_of

RECORDED = "recorded"
_CONCURRENCY = 8


@dataclass(frozen=True, slots=True)
class Replied:
    """A model's reply to the request, or its error."""

    model: str
    """The requested model, or `recorded` for the reply in the recording."""
    reply: Reply | None = None
    error: ErrorInfo | None = None
    cost_usd: float | None = None
    """The cost; None if the model's prices are not set."""
    duration_ms: int = 0


async def call(
    lines: Sequence[Line], event: str, models: Sequence[str], system: str | None = None, times: int = 1
) -> list[Replied]:
    """Return the recorded reply, then `times` replies of each model.

    `event` is the number or type of the event that led to the call; the model `offline` is the offline model.
    Raises NoSuchPoint, UnreadableEvent and ConfigurationError.
    """
    exchange, contents = _exchange(lines, event)
    model_call = exchange.calls[-1]
    request = complete_request(model_call, contents)
    request.pop("stream", None)
    if system is not None:
        request["system"] = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
    settings = load(EngineSettings)
    slots = asyncio.Semaphore(_CONCURRENCY)
    clients = {model: _model(model, settings) for model in dict.fromkeys(models)}
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_reply(clients[model], model, request, settings, slots))
                for model in models
                for _ in range(times)
            ]
    finally:
        for one in clients.values():
            await one.close()
    return [_recorded(model_call, exchange), *(task.result() for task in tasks)]


def _exchange(lines: Sequence[Line], event_name: str) -> tuple[ExchangeRecord, Mapping[str, Any]]:
    """Return the recorded exchange of an event, and all contents. Raises NoSuchPoint, which names events with calls."""
    event = event_at(lines, event_name)
    contents = {line.hash: line.content for line in lines if isinstance(line, ContentLine)}
    records = {record.of: record for record in records_in(lines, ExchangeRecord) if record.calls}
    if event.event.id not in records:
        recorded = [line for line in lines if isinstance(line, EventLine) and line.event.id in records]
        calls = ", ".join(f"{line.n} ({short_type(line.event.type)})" for line in recorded[:20])
        raise NoSuchPoint(
            f"Event {event.n}, {short_type(event.event.type)}, led to no model call.",
            hint=f"Choose one of these events: {calls}."
            if calls
            else "The recording contains no model calls.",
        )
    return records[event.event.id], contents


def _model(model: str, settings: EngineSettings) -> OwnedModel:
    models = {"--model": (model,)} if wire_of(model) == "chat" else {}
    return choose_model(provider_of(model), load_access(), settings.request_timeout_s, models)


async def _reply(
    client: OwnedModel,
    model: str,
    request: Mapping[str, object],
    settings: EngineSettings,
    slots: asyncio.Semaphore,
) -> Replied:
    """Return one reply, or its error."""
    prompt = cast(Prompt, {**request, "model": model})
    async with slots:
        began_s = monotonic_s()
        try:
            async with asyncio.timeout(settings.request_timeout_s):
                message = await client.reply(prompt, lambda text: None, lambda headers: None)
        except MODEL_ERRORS as error:
            hide_secrets(error, Redactor(secret_values()))
            return Replied(
                model, error=classify(error, wire_of(model)).error, duration_ms=_milliseconds_since(began_s)
            )
    is_default = model == load(PipelineSettings).model
    cost_usd = settings.priced_for(model, is_default=is_default).cost_usd(usage_of(message))
    return Replied(model, parse(message), None, cost_usd, _milliseconds_since(began_s))


def _recorded(model_call: ModelCall, exchange: ExchangeRecord) -> Replied:
    if model_call.reply is None:
        error = (
            model_call.error.failure if model_call.error else ErrorInfo(code="timeout", message="No reply.")
        )
        return Replied(RECORDED, error=error, duration_ms=model_call.duration_ms)
    message = message_of(model_call.reply)
    cost_usd = prices_in(exchange).cost_usd(usage_of(message))
    return Replied(RECORDED, parse(message), None, cost_usd, model_call.duration_ms)


def _milliseconds_since(began_s: float) -> int:
    return round((monotonic_s() - began_s) * 1000)
