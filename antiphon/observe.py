"""The state of a pipeline for an observer, read from Redis: components, queue, sessions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from antiphon_shared.breakers.breaker import CLOSED, BreakerState, Phase, RefusedCall
from antiphon_shared.breakers.table import is_name
from antiphon_shared.bus.breaker_store import BreakerStore
from antiphon_shared.bus.connection import is_unavailable
from antiphon_shared.bus.dead_letters import DeadLetters
from antiphon_shared.bus.handling import STATE
from antiphon_shared.bus.intake import GROUP as INTAKE_GROUP
from antiphon_shared.bus.reads import redis_time_ms
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import COMPONENTS, AnyEvent, Component, QuerySubmitted, decode
from antiphon_shared.process import health
from antiphon_shared.process.breaker_settings import BreakerSettings
from antiphon_shared.process.errors import AntiphonError, RedisUnavailable
from antiphon_shared.process.settings import load
from antiphon_shared.process.stream_ids import UNIX_MS_MAX, milliseconds_of
from antiphon_shared.tools.calls import Catalogue, ToolCall
from antiphon_shared.values import Value
from redis.exceptions import ResponseError

from antiphon.answering import waiting_questions
from antiphon.approval import undecided_calls
from antiphon.errors import SubmissionRejected, UnknownSession
from antiphon.queued import Waiting, queries_waiting, query_waiting, waiting_now
from antiphon.rejected import Rejection, rejection_of
from antiphon.transport import CONNECT_PATIENCE_S
from coordinator.document import SESSION

UNREADABLE = "unreadable"
"""The status of a session whose state, answer or log cannot be read."""


class InboxStatus(Value):
    """The state of a consumed stream, over all partitions."""

    length: int
    in_flight: int
    oldest_wait_s: float | None = None


class ComponentStatus(Value):
    """One component: its inbox and its workers."""

    component: Component
    inbox: InboxStatus
    workers_alive: int
    workers_silent: int


class ManualOverride(Value):
    """A person's order that keeps a breaker open."""

    at: datetime
    by: str
    because: str


class BreakerStatus(Value):
    """The circuit breaker of a tool or model that has failed lately, or is forced open."""

    name: str
    phase: Phase
    failures: int
    calls: int
    """The calls in the window, failures included."""
    retry_in_s: float | None = None
    """Seconds until the next call may run; None if a call may run now, or if only a person can close the breaker."""
    held: ManualOverride | None = None


class PipelineStatus(Value):
    """Everything `antiphon status` shows."""

    components: tuple[ComponentStatus, ...]
    queue: InboxStatus
    waiting: Waiting
    rejected: int
    open_sessions: int
    dead_letters: int
    breakers: tuple[BreakerStatus, ...] = ()
    newest_rejection: Rejection | None = None
    """The newest one that is stored; None where only the count was read."""


class SessionSummary(Value):
    """One line of `antiphon sessions list`."""

    session_id: str
    opened: datetime
    status: str
    round: int
    query: str
    waits_for: tuple[str, ...] = ()
    """The calls that a person has to approve, as `tool (id)`."""
    asks: tuple[str, ...] = ()
    """The questions to the user."""


@asynccontextmanager
async def connected() -> AsyncIterator[Bus]:
    """Yield the bus that the environment describes, open. Raises ConfigurationError, RedisUnavailable."""
    bus = Bus.from_settings()
    await bus.open(CONNECT_PATIENCE_S)
    try:
        yield bus
    finally:
        await bus.close()


async def pipeline_status(bus: Bus) -> PipelineStatus:
    """Return the current state of the pipeline; missing keys count as empty."""
    keys, partitions = bus.keys, range(bus.keys.partitions)
    components, queue, waiting, rejected, open_sessions, dead, breaker_statuses = await asyncio.gather(
        asyncio.gather(*(_component_status(bus, name) for name in COMPONENTS)),
        _inbox_status(bus, [keys.queries()], INTAKE_GROUP),
        waiting_now(bus),
        bus.batcher.submit("XLEN", keys.rejected()),
        asyncio.gather(*(bus.batcher.submit("ZCARD", keys.open_sessions(p)) for p in partitions)),
        DeadLetters(bus).count(),
        breakers(bus),
    )
    return PipelineStatus(
        components=tuple(components),
        queue=queue,
        waiting=waiting,
        rejected=rejected,
        open_sessions=sum(open_sessions),
        dead_letters=dead,
        breakers=breaker_statuses,
    )


