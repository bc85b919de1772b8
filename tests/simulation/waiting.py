"""The waiting queries and the turns of tenants, as `arrive.lua` and `admit.lua` keep them, in plain Python."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from antiphon_shared.bus.waiting import TURN, QueuePosition


@dataclass
class WaitingRoom:
    """The queries of one partition that wait, by tenant, and the virtual time of each tenant's next turn."""

    queries: dict[str, bytes] = field(default_factory=dict)
    places: dict[str, QueuePosition] = field(default_factory=dict)
    tenants: dict[str, int] = field(default_factory=dict)
    past_turns: dict[str, int] = field(default_factory=dict)
    """The turns of tenants that no longer wait."""
    present: int = 0

    def add(self, session_id: str, query: bytes, place: QueuePosition, bound: int) -> bool:
        """Add a waiting query; return whether there was room."""
        mine = len(self.of(place.tenant))
        if len(self.queries) >= bound:
            tenants = len(self.tenants) + (mine == 0)
            if len(self.queries) >= 2 * bound or mine * tenants >= bound:
                return False
        self.tenants.setdefault(place.tenant, max(self.present, self.past_turns.get(place.tenant, 0)))
        self.queries[session_id], self.places[session_id] = query, place
        return True

    def of(self, tenant: str) -> list[str]:
        """Return a tenant's sessions, the oldest first."""
        mine = [session_id for session_id, place in self.places.items() if place.tenant == tenant]
        return sorted(mine, key=lambda session_id: (self.places[session_id].submitted_ms, session_id))

    def due(self, now_ms: int) -> list[str]:
        """Return the sessions whose deadline has passed, the most urgent first."""
        due = [
            (place.deadline_ms, name) for name, place in self.places.items() if place.deadline_ms <= now_ms
        ]
        return [session_id for _, session_id in sorted(due)]

    def next(self, weights: Mapping[str, float]) -> str:
        """Return the session whose turn it is; set its tenant's next turn."""
        tenant = min(self.tenants, key=lambda name: (self.tenants[name], name))
        self.present = self.tenants[tenant]
        self.tenants[tenant] += round(TURN / weights.get(tenant, 1))
        return self.of(tenant)[0]

    def take_out(self, session_id: str) -> bytes:
        tenant = self.places.pop(session_id).tenant
        if not self.of(tenant):
            self.past_turns[tenant] = self.tenants.pop(tenant)
        return self.queries.pop(session_id)

    def forget_past(self) -> None:
        """Drop past turns, and all turns when no session waits."""
        if not self.queries:
            self.past_turns, self.present = {}, 0
        self.past_turns = {name: turn for name, turn in self.past_turns.items() if turn >= self.present}
