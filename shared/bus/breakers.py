"""Circuit breakers shared by all processes: the pure values of shared/breaker.py, kept in one hash of Redis."""

from shared.breaker import Allowed, Breaker, Refused
from shared.bus.redis_bus import Bus
from shared.outages import NO_OUTAGES, Outages


def of_tool(tool: str) -> str:
    """What a tool's breaker is called."""
    return f"tool:{tool}"


def of_model(model: str) -> str:
    """What a model's breaker is called."""
    return f"model:{model}"


class SharedBreakers:
    """One process's view of all breakers. `run` keeps it fresh and tells the others what was noted here."""

    def __init__(self, bus: Bus, breaker: Breaker) -> None:
        self._bus, self._breaker = bus, breaker

    async def run(self) -> None:
        """Look at, and tell of, the breakers again and again, until cancelled."""
        raise NotImplementedError

    async def ask(self, name: str) -> Allowed | Refused:
        """Whether a call may be made now. Who is let through must call, and `note` the ending: it may be the probe."""
        raise NotImplementedError

    def note(self, name: str, is_failure: bool) -> None:
        """How a call has ended; told to the others soon."""
        raise NotImplementedError

    def outages(self) -> Outages:
        """What is out of order, as last looked at."""
        return NO_OUTAGES
