"""The breakers of a deployment together: what they are called, how they are written, what is out of order. Pure."""

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
"""Breakers that are kept at most: a name that is made up for every query must not fill Redis."""
_STATE: Kind[BreakerState] = Kind("a breaker", BreakerState, writes_defaults=False)
_STATE_BYTES_MAX = 200_000
_NAME = re.compile(r"tool:[a-zA-Z0-9_-]{1,64}|model:[!-~]{1,200}")


def of_tool(tool: str) -> str:
    """What a tool's breaker is called."""
    return f"tool:{tool}"


def of_model(model: str) -> str:
    """What a model's breaker is called."""
    return f"model:{model}"


def is_name(name: str) -> bool:
    """Whether a breaker may be called so."""
    return _NAME.fullmatch(name) is not None


def read_state(raw: bytes) -> BreakerState:
    """A state as it is kept. What is not there is closed, and so is what cannot be read."""
    if not raw or len(raw) > _STATE_BYTES_MAX:
        return CLOSED
    try:
        return _STATE.read(raw)
    except UnreadableEvent:
        return CLOSED


def write_state(state: BreakerState, format: int = FORMAT) -> bytes:
    """Return a state as it is kept, for workers that read `format`; nothing for CLOSED."""
    return b"" if state == CLOSED else _STATE.write(state, format)


def first_to_go(states: Mapping[str, BreakerState]) -> str | None:
    """Which breaker to forget when there are too many: of the closed ones the least recent, else of the models'.

    Queries may name any model, so models that fail must not take the place of tools. None when only tools, or
    what is held by hand, would be left to forget.
    """
    closed = [name for name, state in states.items() if state.opened is None]
    models = [name for name, state in states.items() if name.startswith("model:") and state.held is None]
    return min(closed or models, key=lambda name: _latest(states[name]), default=None)


def _latest(state: BreakerState) -> float:
    return max((state.opened or 0.0, *(ending.at for ending in state.endings)))


def outages_of(states: Mapping[str, BreakerState], breaker: Breaker, now: float) -> Outages:
    """What is open at `now`, Unix seconds. Equal states give equal values for as long as they stand.

    What is held by hand is out for one hour from the next full one: nobody knows when it will be closed.
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
    """Whole seconds, so that the value is the same however often it is asked for."""
    if state.held is not None or state.opened is None:
        return datetime.fromtimestamp(ceil(now / HELD_RETRY_S) * HELD_RETRY_S + HELD_RETRY_S, UTC)
    return datetime.fromtimestamp(ceil(state.opened + breaker.open_s), UTC)
