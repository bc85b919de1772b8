"""The calls to a model for one request: retries, backoff, empty replies, time and usage."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import structlog
from antiphon_shared import faults
from antiphon_shared.events.step_records import ModelCall
from antiphon_shared.process.clock import milliseconds, monotonic_s
from antiphon_shared.redaction.redactor import WELL_KNOWN, Redactor
from antiphon_shared.values import Usage
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential, wait_random

from reasoning_engine.call_guard import CallGuard, Permit, Rejected
from reasoning_engine.dialogue import dialogue
from reasoning_engine.exchange_record import OnCall, message_json, request_json, safe_headers
from reasoning_engine.failure import Failed
from reasoning_engine.model_errors import MODEL_ERRORS, Interrupted, classify, error_json, hide_secrets
from reasoning_engine.port import Model, OnText
from reasoning_engine.prompt import Prompt
from reasoning_engine.reply import Reply, usage_of
from reasoning_engine.settings import EngineSettings
from reasoning_engine.wires import Wire, wire_of

if TYPE_CHECKING:
    from anthropic.types import Message

BEGINS_AGAIN = "\n\n*The reply broke off and begins again.*\n\n"
"""For observers of the text as it arrives; it is not part of any answer."""


class Exchange:
    """The calls made for one request, and their usage."""

    def __init__(
        self,
        model: Model,
        on_text: OnText,
        settings: EngineSettings,
        deadline: float,
        prompt_tokens: int,
        *,
        guard: CallGuard,
        on_call: OnCall,
        redactor: Redactor = WELL_KNOWN,
    ) -> None:
        """`deadline`: on the monotonic clock. `prompt_tokens`: estimated, for the whole prompt."""
        self.attempts = 0
        self.usage = Usage(cost_usd=0.0)
        self.is_schema_refused = False
        self._failures = 0
        self._has_received_text = False
        self._model, self._on_text, self._settings, self._deadline = model, on_text, settings, deadline
        self._prompt_tokens, self._guard, self._on_call = prompt_tokens, guard, on_call
        self._redactor = redactor
        self._prices = settings.prices_in_force

    async def reply_to(self, prompt: Prompt, otherwise: Callable[[], Prompt] | None = None) -> Reply:
        """Return a reply with text or tool calls; use `otherwise` where the schema is refused. Raises Failed."""
        steps = dialogue(prompt, otherwise)
        try:
            ask = next(steps)
            while True:
                try:
                    message = await self._ask(ask)
                except Failed as failed:
                    ask = steps.throw(failed)
                    self._schema_refused(prompt["model"], failed)
                else:
                    ask = steps.send(message)
        except StopIteration as ended:
            reply: Reply = ended.value
            return reply

    def _schema_refused(self, model: str, failed: Failed) -> None:
        self.is_schema_refused = True
        structlog.get_logger().warning(
            "schema_refused", model=model, error=failed.failure.error.message, instead="the tool final_answer"
        )

    async def _ask(self, prompt: Prompt) -> "Message":
        """Return one complete message, after any retries. Raises Failed."""
        try:
            return await self._attempt(prompt)
        except Failed as failed:
            return await self._ask_again(prompt, failed)

    async def _ask_again(self, prompt: Prompt, first: Failed) -> "Message":
        """Return the message of a later attempt, if the first failure may be retried. Raises Failed."""
        failures = iter((first,))

        async def attempt() -> "Message":
            # Tenacity starts with the attempt that has failed: most requests never need the library.
            if failed := next(failures, None):
                raise failed
            return await self._attempt(prompt)

        retrying = AsyncRetrying(
            retry=retry_if_exception(_is_retryable),
            stop=self._is_over,
            wait=self._pause_s,
            before_sleep=self._announce,
            reraise=True,
        )
        message: Message = await retrying(attempt)
        return message

    async def _attempt(self, prompt: Prompt) -> "Message":
        """Wait for admission, then make one call; the wait does not count against the call's timeout."""
        wait_s = self._deadline - monotonic_s()
        permit = await self._guard.enter(prompt["model"], self._prompt_tokens, prompt["max_tokens"], wait_s)
        self.attempts += 1
        self._has_received_text = False
        began_s, recorded = monotonic_s(), dict[str, Any]()
        try:
            with permit:
                return await self._call(prompt, permit, recorded)
        finally:
            duration_ms = milliseconds(monotonic_s() - began_s)
            self._on_call(
                ModelCall.trusted(
                    request=request_json(prompt),
                    reply=recorded.get("reply"),
                    error=recorded.get("error"),
                    headers=recorded.get("headers", {}),
                    duration_ms=duration_ms,
                )
            )

    async def _call(self, prompt: Prompt, permit: Permit, recorded: dict[str, Any]) -> "Message":
        """Make one admitted call; `recorded` collects its outcome for the step record."""

        def learn_headers(headers: Mapping[str, str]) -> None:
            recorded["headers"] = safe_headers(headers)
            permit.reply_begun(headers)

        try:
            async with asyncio.timeout(self._settings.request_timeout_s):
                await faults.pass_point("model.before")
                message = await self._model.reply(prompt, self._receive_text, learn_headers)
                await faults.pass_point("model.after")
        except MODEL_ERRORS as error:
            hide_secrets(error, self._redactor)
            failed = self._failed(permit, error, wire_of(prompt["model"]))
            recorded["error"] = error_json(error, failed.failure)
            raise failed from error
        recorded["reply"] = message_json(message)
        usage = usage_of(message)
        permit.replied(usage)
        self._spend(usage)
        return message

    def _failed(self, permit: Permit, error: Exception, wire: Wire) -> Failed:
        self._failures += 1
        classified = classify(error, wire)
        used = Usage() if classified.headers else None  # an error response: no tokens were used
        if isinstance(error, Interrupted):
            used = usage_of(error.partial)
            self._spend(used)
        permit.failed(classified, used)
        return Failed(classified)

    def _receive_text(self, text: str) -> None:
        self._has_received_text = True
        self._on_text(text)

    def _spend(self, usage: Usage) -> None:
        self.usage = self._prices.total(self.usage, usage)

    def _is_over(self, state: RetryCallState) -> bool:
        if self._failures >= self._settings.max_attempts:
            return True
        return monotonic_s() + state.upcoming_sleep >= self._deadline

    def _pause_s(self, state: RetryCallState) -> float:
        """Return exponential backoff with jitter, or the server's retry-after if longer, up to the setting's limit."""
        error, settings = _error(state), self._settings
        retry_after_s = error.failure.retry_after_s if isinstance(error, Failed) else None
        longer = wait_exponential(multiplier=settings.backoff_initial_s, max=settings.backoff_max_s)
        backoff = longer + wait_random(0, settings.backoff_initial_s)
        return max(backoff(state), min(retry_after_s or 0.0, settings.retry_after_max_s))

    def _announce(self, state: RetryCallState) -> None:
        error = _error(state)
        structlog.get_logger().warning(
            "model_call_retried", attempt=self.attempts, wait_s=state.upcoming_sleep, error=str(error)
        )
        if self._has_received_text:
            self._on_text(BEGINS_AGAIN)


def _is_retryable(error: BaseException) -> bool:
    return isinstance(error, Failed) and not isinstance(error, Rejected) and error.failure.error.retryable


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
