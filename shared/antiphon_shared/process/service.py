"""One component as a running service: its handlers, and its background duties."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from antiphon_shared.bus.handling import Handlers
from antiphon_shared.events import Component

Background = Callable[[], Awaitable[None]]
"""Runs until it is cancelled, for instance to publish a catalogue at every interval."""


@dataclass(frozen=True)
class Service:
    """A component, built and ready to run."""

    name: Component
    handlers: Handlers
    concurrency: int
    """The maximum of deliveries in flight."""
    background: tuple[Background, ...] = ()
    close: Callable[[], Awaitable[None]] | None = field(default=None)
    """Called once, after the last delivery, to close clients."""
    stops_with_session: bool = False
    """Whether its work for a session is useless, and is dropped, once the session is cancelled."""
    is_ready: Callable[[], Awaitable[object]] | None = field(default=None)
    """Waited for before the first heartbeat, from which on it counts as running."""
    keeps_partitions: bool = False
    """Whether its readers also move due timers and drop data after its retention, which takes the
    permission to write to every inbox."""
