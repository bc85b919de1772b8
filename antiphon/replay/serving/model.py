"""The access of a session's engine to the recorded model, and the limits on it."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass

from anthropic.types import Message
from antiphon_shared.events import ReasoningFailed

from antiphon.replay.serving.model_server import BREAKS, SESSION
from antiphon.replay.serving.recording_index import Exchange
from reasoning_engine.call_guard import CallGuard, Permit, Rejected
from reasoning_engine.failure import Failure
from reasoning_engine.model import AnthropicModel
from reasoning_engine.model_errors import MODEL_ERRORS, Interrupted, UnreadableReply
from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prompt import Prompt


@dataclass(slots=True)
class UnderWay:
    """A repeated exchange, and the number of its calls so far."""

    exchange: Exchange
    calls: int = 0


under_way: ContextVar[UnderWay | None] = ContextVar("under_way", default=None)


class RecordedModel:
    """The model of one session. A recorded connection failure occurs again in the same way."""

    def __init__(self, model: AnthropicModel, session_id: str, is_offline: bool) -> None:
        self._model, self.is_offline = model.with_headers({SESSION: session_id}), is_offline

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        """See `reasoning_engine.model.Model`."""
        broken = ""

        def hear(headers: Mapping[str, str]) -> None:
            nonlocal broken
            broken = headers.get(BREAKS, "")
            on_headers({name: value for name, value in headers.items() if name != BREAKS})

        try:
            return await self._model.reply(prompt, on_text, hear)
        except Interrupted as error:
            if broken:
                raise Interrupted(error.partial) from _broken(broken)
            raise
        except MODEL_ERRORS:
            if broken:
                raise _broken(broken) from None
            raise


class RecordedCallGuard(CallGuard):
    """A guard that allows the recorded number of calls of an exchange, then rejects as recorded.

    So breakers and limits, on which other sessions had an influence, have their recorded effect.
    """

    async def enter(self, model_id: str, prompt_tokens: int, output_tokens_max: int, wait_s: float) -> Permit:
        now = under_way.get()
        if now is not None:
            failure = now.exchange.failure
            if failure is not None and now.calls >= len(now.exchange.calls):
                retry_after_s = failure.retry_after_s if isinstance(failure, ReasoningFailed) else None
                raise Rejected(Failure(failure.error, retry_after_s))
            now.calls += 1
        return await super().enter(model_id, prompt_tokens, output_tokens_max, wait_s)


def _broken(code: str) -> Exception:
    match code:
        case "timeout":
            return TimeoutError("as recorded")
        case "unreadable_reply":
            return UnreadableReply("as recorded")
        case _:
            return ConnectionError("as recorded")
