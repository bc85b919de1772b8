"""The limiter: every call to a model waits for its turn, in one order for all engines.

    reservation = await limiter.reserve(model, prompt_tokens, output_tokens_max, wait_s)
    ...  # the call; limits in the server's headers go to limiter.learn
    reservation.settle(spent)

The scripts do the arithmetic, on Redis's clock. While Redis is unavailable, calls are made without limits.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

import structlog
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.scripts import Script, script_of
from antiphon_shared.bus.wire import Argument
from antiphon_shared.process.clock import monotonic_s
from redis.exceptions import RedisError

from reasoning_engine.limits.headers import ReportedLimits
from reasoning_engine.limits.meters import METERS, Guess, Limits, Meter, Spending

_RESERVE, _LEARN, _SETTLE = (script_of(__name__, name) for name in ("reserve", "learn", "settle"))
_ANSWER_S = 1.0
"""The time allowed for Redis to reply, in seconds; after it the call is made without a reservation."""
_SECOND_US, _MINUTE_US = 1_000_000, 60_000_000
_MODELS_MAX = 256
"""The number of models with an estimate of usage; clients may name any model."""
_NO_CALL = Spending(requests=0)
_UNREPORTED = ReportedLimits(0)


class TooLate(Exception):
    """The call's turn comes later than the call can wait."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"the model's limits allow no call for {retry_after_s:.1f} s")
        self.retry_after_s = retry_after_s


class Scripts(Protocol):
    """A runner of scripts, such as a Batcher."""

    def run(self, script: Script, keys: list[str], arguments: list[Argument]) -> Awaitable[Any]: ...


class Limiter:
    """One process's access to the limiters of all models."""

    def __init__(self, scripts: Scripts, keys: Keys, limits: Limits) -> None:
        self._scripts, self._keys, self._limits = scripts, keys, limits
        self._guesses: dict[str, Guess] = {}
        self._in_background: set[asyncio.Task[None]] = set()

    async def reserve(
        self, model: str, prompt_tokens: int, output_tokens_max: int, wait_s: float
    ) -> "Reservation":
        """Wait for the call's turn, in order of arrival; return its reservation, which must be settled in any case.

        Raises TooLate at once when the turn is more than `wait_s` away. A cancelled caller releases its turn.
        """
        expected = self._guesses.get(model, Guess()).of(prompt_tokens, output_tokens_max)
        ends_s = monotonic_s() + wait_s
        while True:
            pause_s, start, rates = await self._ask(model, expected, ends_s - monotonic_s())
            reservation = Reservation(self, model, prompt_tokens, expected, start, rates)
            if pause_s <= 0:
                return reservation
            try:
                await asyncio.sleep(pause_s)
                # Since the turn was assigned, the server may have asked for a pause, which revokes it.
                pause_s, _, _ = await self._ask(model, _NO_CALL, ends_s - monotonic_s())
                if pause_s <= 0:
                    return reservation
            except BaseException:
                reservation.settle(_NO_CALL)
                raise
            reservation.settle(_NO_CALL)
            await asyncio.sleep(pause_s)

    def learn(self, model: str, reported: Mapping[Meter, ReportedLimits], pause_s: float = 0.0) -> None:
        """Share a server's reported limits with all engines; `pause_s`: how long it asks for no calls."""
        if not reported and pause_s <= 0:
            return
        arguments: list[Argument] = [round(pause_s * _SECOND_US), self._burst_us]
        for meter, limit in zip(METERS, self._limits.by_meter, strict=True):
            one = reported.get(meter, _UNREPORTED)
            arguments += [limit, one.limit, -1 if one.remaining is None else one.remaining]
        self._run_in_background(_LEARN, model, arguments)

    async def flushed(self) -> None:
        """Wait until everything shared so far has reached Redis."""
        await asyncio.gather(*self._in_background)

    async def _ask(self, model: str, use: Spending, wait_s: float) -> tuple[float, str, tuple[int, ...]]:
        """Return the seconds to wait, the turn, and the limits in force. Raises TooLate.

        The turn is empty if Redis does not reply.
        """
        arguments: list[Argument] = [max(0, round(wait_s * _SECOND_US)), self._burst_us]
        for limit, units in zip(self._limits.by_meter, use.by_meter, strict=True):
            arguments += [limit, units]
        answer = await _reply_or_none(self._scripts.run(_RESERVE, [self._keys.limiter(model)], arguments))
        if answer is None:
            return 0.0, "", ()
        pause_s = answer[1] / _SECOND_US
        if not answer[0]:
            raise TooLate(pause_s)
        return pause_s, answer[2].decode(), tuple(answer[3:])

    def _settle(self, reservation: "Reservation", spent: Spending) -> None:
        arguments: list[Argument] = [reservation.start]
        amounts = zip(reservation.rates, reservation.expected.by_meter, spent.by_meter, strict=True)
        changes = [
            round((used - expected) * _MINUTE_US / rate) if rate else 0 for rate, expected, used in amounts
        ]
        if any(changes):
            self._run_in_background(_SETTLE, reservation.model, arguments + list(changes))

    def _learn_from(self, reservation: "Reservation", used: Spending) -> None:
        model = reservation.model
        if len(self._guesses) >= _MODELS_MAX and model not in self._guesses:
            self._guesses.clear()
        self._guesses[model] = self._guesses.get(model, Guess()).updated(reservation.prompt_tokens, used)

    def _run_in_background(self, script: Script, model: str, arguments: list[Argument]) -> None:
        """Run a script without waiting: the caller does not depend on its result."""

        async def run() -> None:
            await _reply_or_none(self._scripts.run(script, [self._keys.limiter(model)], arguments))

        task = asyncio.create_task(run())
        self._in_background.add(task)
        task.add_done_callback(self._in_background.discard)

    @property
    def _burst_us(self) -> int:
        return round(self._limits.burst_s * _SECOND_US)


class Reservation:
    """One call's turn, and its expected usage."""

    def __init__(
        self,
        limiter: Limiter,
        model: str,
        prompt_tokens: int,
        expected: Spending,
        start: str,
        rates: tuple[int, ...],
    ) -> None:
        self.model, self.prompt_tokens, self.expected = model, prompt_tokens, expected
        self.start, self.rates = start, rates
        self._limiter = limiter

    def replied(self, used: Spending) -> None:
        """Settle with the usage of a reply, and learn from it for the next estimate."""
        self._limiter._learn_from(self, used)
        self.settle(used)

    def settle(self, used: Spending) -> None:
        """Return unused units to the limits, and charge units used in excess."""
        if self.start:
            self._limiter._settle(self, used)


async def _reply_or_none(request: Awaitable[Any]) -> Any:
    """Return Redis's reply; None if it does not reply in time."""
    try:
        async with asyncio.timeout(_ANSWER_S):
            return await request
    except (RedisError, TimeoutError, UnicodeEncodeError) as error:
        structlog.get_logger().warning("model_limiter_unavailable", error=repr(error))
        return None
