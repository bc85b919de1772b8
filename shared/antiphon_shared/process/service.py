"""One component as a running service: what it handles, and what runs beside it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from antiphon_shared.bus.handling import Handlers
from antiphon_shared.events import Component

Background = Callable[[], Awaitable[None]]
"""Runs until it is cancelled, for instance to publish a catalogue again and again."""


@dataclass(frozen=True)
class Service:
    """A component, built and ready to run."""

    name: Component
    handlers: Handlers
    concurrency: int
    """Deliveries in hand at once at most."""
    background: tuple[Background, ...] = ()
    close: Callable[[], Awaitable[None]] | None = field(default=None)
    """Called once, after the last delivery, to close clients."""
    stops_with_session: bool = False
    """Whether what it does for a session is dropped, and of no use to anybody, once the session is cancelled."""
