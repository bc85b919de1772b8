"""Waits before a session is opened: of a query for a dispatcher's catalogue, of a cancellation for its session."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from antiphon_shared.bus.handling import Delivery
from antiphon_shared.events import QuerySubmitted
from antiphon_shared.process.errors import TryLater

CATALOGUE_POLL_S = 0.5
_SOON_S, _SOON_WAITS = 0.01, 20
"""The first waits of a cancellation, as a session is opened soon after it was admitted."""
_OPENING_WAITS = 20
"""Waits of a cancellation in addition to those for a catalogue, as an opening may take time and fail at first."""


class OpeningWait:
    """The bounds on the waits before an opening, and whether a query has waited for a dispatcher in vain."""

    def __init__(
        self,
        catalogue_wait_s: float,
        deadline_s: float,
        last_catalogue: Callable[[], Awaitable[str | None]],
        now: Callable[[], datetime],
    ) -> None:
        """Take the bounds; `deadline_s` is for queries that name none.

        `last_catalogue` returns the hash of the catalogue of a dispatcher that is gone.
        """
        self._catalogue_waits = round(catalogue_wait_s / CATALOGUE_POLL_S)
        self._deadline_s, self._last_catalogue, self._now = deadline_s, last_catalogue, now
        self._is_dispatcher_gone = False
        """Whether a query has waited in vain for a dispatcher; until there is one, no other waits."""

    async def catalogue(
        self, delivery: Delivery, query: QuerySubmitted, current: str | None, *, is_cancelled: bool
    ) -> str | None:
        """Return the hash of the catalogue for a new session; None if no dispatcher has published one.

        `current` is the hash of a running dispatcher's catalogue. Raises TryLater while the query waits for one; a
        cancelled query does not wait.
        """
        if current is not None:
            self._is_dispatcher_gone = False
            return current
        if is_cancelled:
            return None
        self._is_dispatcher_gone |= delivery.attempt >= self._catalogue_waits
        if not self.is_over(delivery, query) and not self._is_dispatcher_gone:
            raise TryLater("no running dispatcher has published its tools yet", delay_s=CATALOGUE_POLL_S)
        return await self._last_catalogue()

    def is_over(self, delivery: Delivery, query: QuerySubmitted) -> bool:
        """Return whether the deadline of the query has passed."""
        age = self._now() - delivery.event.time
        return age >= timedelta(seconds=query.options.deadline_s or self._deadline_s)

    def delay_cancellation(self, attempt: int) -> None:
        """Raise TryLater for a cancellation of a session that may still be opened; `attempt` counts its waits."""
        if attempt < self._catalogue_waits + _OPENING_WAITS:
            delay_s = _SOON_S if attempt < _SOON_WAITS else CATALOGUE_POLL_S
            raise TryLater("the session is not open yet", delay_s=delay_s)
