"""One request to a model: one reply or one classified failure. The calls it takes are in exchange.py."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from antiphon_shared.events import (
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
)
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.redaction.redactor import WELL_KNOWN, Redactor

from reasoning_engine.call_guard import CallGuard
from reasoning_engine.exchange import Exchange
from reasoning_engine.exchange_record import OnCall
from reasoning_engine.failure import Failed, Failure
from reasoning_engine.model_call import CallOptions, build_call, estimate_call_tokens
from reasoning_engine.offer import Offer, tokens_of
from reasoning_engine.port import Model, OnText
from reasoning_engine.prompt import Prompt
from reasoning_engine.reply import Reply
from reasoning_engine.result_events import CallsResult, deadline_failure, reasoning_event, summary_event
from reasoning_engine.settings import EngineSettings
from reasoning_engine.summarize import build_summary_prompt

UNGUARDED = CallGuard()
"""For a model that needs no protection, such as the offline model."""


def discard(_: object) -> None:
    """Discard a value; the callback for output that has no observer, such as a summary in progress."""


async def reason(
    request: ReasoningRequested,
    briefing: str,
    offer: Offer,
    model: Model,
    on_text: OnText,
    settings: EngineSettings,
    *,
    model_id: str,
    seconds_left: float,
    guard: CallGuard = UNGUARDED,
    on_call: OnCall = discard,
    redactor: Redactor = WELL_KNOWN,
    system: str | None = None,
    schema: dict[str, Any] | None = None,
    validation_tools: Sequence[str] = (),
    on_schema_refused: Callable[[], None] = lambda: None,
) -> ReasoningCompleted | ReasoningFailed:
    """Return the model's reply within `seconds_left`, or a classified failure.

    `schema` is the JSON Schema that the answer must fit; `validation_tools` are the tools that must have
    accepted it. `on_schema_refused` is called when the server refuses the schema; `redactor` removes secrets
    from its errors. Failures of a model or its server are returned, never raised.
    """
    started = monotonic_s()
    call_options = CallOptions(schema, validation_tools, settings.output_style, settings.tool_style)

    def prompt_as(call_options: CallOptions) -> Prompt:
        return build_call(
            request, briefing, offer, model_id, settings.max_output_tokens, call_options, system=system
        )

    prompt = prompt_as(call_options)
    other = call_options.otherwise(prompt)
    prompt_tokens = estimate_call_tokens(prompt, offer, call_options)
    deadline = started + seconds_left
    exchange = Exchange(
        model, on_text, settings, deadline, prompt_tokens, guard=guard, on_call=on_call, redactor=redactor
    )
    otherwise = None if other is None else partial(prompt_as, other)
    reply = await _with_timeout(seconds_left, exchange, prompt, otherwise)
    if exchange.is_schema_refused:
        on_schema_refused()
    ended = CallsResult(reply, exchange.usage, exchange.attempts, _milliseconds_since(started))
    return reasoning_event(request, ended, model_id, prompt_tokens, settings.tool_style)


async def summarize(
    request: SummaryRequested,
    source: str,
    model: Model,
    settings: EngineSettings,
    *,
    seconds_left: float,
    guard: CallGuard = UNGUARDED,
    on_call: OnCall = discard,
    redactor: Redactor = WELL_KNOWN,
) -> SummaryCompleted | SummaryFailed:
    """Return a summary of `source` by the cheaper model, or a classified failure.

    Failures of a model or its server are returned, never raised.
    """
    started = monotonic_s()
    seconds_left = min(seconds_left, settings.summary_timeout_s)
    prompt = build_summary_prompt(request, source, settings.summary_model)
    exchange = Exchange(
        model,
        discard,
        settings.for_summaries(),
        started + seconds_left,
        tokens_of(prompt),
        guard=guard,
        on_call=on_call,
        redactor=redactor,
    )
    reply = await _with_timeout(seconds_left, exchange, prompt)
    ended = CallsResult(reply, exchange.usage, exchange.attempts, _milliseconds_since(started))
    return summary_event(request, ended, settings.summary_model)


async def _with_timeout(
    seconds_left: float,
    exchange: Exchange,
    prompt: Prompt,
    otherwise: Callable[[], Prompt] | None = None,
) -> Reply | Failure:
    """Return the reply, or the failure, `timeout` included."""
    try:
        if seconds_left <= 0:
            raise TimeoutError
        async with asyncio.timeout(seconds_left):
            return await exchange.reply_to(prompt, otherwise)
    except TimeoutError:
        return deadline_failure()
    except Failed as failed:
        return failed.failure


def _milliseconds_since(started: float) -> int:
    return round((monotonic_s() - started) * 1000)
