"""Runs that were resumed after they had ended: their first answer is not their last."""

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.sessions import read_logged
from antiphon_shared.events import ResponseReady, ResumeRequested
from antiphon_shared.events.session import Response

from antiphon.tail import PATIENCE_S

_PAGE = 100


async def read_answer(bus: Bus, session_id: str) -> Response | None:
    """Return a session's answer, or None while it is missing or the run continues. Retries if Redis is unavailable."""
    return await retry_while_unavailable("read the answer", lambda: _newest(bus, session_id), PATIENCE_S)


async def _newest(bus: Bus, session_id: str) -> Response | None:
    response = await bus.session(session_id).response()
    return None if response is None or await is_resumed(bus, response) else response


async def is_resumed(bus: Bus, response: Response | ResponseReady, entry: str = "") -> bool:
    """Return whether a run was resumed after its newest answer, or after the answer of a given log entry."""
    if response.run is None or not response.run.is_resumable:
        return False
    log = bus.keys.log(response.session_id)
    start, end = f"({entry}" if entry else "-", "+"
    while entries := await bus.batcher.submit("XREVRANGE", log, end, start, "COUNT", _PAGE):
        for place, fields in entries:
            event = read_logged(bus.signer, log, place, fields)
            if event is not None and isinstance(event.data, ResumeRequested):
                return True
            if event is not None and isinstance(event.data, ResponseReady) and not entry:
                return False
        end = f"({entries[-1][0].decode()}"
    return False
