"""A session followed from its submission to its answer: events, text and response, in order."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import NamedTuple

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.session_content import SessionConflict as Conflict
from antiphon_shared.bus.session_content import SessionContent, conflict
from antiphon_shared.bus.sessions import read_logged
from antiphon_shared.events import AnyEvent, QuerySubmitted, ResponseReady, ResumeRequested
from antiphon_shared.events.session import Response
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.values import Value

from antiphon.arrival import Arrival
from antiphon.errors import SessionConflict, StillRunning
from antiphon.tail import PATIENCE_S, Tail


class TextDelta(Value):
    """A piece of a reply while the model is still writing it. For display, not for decisions."""

    text: str


StreamItem = AnyEvent | TextDelta
"""An item of a session's stream."""
SUBMITTED_MAX = 10_000


class Submitted(NamedTuple):
    """A query that a client has submitted: its entry in the queue, and its content."""

    entry: str
    content: SessionContent


class SubmittedQueries(OrderedDict[str, Submitted]):
    """The newest queries that a client has submitted, by session id."""

    def add(self, session_id: str, submitted: Submitted) -> None:
        """Store a query, and drop the oldest one above SUBMITTED_MAX."""
        self[session_id] = submitted
        if len(self) > SUBMITTED_MAX:
            self.popitem(last=False)


async def follow(
    bus: Bus, session_id: str, submitted: Submitted | None, check: Callable[[], None], *, has_text: bool
) -> AsyncGenerator[StreamItem | Response]:
    """Yield events and text of a session, then its response.

    `submitted` is the caller's own query under that id; `check` raises when the pipeline can no longer answer.
    Raises UnknownSession, SubmissionRejected, SessionConflict, RedisUnavailable, PipelineFailed.
    """
    log, text = bus.keys.log(session_id), bus.keys.deltas(session_id)
    tail = Tail(bus, text, log) if has_text else Tail(bus, log)
    arrival = Arrival(bus, session_id, submitted.entry if submitted else None)
    response: Response | None = None
    try:
        await retry_while_unavailable("look for a session", arrival.check, PATIENCE_S)
        while True:
            entries = await tail.read()
            if not entries:
                if response is not None:
                    # The response was written before this read, and the log no longer holds its event.
                    yield response
                    return
                await retry_while_unavailable("look for a session", arrival.check, PATIENCE_S)
                response = await read_answer(bus, session_id)
                check()
            for stream, entry, fields in entries:
                arrival.was_stored = True
                if stream == text:
                    yield TextDelta(text=fields.get(b"text", b"").decode("utf-8", "replace"))
                    continue
                event = read_logged(bus.signer, log, entry, fields)
                if event is None:
                    continue  # a foreign entry in the log must not end the stream
                if submitted and isinstance(event.data, QuerySubmitted):
                    _refuse_other_query(event, session_id, submitted.content)
                yield event
                if isinstance(event.data, ResponseReady) and not await is_resumed(bus, event.data, entry):
                    yield Response.model_validate(event.data.model_dump())
                    return
    finally:
        await tail.close()


async def wait_for_answer(
    items: AsyncGenerator[StreamItem | Response], session_id: str, timeout_s: float | None
) -> Response:
    """Return the response at the end of a session's items. Raises StillRunning after `timeout_s` seconds."""
    try:
        async with asyncio.timeout(timeout_s), aclosing(items):
            async for item in items:
                if isinstance(item, Response):
                    return item
    except TimeoutError:
        raise StillRunning(
            f"session {session_id} has not ended within {timeout_s:g} s; it continues.",
            hint="Call result() again, or cancel the session.",
        ) from None
    raise AssertionError("a session is followed to its answer")


async def refuse_other(bus: Bus, session_id: str, content: SessionContent) -> None:
    """Raise SessionConflict when the session exists and belongs to another query."""
    try:
        read = partial(bus.query_of, session_id)
        first = await retry_while_unavailable("look for a session", read, PATIENCE_S)
    except UnreadableEvent:
        raise SessionConflict(str(conflict(session_id, "and its opening event is unreadable"))) from None
    if first is not None:
        _refuse_other_query(first, session_id, content)


def _refuse_other_query(first: AnyEvent, session_id: str, content: SessionContent) -> None:
    """Raise the client's SessionConflict when a session began with another query."""
    try:
        content.refuse_other(first, session_id)
    except Conflict as error:
        raise SessionConflict(error.message, hint=error.hint) from None


_PAGE = 100


async def read_answer(bus: Bus, session_id: str) -> Response | None:
    """Return a session's answer; None if it has not answered yet, or the run continues.

    Retries while Redis is unavailable.
    """
    return await retry_while_unavailable(
        "read the answer", lambda: _newest_answer(bus, session_id), PATIENCE_S
    )


async def _newest_answer(bus: Bus, session_id: str) -> Response | None:
    response = await bus.session(session_id).response()
    return None if response is None or await is_resumed(bus, response) else response


async def is_resumed(bus: Bus, response: Response | ResponseReady, entry: str = "") -> bool:
    """Return whether a run was resumed after its newest answer, or after the answer of a given log entry."""
    if response.run is None or not response.run.is_resumable:
        return False
    log = bus.keys.log(response.session_id)
    start, end = f"({entry}" if entry else "-", "+"
    while entries := await bus.batcher.submit("XREVRANGE", log, end, start, "COUNT", _PAGE):
        for entry_id, fields in entries:
            event = read_logged(bus.signer, log, entry_id, fields)
            if event is not None and isinstance(event.data, ResumeRequested):
                return True
            if event is not None and isinstance(event.data, ResponseReady) and not entry:
                return False
        end = f"({entries[-1][0].decode()}"
    return False
