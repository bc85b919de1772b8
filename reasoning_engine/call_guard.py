"""The guard of calls to a model: its limits, and the circuit breaker that all processes share.

    permit = await guard.enter(model_id, prompt_tokens, output_tokens_max, wait_s)
    with permit:
        message = await model.reply(prompt, on_text, permit.reply_begun)
        permit.replied(usage_of(message))

Every admitted call reports how it ended, also when it is dropped: it may be the breaker's probe.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

from antiphon_shared.breakers.breaker import Allowed, RefusedCall
from antiphon_shared.breakers.table import model_breaker
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.values import Usage

from reasoning_engine.failure import Failed, Failure, failure
from reasoning_engine.limits.headers import limits_in
from reasoning_engine.limits.limiter import Limiter, Reservation, TooLate
from reasoning_engine.limits.meters import Spending
from reasoning_engine.wires import wire_of

_FAILS_THE_MODEL = frozenset(
    {
        "overloaded",
        "server_error",
        "timeout",
        "connection_failed",
        "unreadable_reply",
    }
)
"""Failures that the breaker counts: any other call to the model would have failed too, and later ones may succeed.

A refused key, permission or name is not among them, as waiting does not help. The session gets that error at
once, and tries another model or ends; it does not wait for the circuit to close.
"""


class Rejected(Failed):
    """The model must not be called now; a retry within the same exchange does not help."""


class Breakers(Protocol):
    """Circuit breakers by name; see shared/antiphon_shared/bus/breakers.py."""

    async def ask(self, name: str) -> Allowed | RefusedCall: ...

    def note(self, name: str, is_failure: bool) -> None: ...


class CallGuard:
    """The guard that admits calls in turn, and only while the model's circuit is closed.

    Without a limiter and breakers it admits every call. A reply slower than `slow_s` counts as failed,
    although it is used.
    """

    def __init__(
        self,
        limiter: Limiter | None = None,
        breakers: Breakers | None = None,
        slow_s: float | None = None,
        pause_max_s: float = 30.0,
    ) -> None:
        self.limiter, self.breakers, self.slow_s, self.pause_max_s = limiter, breakers, slow_s, pause_max_s

    async def enter(
        self, model_id: str, prompt_tokens: int, output_tokens_max: int, wait_s: float
    ) -> "Permit":
        """Wait until the call may begin, and return its permit.

        Raises Rejected if it may not begin within `wait_s`.
        """
        permit = Permit(self, model_id)
        try:
            if self.limiter is not None:
                permit.reservation = await self.limiter.reserve(
                    model_id, prompt_tokens, output_tokens_max, wait_s
                )
            if self.breakers is not None:
                answer = await self.breakers.ask(model_breaker(model_id))
                if isinstance(answer, RefusedCall):
                    raise Rejected(_open(model_id, answer.retry_after_s))
                permit.allowed = answer
        except TooLate as late:
            raise Rejected(_limited(model_id, late.retry_after_s)) from None
        except BaseException:
            permit.give_back()
            raise
        permit.began_s = monotonic_s()
        return permit


class Permit:
    """One admitted call."""

    def __init__(self, guard: CallGuard, model_id: str) -> None:
        self.reservation: Reservation | None = None
        self.allowed: Allowed | None = None
        self.began_s = 0.0
        self.has_received = False
        self._guard, self._model_id = guard, model_id

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Count a call that ended without `replied` or `failed`.

        A dropped call reveals nothing about the model, unless it took too long, or a reply had begun. A probe
        must always be counted; one that received nothing must not close the circuit.
        """
        if self.has_received or self._is_slow or self._is_probe:
            self._note(self._is_slow or not self.has_received)
        self.allowed = None

    def reply_begun(self, headers: Mapping[str, str]) -> None:
        """Note that a reply begins, and learn the limits in its headers."""
        self.has_received = True
        if self._guard.limiter is not None:
            self._guard.limiter.learn(self._model_id, limits_in(headers, wire_of(self._model_id)))

    def replied(self, usage: Usage) -> None:
        """Count a successful call, and settle its reservation."""
        self._note(self._is_slow)
        if self.reservation is not None:
            self.reservation.replied(Spending.of(usage))

    def failed(self, failure: Failure, usage: Usage | None) -> None:
        """Count a failed call; `usage` is None where only the reservation is known."""
        is_limited = failure.error.code == "rate_limited"
        if self._guard.limiter is not None:
            pause_s = min(failure.retry_after_s or 0.0, self._guard.pause_max_s) if is_limited else 0.0
            self._guard.limiter.learn(
                self._model_id, limits_in(failure.headers, wire_of(self._model_id)), pause_s
            )
        if is_limited and not self._is_probe:
            self.allowed = None  # neither a failure of the model nor a sign of its health
        self._note(failure.error.code in _FAILS_THE_MODEL)
        if self.reservation is not None and usage is not None:
            self.reservation.settle(Spending.of(usage))

    def give_back(self) -> None:
        """Release the reservation of a call that is not made."""
        if self.reservation is not None:
            self.reservation.settle(Spending(requests=0))

    def _note(self, is_failure: bool) -> None:
        """Count the call in the breaker, once."""
        if self._guard.breakers is not None and self.allowed is not None:
            self._guard.breakers.note(model_breaker(self._model_id), is_failure)
        self.allowed = None

    @property
    def _is_probe(self) -> bool:
        """Return whether the call is the breaker's probe: until it is counted, no other call is admitted."""
        return self.allowed is not None and self.allowed.state.probed is not None

    @property
    def _is_slow(self) -> bool:
        slow_s = self._guard.slow_s
        return slow_s is not None and monotonic_s() - self.began_s > slow_s


def _open(model_id: str, retry_after_s: float) -> Failure:
    message = f"The model {model_id} keeps failing. It is not called for another {retry_after_s:.0f} s"
    return failure("circuit_open", message, retry_after_s=max(0.0, retry_after_s))


def _limited(model_id: str, retry_after_s: float) -> Failure:
    message = f"The limits of the model {model_id} allow no further call for {retry_after_s:.0f} s"
    return failure("rate_limited", message, retry_after_s=retry_after_s)
