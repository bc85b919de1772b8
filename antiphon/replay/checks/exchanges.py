"""The engine's exchanges with a model, repeated with today's prompts and today's parsing of the recorded replies.

The remaining time, the limits and the breakers, which determine the calls, are inputs. The requests, the parsing of
each reply, and the result of the exchange are made again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from antiphon_shared.events import (
    QuerySubmitted,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
)
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.events.step_records import ExchangeRecord, ModelCall
from antiphon_shared.memory.briefing import digest_of
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.values import Usage
from pydantic_core import to_jsonable_python

from antiphon.replay.checks.briefings import Briefings
from antiphon.replay.checks.catalogues import offer_of
from antiphon.replay.differences import ABSENT, Difference, differences
from antiphon.replay.requests import complete_request, prices_in, system_in
from antiphon.replay.steps.replay_state import RecordingContent, RepeatedStep, Step
from reasoning_engine.dialogue import Dialogue, dialogue
from reasoning_engine.exchange_record import failure_of, message_of, request_json
from reasoning_engine.failure import Failed, Failure
from reasoning_engine.model_call import CallOptions, build_call, estimate_call_tokens
from reasoning_engine.offer import NO_TOOLS
from reasoning_engine.prompt import Prompt
from reasoning_engine.reply import Reply, usage_of
from reasoning_engine.result_events import (
    NOT_SUPPORTED,
    CallsResult,
    deadline_failure,
    reasoning_event,
    summary_event,
)
from reasoning_engine.summarize import build_summary_prompt
from reasoning_engine.wires import wire_of

if TYPE_CHECKING:
    from anthropic.types import Message

_CODES_WITHOUT_CALL = ("timeout", "circuit_open", "rate_limited")
"""Codes of failures without a call: the time was over, or no further call was allowed."""

_Outcome = ReasoningCompleted | ReasoningFailed | SummaryCompleted | SummaryFailed


class Exchanges:
    """The repetition of exchanges. Prompts contain today's briefings; if those differ, the sent ones."""

    def __init__(self, briefings: Briefings) -> None:
        self._briefings = briefings

    def redo(self, step: Step, content: RecordingContent) -> RepeatedStep:
        """Repeat an exchange with today's code. Raises UnreadableEvent if the recording lacks a part of the prompt."""
        request, record = step.line.event.data, step.record
        replied = next(iter(step.sent), None)
        if not isinstance(record, ExchangeRecord) or not isinstance(replied, _Outcome):
            raise UnreadableEvent(f"an exchange was recorded for a {request.type}.")
        sent = [complete_request(call, content.contents) for call in record.calls]
        replayed = _ReplayedCalls(record, sent, replied)
        match request:
            case _ if not record.calls:
                return RepeatedStep((_outcome_without_call(replied, record),), record=record)
            case ReasoningRequested():
                return self._reasoning(request, replayed, content)
            case SummaryRequested():
                return self._summary(request, replayed)
            case _:
                raise UnreadableEvent(f"an exchange was recorded for a {request.type}.")

    def _reasoning(
        self, request: ReasoningRequested, replayed: "_ReplayedCalls", content: RecordingContent
    ) -> RepeatedStep:
        record = replayed.record
        names = request.tools
        offer = offer_of(content.catalogue(request.catalogue), names) if names else NO_TOOLS
        model_id = request.model or record.default_model

        system = system_in(replayed.sent[0]) if record.has_own_prompt else None

        schema, validation_tools = _options(request, content).demanded(request.step)
        options = CallOptions(schema, validation_tools, record.output_style, record.tool_style)

        def prompt_on(briefing: str, options: CallOptions = options) -> Prompt:
            return build_call(
                request, briefing, offer, model_id, record.max_output_tokens, options, system=system
            )

        briefing = self._briefings.newest.get(request.briefing)
        if briefing is None:
            suffix = _text_in(dict(prompt_on("")))
            briefing = _briefing_in(suffix, _text_in(replayed.sent[0]), request.briefing)
            replayed.texts = (request.briefing, briefing, self._briefings.text)
        prompt = prompt_on(briefing)
        other = options.otherwise(prompt)
        ended = replayed.ended(prompt, None if other is None else partial(prompt_on, briefing, other))
        if ended is None:
            return replayed.redone(replayed.outcome)
        estimated = 0 if record.is_offline else estimate_call_tokens(prompt, offer, options)
        return replayed.redone(reasoning_event(request, ended, model_id, estimated, record.tool_style))

    def _summary(self, request: SummaryRequested, replayed: "_ReplayedCalls") -> RepeatedStep:
        source, model_id = self._briefings.sources.get(request.source), replayed.record.default_model
        if source is None:
            raise UnreadableEvent("the text to summarize is another one today.")
        ended = replayed.ended(build_summary_prompt(request, source, model_id))
        return replayed.redone(replayed.outcome if ended is None else summary_event(request, ended, model_id))


def _options(request: ReasoningRequested, content: RecordingContent) -> QueryOptions:
    """Return the query's options for its answer. Raises UnreadableEvent."""
    query = content.data(request.output, QuerySubmitted)
    return QueryOptions() if query is None else query.options


