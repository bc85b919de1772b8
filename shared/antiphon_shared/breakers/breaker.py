"""A circuit breaker as a value: what keeps failing is left alone for a while, then tried once. Pure.

Closed, open and half-open after Nygard, *Release It!*. The state is small and JSON, and time is handed in as
seconds of one clock, so that it can be kept in one process or shared by many.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from pydantic import Field

from antiphon_shared.values import Value

Phase = Literal["closed", "open", "half_open"]

HELD_RETRY_S = 3_600.0
"""What who asks for something held open is told to wait: nobody knows, but not soon."""


class Ending(Value):
    """How one call ended."""

    at: float
    is_failure: bool


class Held(Value):
    """That a person keeps it open, until a person closes it."""

    at: float = Field(ge=0, le=1e11, description="Unix seconds.")
    by: str = Field(default="", max_length=100, description="Who.")
    because: str = Field(default="", max_length=300, description="Why.")


class BreakerState(Value):
    """What is remembered of one thing that can fail."""

    endings: tuple[Ending, ...] = Field(default=(), description="The latest, while closed; why, while open.")
    opened: float | None = Field(default=None, description="When it opened; None while closed.")
    probed: float | None = Field(default=None, description="When the probe began that is under way.")
    held: Held | None = Field(default=None, description="Opened by hand: no probe, whatever the time.")

    @property
    def failures(self) -> int:
        """Failures among the endings it remembers."""
        return sum(ending.is_failure for ending in self.endings)


CLOSED = BreakerState()


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may be made. `state` is to be kept: it says when this one is the probe."""

    state: BreakerState


@dataclass(frozen=True, slots=True)
class Refused:
    """The call must not be made; asking again helps after `retry_after_s`. `state` tells why."""

    retry_after_s: float
    state: BreakerState = field(default=CLOSED, compare=False)


class Breaker(Value):
    """When it opens, and for how long: by the rate of failures in a rolling window, over a minimum of calls."""

    calls_min: int = Field(
        default=10, ge=1, le=1_000, description="Calls in the window that it takes to open."
    )
    failure_rate: float = Field(
        default=0.5, gt=0, le=1, description="Share of failures among the calls in the window that opens it."
    )
    window_s: float = Field(default=60.0, gt=0, le=86_400, description="Seconds looked back.")
    window_calls: int = Field(default=50, ge=1, le=1_000, description="Calls looked back.")
    open_s: float = Field(
        default=15.0,
        gt=0,
        le=86_400,
        description="Seconds until a probe is let through, and then the next one.",
    )

    def phase(self, state: BreakerState, now: float) -> Phase:
        """Open turns half-open by itself, when its time is over; not so what is held."""
        if state.opened is None:
            return "closed"
        return "open" if state.held is not None or self._left_s(state.opened, now) > 0 else "half_open"

    def ask(self, state: BreakerState, now: float) -> Allowed | Refused:
        """Whether a call may be made now. Half-open lets one through, the probe, until its ending is known.

        A probe nobody hears of again, because its process ended, is replaced by another after `open_s`.
        """
        if state.opened is None:
            return Allowed(state)
        left_s = HELD_RETRY_S if state.held is not None else self._left_s(state.opened, now)
        if left_s <= 0 and state.probed is not None:
            left_s = self._left_s(state.probed, now)
        if left_s > 0:
            return Refused(left_s, state)
        return Allowed(state.model_copy(update={"probed": now}))

    def after(self, state: BreakerState, is_failure: bool, now: float) -> BreakerState:
        """The state after a call has ended. What began before it opened, and ends while open, changes nothing."""
        if state.opened is None:
            return self.after_all(state, (Ending(at=now, is_failure=is_failure),), now)
        if state.probed is None or state.held is not None:
            return state
        return state.model_copy(update={"opened": now, "probed": None}) if is_failure else CLOSED

    def after_all(self, state: BreakerState, endings: Iterable[Ending], now: float) -> BreakerState:
        """The state after calls none of which was a probe, in the order of their times.

        They may have ended before what is remembered already: each process tells its own, late.
        """
        new = [ending for ending in endings if abs(now - ending.at) <= self.window_s]
        if state.opened is not None or not new:
            return state
        old = [ending for ending in state.endings if abs(now - ending.at) <= self.window_s]
        joined, is_new = sorted((*old, *new), key=attrgetter("at")), {id(ending) for ending in new}
        first, failures, has_news = 0, 0, False
        for count, ending in enumerate(joined, 1):
            failures += ending.is_failure
            has_news = has_news or id(ending) in is_new
            while count - first > self.window_calls or ending.at - joined[first].at > self.window_s:
                failures -= joined[first].is_failure
                first += 1
            # Also at one that is known already, when it is the new ones before it that make it too many.
            if ending.is_failure and has_news and self._is_too_much(failures, count - first):
                return BreakerState(endings=tuple(joined[first:count]), opened=ending.at)
        return BreakerState(endings=tuple(joined[first:]))

    def hold(self, held: Held) -> BreakerState:
        """Open, until it is closed by hand, which makes it CLOSED."""
        return BreakerState(opened=held.at, held=held)

    def says_nothing(self, state: BreakerState, now: float) -> bool:
        """Whether the state need not be kept: it is closed and nothing has failed lately, or nobody has asked
        since it became half-open for so long that its failures would be forgotten by now.
        """
        if state.held is not None:
            return False
        if state.opened is None:
            return not any(
                ending.is_failure and abs(now - ending.at) <= self.window_s for ending in state.endings
            )
        latest = max(state.opened, state.opened if state.probed is None else state.probed)
        return abs(now - latest) > self.open_s + self.window_s

    def _is_too_much(self, failures: int, calls: int) -> bool:
        return calls >= min(self.calls_min, self.window_calls) and failures >= self.failure_rate * calls

    def _left_s(self, since: float, now: float) -> float:
        """Of the time it stays open. A clock that was set back by more than that does not keep it open."""
        elapsed_s = now - since
        return min(self.open_s, self.open_s - elapsed_s) if elapsed_s > -self.open_s else 0.0