async def breakers(bus: Bus) -> tuple[BreakerStatus, ...]:
    """Return the circuit breakers that have failed lately or are open, ordered by name."""
    snapshot = await BreakerStore(bus.batcher, bus.keys).look()
    statuses = sorted(
        (name, state) for name, state in snapshot.states.items() if is_name(name) and state != CLOSED
    )
    return tuple(_breaker_status(name, state, snapshot.now) for name, state in statuses)


def _breaker_status(name: str, state: BreakerState, now: float) -> BreakerStatus:
    breaker = load(BreakerSettings).breaker
    answer = breaker.ask(state, now)
    held = state.held
    return BreakerStatus(
        name=name,
        phase=breaker.phase(state, now),
        failures=state.failures,
        calls=len(state.endings),
        retry_in_s=round(answer.retry_after_s, 3)
        if isinstance(answer, RefusedCall) and held is None
        else None,
        held=held
        and ManualOverride(at=datetime.fromtimestamp(held.at, UTC), by=held.by, because=held.because),
    )


async def recent_sessions(bus: Bus, limit: int) -> list[SessionSummary]:
    """Return the newest sessions of all partitions, at most `limit`, waiting ones included."""
    newest = await newest_sessions(bus, limit)
    moments = ((min(max(ms, 0.0), UNIX_MS_MAX), id) for ms, id in newest)  # a foreign score may be no time
    summaries = await asyncio.gather(*(_summary(bus, id, ms) for ms, id in moments))
    queued = [_queued(event) for event in await queries_waiting(bus, limit)]
    # A session opened between the two reads is shown as open.
    by_id = {summary.session_id: summary for summary in (*queued, *summaries)}
    return sorted(by_id.values(), key=lambda summary: summary.opened, reverse=True)[:limit]


async def newest_sessions(bus: Bus, limit: int) -> list[tuple[float, str]]:
    """Return the opening times and ids of the newest sessions of all partitions, at most `limit`."""
    sessions: list[tuple[float, str]] = []
    for partition in range(bus.keys.partitions):
        key = bus.keys.sessions(partition)
        rows = await bus.batcher.submit("ZRANGE", key, 0, limit - 1, "REV", "WITHSCORES")
        sessions += [(float(score), name.decode(errors="replace")) for name, score in member_scores(rows)]
    return sorted(sessions, reverse=True)[:limit]


async def published_catalogue(bus: Bus) -> Catalogue | None:
    """Return the tools of the dispatchers, or None if no dispatcher has published its tools yet."""
    content_hash = await bus.current_catalogue()
    return None if content_hash is None else await bus.catalogue(content_hash)


async def session_log(bus: Bus, session_id: str) -> list[tuple[str, AnyEvent]]:
    """Return a session's events in order, with their log entries; for a waiting session, only its query.

    Raises UnknownSession, and SubmissionRejected for the id of a submission that was rejected lately.
    """
    query = await query_waiting(bus, session_id)
    log = await bus.session(session_id).log()
    if not log and query is not None:
        return [("-", query)]
    if not log:
        if rejection := await rejection_of(bus, session_id):
            raise SubmissionRejected(f"the query of session {session_id} was rejected: {rejection.reason}")
        raise UnknownSession.of(session_id)
    return log


async def _component_status(bus: Bus, name: Component) -> ComponentStatus:
    streams = [bus.keys.inbox(partition, name) for partition in range(bus.keys.partitions)]
    inbox, workers = await asyncio.gather(_inbox_status(bus, streams, name), health.workers(bus, name))
    alive = sum(worker.is_alive for worker in workers)
    return ComponentStatus(
        component=name, inbox=inbox, workers_alive=alive, workers_silent=len(workers) - alive
    )