@dataclass
class _ReplayedCalls:
    """The recorded calls with their recorded replies, and today's requests."""

    record: ExchangeRecord
    sent: list[dict[str, Any]]
    """The recorded requests, whole."""
    outcome: _Outcome
    """The recorded outcome."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Today's requests."""
    others: list[tuple[str, Difference]] = field(default_factory=list)
    texts: tuple[str, str, str] | None = None

    def ended(self, prompt: Prompt, otherwise: Callable[[], Prompt] | None = None) -> CallsResult | None:
        """Return the result of the calls by today's code; None if it needs more calls than were recorded."""
        prices, usage = prices_in(self.record), Usage(cost_usd=0.0)
        talk = dialogue(prompt, otherwise)
        ask = next(talk)
        reply: Reply | Failure | None = None
        for call in self.record.calls:
            self.requests.append(request_json(ask))
            message, failed = _reply_or_failure(call)
            if message is not None:
                usage = prices.total(usage, usage_of(message))
            self._compare_error(call, failed)
            is_last = len(self.requests) == len(self.sent)
            if failed is None and message is not None:
                ask, reply = _continued(talk, message, ask)
            elif failed is not None and failed.is_of_schema and otherwise is not None:
                ask = talk.throw(Failed(failed))
                otherwise = None
            elif failed is not None and (is_last or not failed.error.retryable):
                reply = failed
            if is_last and (reply is None or failed is not None):
                reply = self._external_failure(call) or reply
            if reply is not None:
                return CallsResult(reply, usage, len(self.requests), self.outcome.duration_ms)
        self.requests.append(request_json(ask))
        return None

    def _compare_error(self, call: ModelCall, failed: Failure | None) -> None:
        """Compare an error's classification, and the wait before the next call, with the recorded ones."""
        if failed is None or call.error is None:
            return
        then, now = (
            {**error.model_dump(mode="json"), "retry_after_s": wait_s}
            for error, wait_s in (
                (call.error.failure, call.error.retry_after_s),
                (failed.error, failed.retry_after_s),
            )
        )
        error_differences = differences(then, now, f"calls[{len(self.requests) - 1}].error")
        self.others += [("error", one) for one in error_differences]

    def _external_failure(self, last: ModelCall) -> Failure | None:
        """Return the failure after the last call, if that call did not cause it; else None."""
        error = getattr(self.outcome, "error", None)
        is_own = last.error is not None and error == last.error.failure
        if error is None or is_own or error.code not in _CODES_WITHOUT_CALL:
            return None
        if error.code == "timeout":
            return deadline_failure()
        return Failure(error, getattr(self.outcome, "retry_after_s", None))

    def redone(self, outcome: _Outcome) -> RepeatedStep:
        """Return the repeated step, with the differences of the requests."""
        others = [*self.others, *(("request", one) for one in self._differences())]
        return RepeatedStep((outcome,), tuple(others), self._record() if others else self.record, self.texts)

    def _differences(self) -> Iterator[Difference]:
        """Yield the differences of the requests."""
        for n in range(max(len(self.sent), len(self.requests))):
            then = self.sent[n] if n < len(self.sent) else ABSENT
            now = self.requests[n] if n < len(self.requests) else ABSENT
            if then != now:
                yield from differences(then, to_jsonable_python(now), f"calls[{n}]")

    def _record(self) -> ExchangeRecord:
        """Return the record with today's requests, for the recorded calls."""
        calls = [
            call.model_copy(update={"request": _as_recorded(call.request, then, to_jsonable_python(now))})
            for call, then, now in zip(self.record.calls, self.sent, self.requests, strict=False)
        ]
        return self.record.model_copy(update={"calls": tuple(calls)})


def _reply_or_failure(call: ModelCall) -> "tuple[Message | None, Failure | None]":
    """Return the message, whole or partial, and the failure."""
    if call.reply is not None:
        return message_of(call.reply), None
    if call.error is None:
        return None, deadline_failure()
    message = None if call.error.partial is None else message_of(call.error.partial)
    return message, failure_of(call.error, wire_of(call.request.get("model")))


def _continued(talk: Dialogue, message: "Message", prompt: Prompt) -> tuple[Prompt, Reply | Failure | None]:
    """Return the next request and None, or the last request and the result."""
    try:
        return talk.send(message), None
    except StopIteration as end:
        reply: Reply = end.value
        return prompt, reply
    except Failed as error:
        return prompt, error.failure


def _outcome_without_call(outcome: _Outcome, record: ExchangeRecord) -> _Outcome:
    """Return the recorded outcome of an exchange without a call; an offline summary gets today's error."""
    if record.is_offline and isinstance(outcome, SummaryFailed):
        return outcome.model_copy(update={"error": NOT_SUPPORTED})
    return outcome


def _text_in(request: dict[str, Any]) -> str:
    """Return the text of the one user message."""
    match request.get("messages"):
        case [{"content": str(text)}, *_]:
            return text
        case _:
            return ""


def _briefing_in(suffix: str, sent: str, digest: str) -> str:
    """Return the briefing that was sent. Raises UnreadableEvent when the text after it has changed too."""
    text = sent.removesuffix(suffix)
    if digest_of(text) != digest:
        raise UnreadableEvent("neither the briefing nor the text after it in the prompt is as it was.")
    return text


def _as_recorded(recorded: dict[str, Any], then: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return today's request; unchanged parts keep their recorded form, the hash of their content."""
    return {name: recorded[name] if then.get(name) == value else value for name, value in now.items()}
