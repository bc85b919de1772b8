"""Work that never ends by itself."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from antiphon_shared.bus.handling import NOTHING, Delivery, Outcome, SessionStore
from antiphon_shared.events import ReasoningRequested
from antiphon_shared.process.clock import utc_now

WORK = ReasoningRequested(
    round=1, briefing="b", catalogue="c", tools=(), tokens_left=100, deadline=utc_now() + timedelta(hours=1)
)


@dataclass
class Endless:
    """A handler that never ends, or ends in its own way when it is cancelled."""

    begun: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    refuses: bool = False
    free: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, delivery: Delivery, session: SessionStore) -> Outcome:
        self.begun.append(session.session_id)
        try:
            await self.free.wait()
        except asyncio.CancelledError:
            self.cancelled.append(session.session_id)
            if not self.refuses:
                raise
            await self.free.wait()
        return NOTHING
