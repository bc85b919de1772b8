"""One component as a running service: its handlers, and its background duties."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from antiphon_shared.bus.handling import Handlers
from antiphon_shared.events import Component

Background = Callable[[], Awaitable[None]]
"""A background duty, which runs until it is cancelled, such as publishing a catalogue at every interval."""


@dataclass(frozen=True)
class Service:
    """A component, built and ready to run."""

    name: Component
    handlers: Handlers
    concurrency: int
    """The maximum number of deliveries in flight."""
    background: tuple[Background, ...] = ()
    close: Callable[[], Awaitable[None]] | None = field(default=None)
    """Called once, after the last delivery, to close clients."""
    stops_with_session: bool = False
    """Whether its work for a session is cancelled when the session is."""
    is_ready: Callable[[], Awaitable[object]] | None = field(default=None)
    """Awaited before the first heartbeat, with which the component counts as running."""
    keeps_partitions: bool = False
    """Whether its readers also move due timers and drop expired data, which takes write access to every inbox."""
