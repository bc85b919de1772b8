"""The recorded model of a session: the SDK with a transport that answers from the recording, without any connection.

A request that was not recorded is refused with status 400.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial

import httpx2
from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
from antiphon_shared.events import ReasoningFailed
from antiphon_shared.events.step_records import ModelError
from pydantic_core import from_json, to_json

from antiphon.replay.serving.exchanges import Exchanges
from antiphon.replay.serving.messages import error_body, error_events, message_events, unfinished_events
from antiphon.replay.serving.recording_index import Exchange
from reasoning_engine.call_guard import CallGuard, Permit, Rejected
from reasoning_engine.failure import Failure
from reasoning_engine.model import AnthropicModel
from reasoning_engine.model_errors import UnreadableReply

_URL = "https://recorded.invalid"
_TRANSPORT_HEADERS = frozenset({"content-type", "content-length", "transfer-encoding", "connection"})


@dataclass(slots=True)
class ExchangeInFlight:
    """A repeated exchange in flight, and the number of its calls so far."""

    exchange: Exchange
    calls: int = 0


exchange_in_flight: ContextVar[ExchangeInFlight | None] = ContextVar("under_way", default=None)


class RecordedModel(AnthropicModel):
    """The model of one session; a recorded connection failure occurs again in the same way."""

    def __init__(self, exchanges: Exchanges, is_offline: bool) -> None:
        client = DefaultAsyncHttpxClient(transport=httpx2.MockTransport(partial(_answer, exchanges)))
        super().__init__(AsyncAnthropic(api_key="recorded", base_url=_URL, max_retries=0, http_client=client))
        self.is_offline = is_offline


async def _answer(exchanges: Exchanges, request: httpx2.Request) -> httpx2.Response:
    """Return the recorded response to a request."""
    recorded = exchanges.take(from_json(request.content))
    if recorded is None:
        return _response(400, {}, error_body("invalid_request_error", "The recording holds no such request."))
    if recorded.is_unanswered:
        await asyncio.Event().wait()  # until the time of the exchange is over
    if recorded.call.error is not None:
        return _failed(recorded.call.error)
    assert recorded.call.reply is not None, "an answered call has a reply or an error"
    return _streamed(recorded.call.headers, message_events(recorded.call.reply))


class _BrokenStream(httpx2.AsyncByteStream):
    """A response whose stream breaks."""

    def __init__(self, events: bytes, error: Exception) -> None:
        self._events, self._error = events, error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._events:
            yield self._events
        raise self._error


class RecordedCallGuard(CallGuard):
    """A guard that allows the recorded number of calls of an exchange, then rejects as recorded.

    So breakers and limits, which other sessions influenced, have their recorded effect.
    """

    async def enter(self, model_id: str, prompt_tokens: int, output_tokens_max: int, wait_s: float) -> Permit:
        now = exchange_in_flight.get()
        if now is not None:
            failure = now.exchange.failure
            if failure is not None and now.calls >= len(now.exchange.calls):
                retry_after_s = failure.retry_after_s if isinstance(failure, ReasoningFailed) else None
                raise Rejected(Failure(failure.error, retry_after_s))
            now.calls += 1
        return await super().enter(model_id, prompt_tokens, output_tokens_max, wait_s)


def _failed(error: ModelError) -> httpx2.Response:
    """Return a recorded error: a response with its status, an error within a stream, or a stream that breaks."""
    events = b"" if error.partial is None else unfinished_events(error.partial)
    if error.status is None:
        return _streamed(error.headers, _BrokenStream(events, _broken(error.failure.code)))
    if error.partial is not None or error.status == 200:
        return _streamed(error.headers, events + error_events(error.body))
    body = error.body.encode() if isinstance(error.body, str) else to_json(error.body)
    return _response(error.status, error.headers, body)


def _streamed(headers: Mapping[str, str], events: bytes | httpx2.AsyncByteStream) -> httpx2.Response:
    return _response(200, headers, events, "text/event-stream")


def _response(
    status: int,
    headers: Mapping[str, str],
    content: bytes | httpx2.AsyncByteStream,
    content_type: str = "application/json",
) -> httpx2.Response:
    response_headers = {
        name: value for name, value in headers.items() if name.lower() not in _TRANSPORT_HEADERS
    }
    return httpx2.Response(
        status, headers={**response_headers, "content-type": content_type}, content=content
    )


def _broken(code: str) -> Exception:
    match code:
        case "timeout":
            return TimeoutError("as recorded")
        case "unreadable_reply":
            return UnreadableReply("as recorded")
        case _:
            return ConnectionError("as recorded")
