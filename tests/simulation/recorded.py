"""Sessions of a simulated world as recordings."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

from antiphon_shared.bus.handling import RECORDS
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import Catalogue

from antiphon.recording.lines import Line
from antiphon.recording.session_lines import session_lines
from tests.simulation.bus import KEYS, SimulatedBus
from tests.simulation.stand_ins import CATALOGUE


@dataclass(frozen=True, slots=True)
class _Kept:
    """The data that the simulated Redis holds of one session."""

    bus: SimulatedBus
    session_id: str

    async def log_page(self, after: str, count: int) -> list[tuple[str, bytes]]:
        entries = list(self.bus.logs.get(self.session_id, {}).items())
        places = [entry for entry, _ in entries]
        start = 0 if after == "-" else places.index(after) + 1
        return entries[start : start + count]

    async def records_page(self, start: int, count: int) -> list[bytes]:
        return self.bus.lists.get(KEYS.of_session(self.session_id, RECORDS), [])[start : start + count]


@dataclass(frozen=True, slots=True)
class _Bus:
    """The sessions in the simulated Redis, and the data that they share."""

    bus: SimulatedBus

    def session(self, session_id: str) -> _Kept:
        return _Kept(self.bus, session_id)

    async def catalogue(self, content_hash: str) -> Catalogue:
        return CATALOGUE

    async def content(self, content_hash: str) -> bytes | None:
        return None  # the stand-in of the engine records no exchanges

    async def specification(self, content_hash: str) -> bytes | None:
        return None


def lines_of(bus: SimulatedBus, session_id: str) -> list[Line]:
    """Return the recording of a session that has one."""
    reading = _read(session_lines(session_id, cast(Bus, _Bus(bus))))
    try:
        reading.send(None)
    except StopIteration as done:
        lines: list[Line] = done.value
        return lines
    raise AssertionError("a simulated Redis answers at once")


async def _read(lines: AsyncIterator[Line]) -> list[Line]:
    return [line async for line in lines]
