"""The breakers of a deployment: their names, their stored form, and the open circuits. Pure."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from math import ceil

from antiphon_shared.breakers.breaker import CLOSED, HELD_RETRY_S, Breaker, BreakerState
from antiphon_shared.breakers.outages import NO_OUTAGES, ModelOutage, Outages
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.stored import Kind

BREAKERS_MAX = 200
"""Bound on stored breakers, as names that queries invent must not fill Redis."""
_STATE: Kind[BreakerState] = Kind("a breaker", BreakerState, writes_defaults=False)
_STATE_BYTES_MAX = 200_000
_NAME = re.compile(r"tool:[a-zA-Z0-9_-]{1,64}|model:[!-~]{1,200}")


def tool_breaker(tool: str) -> str:
    """Return the name of a tool's breaker."""
    return f"tool:{tool}"


def model_breaker(model: str) -> str:
    """Return the name of a model's breaker."""
    return f"model:{model}"


def is_name(name: str) -> bool:
    """Return whether a text is the name of a breaker."""
    return _NAME.fullmatch(name) is not None


def read_state(raw: bytes) -> BreakerState:
    """Return the stored state, or CLOSED if it is missing or unreadable."""
    if not raw or len(raw) > _STATE_BYTES_MAX:
        return CLOSED
    try:
        return _STATE.read(raw)
    except UnreadableEvent:
        return CLOSED


def write_state(state: BreakerState, format: int = FORMAT) -> bytes:
    """Return a state in its stored form, for workers that read `format`; empty for CLOSED."""
    return b"" if state == CLOSED else _STATE.write(state, format)


def next_to_drop(states: Mapping[str, BreakerState]) -> str | None:
    """Return the breaker to drop from a full table: the oldest closed one, else the oldest of a model.

    Tools are not dropped for models, as queries may name any model. None if all others are forced open or of tools.
    """
    closed = [name for name, state in states.items() if state.opened is None]
    models = [name for name, state in states.items() if name.startswith("model:") and state.held is None]
    return min(closed or models, key=lambda name: _latest(states[name]), default=None)


def _latest(state: BreakerState) -> float:
    return max((state.opened or 0.0, *(ending.at for ending in state.endings)))


def outages_of(states: Mapping[str, BreakerState], breaker: Breaker, now: float) -> Outages:
    """Return the open circuits at `now`, in Unix seconds; the same value while the states are the same.

    A breaker that is forced open counts as open for one hour from the next full hour, as its end is unknown.
    """
    is_open = sorted(name for name, state in states.items() if breaker.phase(state, now) == "open")
    tools = [name.removeprefix("tool:") for name in is_open if name.startswith("tool:")]
    models = [
        ModelOutage(model=name.removeprefix("model:"), until=_until(states[name], breaker, now))
        for name in is_open
        if name.startswith("model:")
    ]
    if not is_open:
        return NO_OUTAGES
    return Outages(tools=tuple(tools[:BREAKERS_MAX]), models=tuple(models[:BREAKERS_MAX]))


def _until(state: BreakerState, breaker: Breaker, now: float) -> datetime:
    """Return the end of an outage in whole seconds, so that it is the same at every call."""
    if state.held is not None or state.opened is None:
        return datetime.fromtimestamp(ceil(now / HELD_RETRY_S) * HELD_RETRY_S + HELD_RETRY_S, UTC)
    return datetime.fromtimestamp(ceil(state.opened + breaker.open_s), UTC)
