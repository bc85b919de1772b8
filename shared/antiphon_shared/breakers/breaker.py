"""A circuit breaker as a value, which stops failing calls for a while, then allows one probe. Pure.

The phases closed, open and half-open are those of Nygard, *Release It!*. The state is small JSON, and time is passed
in as seconds of one clock, so that one process can hold the state, or several can share it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Literal

from pydantic import Field

from antiphon_shared.values import Value

Phase = Literal["closed", "open", "half_open"]

HELD_RETRY_S = 3_600.0
"""The retry delay reported for a breaker that is forced open, as its end is unknown."""


class Ending(Value):
    """The end of one call."""

    at: float
    is_failure: bool


class ForcedOpen(Value):
    """A person's order that keeps the circuit open, until a person closes it."""

    at: float = Field(ge=0, le=1e11, description="Unix seconds.")
    by: str = Field(default="", max_length=100, description="Name of the person.")
    because: str = Field(default="", max_length=300, description="Reason given by the person.")


class BreakerState(Value):
    """The state of one breaker."""

    endings: tuple[Ending, ...] = Field(
        default=(), description="Latest calls while closed; the calls that opened it while open."
    )
    opened: float | None = Field(default=None, description="Time of the opening; None while closed.")
    probed: float | None = Field(default=None, description="Start of the running probe.")
    held: ForcedOpen | None = Field(default=None, description="Opened by a person: no probes.")

    @property
    def failures(self) -> int:
        """Return the number of failures among its endings."""
        return sum(ending.is_failure for ending in self.endings)


CLOSED = BreakerState()


@dataclass(frozen=True, slots=True)
class Allowed:
    """Permission for a call. `state` has to be stored: it records whether this call is the probe."""

    state: BreakerState


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A refusal of a call; a retry may help after `retry_after_s`. `state` holds the reason."""

    retry_after_s: float
    state: BreakerState = field(default=CLOSED, compare=False)


@dataclass(frozen=True, slots=True)
class Breaker:
    """The rule of a breaker: it opens at a rate of failures in a rolling window with a minimum number of calls."""

    calls_min: int = 10
    """The minimum number of calls in the window to open."""
    failure_rate: float = 0.5
    """The share of failed calls in the window at which it opens, above 0."""
    window_s: float = 60.0
    window_calls: int = 50
    """The maximum number of calls in the window."""
    open_s: float = 15.0
    """Seconds until a probe is allowed, and between probes."""

    def phase(self, state: BreakerState, now: float) -> Phase:
        """Return the phase; an open circuit becomes half-open when its time is over, unless it is forced open.

        Args:
            now: seconds of the clock by which the state was written.
        """
        if state.opened is None:
            return "closed"
        return "open" if state.held is not None or self._left_s(state.opened, now) > 0 else "half_open"

    def ask(self, state: BreakerState, now: float) -> Allowed | RefusedCall:
        """Return whether a call may be made now. Half-open allows one call, the probe, until its end is known.

        A probe that never ends, because its process died, is replaced by another after `open_s`.
        """
        if state.opened is None:
            return Allowed(state)
        left_s = HELD_RETRY_S if state.held is not None else self._left_s(state.opened, now)
        if left_s <= 0 and state.probed is not None:
            left_s = self._left_s(state.probed, now)
        if left_s > 0:
            return RefusedCall(left_s, state)
        return Allowed(state.model_copy(update={"probed": now}))

    def after(self, state: BreakerState, is_failure: bool, now: float) -> BreakerState:
        """Return the state after the end of a call; an open circuit ignores calls that began before it opened."""
        if state.opened is None:
            return self.after_all(state, (Ending(at=now, is_failure=is_failure),), now)
        if state.probed is None or state.held is not None:
            return state
        return state.model_copy(update={"opened": now, "probed": None}) if is_failure else CLOSED

    def after_all(self, state: BreakerState, endings: Iterable[Ending], now: float) -> BreakerState:
        """Return the state after calls that were not probes, in the order of their times.

        They may be older than endings in the state, as each process reports its own later.
        """
        new = [ending for ending in endings if abs(now - ending.at) <= self.window_s]
        if state.opened is not None or not new:
            return state
        old = [ending for ending in state.endings if abs(now - ending.at) <= self.window_s]
        in_order, is_new = sorted((*old, *new), key=attrgetter("at")), {id(ending) for ending in new}
        first, failures, has_new = 0, 0, False
        for count, ending in enumerate(in_order, 1):
            failures += ending.is_failure
            has_new = has_new or id(ending) in is_new
            while count - first > self.window_calls or ending.at - in_order[first].at > self.window_s:
                failures -= in_order[first].is_failure
                first += 1
            # Also at a known failure, if new endings before it raise the rate.
            if ending.is_failure and has_new and self._opens_circuit(failures, count - first):
                return BreakerState(endings=tuple(in_order[first:count]), opened=ending.at)
        return BreakerState(endings=tuple(in_order[first:]))

    def force_open(self, held: ForcedOpen) -> BreakerState:
        """Return the state of a breaker that is forced open; a person closes it by setting CLOSED."""
        return BreakerState(opened=held.at, held=held)

    def is_droppable(self, state: BreakerState, now: float) -> bool:
        """Return whether the state can be dropped.

        It can be if it is closed without a recent failure, or if it has been half-open without a call for so long that
        its failures have left the window.
        """
        if state.held is not None:
            return False
        if state.opened is None:
            return not any(
                ending.is_failure and abs(now - ending.at) <= self.window_s for ending in state.endings
            )
        latest = max(state.opened, state.opened if state.probed is None else state.probed)
        return abs(now - latest) > self.open_s + self.window_s

    def _opens_circuit(self, failures: int, calls: int) -> bool:
        return calls >= min(self.calls_min, self.window_calls) and failures >= self.failure_rate * calls

    def _left_s(self, since: float, now: float) -> float:
        """Return the rest of the open time, in seconds; 0 if the clock was set back by more than the open time."""
        elapsed_s = now - since
        return min(self.open_s, self.open_s - elapsed_s) if elapsed_s > -self.open_s else 0.0