async def _inbox_status(bus: Bus, streams: list[str], group: str) -> InboxStatus:
    length, in_flight, waits = 0, 0, []
    now_ms = await redis_time_ms(bus.batcher)
    for stream in streams:
        length += await bus.batcher.submit("XLEN", stream)
        oldest = await bus.batcher.submit("XRANGE", stream, "-", "+", "COUNT", 1)
        waits += [max(0.0, (now_ms - milliseconds_of(entry.decode())) / 1000) for entry, _ in oldest]
        in_flight += await _pending(bus, stream, group)
    return InboxStatus(length=length, in_flight=in_flight, oldest_wait_s=max(waits, default=None))


async def _pending(bus: Bus, stream: str, group: str) -> int:
    try:
        pending = await bus.batcher.submit("XPENDING", stream, group)
    except ResponseError as error:
        if "NOGROUP" in str(error) or "no such key" in str(error).lower():
            return 0  # no worker has read the stream yet
        raise
    return int(pending["pending"] if isinstance(pending, dict) else pending[0])


async def _summary(bus: Bus, session_id: str, opened_ms: float) -> SessionSummary:
    """Return the summary of one session; with status UNREADABLE for a session with foreign content."""
    try:
        return await _readable_summary(bus, session_id, opened_ms)
    except (AntiphonError, ResponseError, LookupError) as error:
        if isinstance(error, RedisUnavailable) or is_unavailable(error):
            raise
        opened = datetime.fromtimestamp(opened_ms / 1000, UTC)
        return SessionSummary(
            session_id=session_id, opened=opened, status=UNREADABLE, round=0, query=f"({error})"
        )


async def _readable_summary(bus: Bus, session_id: str, opened_ms: float) -> SessionSummary:
    session = bus.session(session_id)
    (_, state), response, first = await asyncio.gather(
        session.document(STATE),
        session.response(),
        bus.batcher.submit("XRANGE", bus.keys.log(session_id), "-", "+", "COUNT", 1),
    )
    opened = SESSION.read(state) if state else None
    data = decode(first[0][1][b"event"]).data if first else None
    is_open = opened is not None and response is None
    waiting = undecided_calls(opened) if opened and is_open else ()
    questions = (
        tuple(question.question for question in waiting_questions(opened)) if opened and is_open else ()
    )
    if isinstance(data, QuerySubmitted) and data.options.workflow is not None and response is None:
        waiting, questions = await _people_of_run(bus, session_id)
    status = "waiting" if waiting or questions else "open" if first else "expired"
    return SessionSummary(
        session_id=session_id,
        opened=datetime.fromtimestamp(opened_ms / 1000, UTC),
        status=response.status if response else status,
        round=response.rounds_used if response else opened.round if opened else 0,
        query=data.query if isinstance(data, QuerySubmitted) else "",
        waits_for=tuple(f"{call.name} ({call.id})" for call in waiting),
        asks=questions,
    )


async def _people_of_run(bus: Bus, run_id: str) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
    """Return the calls of a run that a person has to decide on, and the nodes that wait for a person's values."""
    from antiphon.run_state import calls_to_decide, nodes_to_answer, run_state  # most lists show no runs

    state = await run_state(bus, run_id)
    if state is None or state.run.ended is not None:
        return (), ()
    calls = tuple(one.call for one in calls_to_decide(state))
    return calls, tuple(f"values for {path}" for path in nodes_to_answer(state))


def _queued(event: AnyEvent) -> SessionSummary:
    query = event.data.query if isinstance(event.data, QuerySubmitted) else ""
    return SessionSummary(session_id=event.subject, opened=event.time, status="queued", round=0, query=query)


def member_scores(rows: Any) -> list[tuple[bytes, Any]]:
    """Return members with scores, which some servers send in pairs, and some in a flat list."""
    if rows and not isinstance(rows[0], (list, tuple)):
        return list(zip(rows[::2], rows[1::2], strict=True))
    return [tuple(row) for row in rows]
