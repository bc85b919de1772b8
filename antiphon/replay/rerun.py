"""`replay rerun`: today's whole pipeline runs recorded sessions again.

Redis, the five components and their events are real. The model and the tools are not called: they answer from the
recording, by the content of each request, and a request that was not recorded is refused. Outside events, of people
and timers, are sent again after the events before them.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path

import structlog
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.restoring import restore
from antiphon_shared.events import COMPONENTS, ChildBegun, EventData, QuerySubmitted, encode
from antiphon_shared.formats import FORMAT
from antiphon_shared.process import logs
from antiphon_shared.process.environment import environment
from antiphon_shared.process.runner import run_service
from antiphon_shared.process.settings import BusSettings, load

from antiphon import private_redis
from antiphon.recording.files import naming, read_lines
from antiphon.recording.lines import data_in
from antiphon.replay.forking.snapshot import content_of, snapshot
from antiphon.replay.rerun_report import RerunReport, report_of
from antiphon.replay.serving.exchanges import Miss
from antiphon.replay.serving.recording_index import RecordingIndex
from antiphon.replay.serving.surroundings import HIDDEN, variables
from antiphon.replay.serving.turns import POLL_S, wait_for_events

SESSION_LIMIT_S = 60.0
_CONCURRENCY = 8
_CONNECT_PATIENCE_S = 10.0
_CHECK_INTERVAL_S = 1.0
_GRACE_S = 0.2


_Recorded = tuple[Path, RecordingIndex]


async def rerun(paths: Sequence[Path], *, limit_s: float = SESSION_LIMIT_S) -> list[RerunReport]:
    """Run recordings again; return a report for each.

    `limit_s` is the longest time without a new event in a session. Raises UnreadableEvent, which names the file.
    """
    if not structlog.is_configured():
        logs.silence("critical")  # recorded failures occur again, and are expected
    recordings: list[_Recorded] = []
    for path in paths:
        recordings.append((path, _read(path)))
        await asyncio.sleep(0)  # Ctrl-C ends the reading
    reports: dict[Path, RerunReport] = {}
    for wave in _waves(recordings):
        reports |= await _run_again(wave, limit_s)
    return [reports[path] for path in paths]


def is_independent(path: Path) -> bool:
    """Return whether a recorded session has no parent and no child sessions; only such sessions are run again.

    Raises UnreadableEvent and OSError.
    """
    return not any(
        isinstance(data, ChildBegun) or (isinstance(data, QuerySubmitted) and data.parent is not None)
        for data in data_in(read_lines(path), EventData)
    )


def _read(path: Path) -> RecordingIndex:
    with naming(path):
        return RecordingIndex(read_lines(path))


def _waves(recordings: Iterable[_Recorded]) -> list[list[_Recorded]]:
    """Return groups of recordings that can share a Redis, as each is of another session."""
    waves: list[dict[str, _Recorded]] = []
    for path, recording_index in recordings:
        wave = next((one for one in waves if recording_index.session_id not in one), None)
        if wave is None:
            waves.append(wave := {})
        wave[recording_index.session_id] = path, recording_index
    return [list(wave.values()) for wave in waves]


async def _run_again(recordings: Sequence[_Recorded], limit_s: float) -> dict[Path, RerunReport]:
    """Run recordings of different sessions on one pipeline, a few at once; return the reports by path."""
    by_session = {recording_index.session_id: recording_index for _, recording_index in recordings}
    misses: list[Miss] = []
    async with _redis() as bus, _pipeline(bus, by_session, misses):
        slots = asyncio.Semaphore(_CONCURRENCY)
        await asyncio.gather(*(_play(bus, one, slots, limit_s) for one in by_session.values()))
        return {
            path: report_of(
                str(path),
                recording_index,
                await bus.session(recording_index.session_id).log(),
                [miss for miss in misses if miss.session_id == recording_index.session_id],
            )
            for path, recording_index in recordings
        }


async def _play(bus: Bus, recording_index: RecordingIndex, slots: asyncio.Semaphore, limit_s: float) -> None:
    """Run one session from its query to its end, or until its log stops growing."""
    async with slots:
        await _begin(bus, recording_index)
        sending = asyncio.create_task(_send_outside_events(bus, recording_index))
        ending = asyncio.create_task(_wait_for_end(bus, recording_index, sending))
        try:
            await _wait_while_growing(bus, recording_index, ending, limit_s)
        finally:
            ending.cancel()
            sending.cancel()
            await asyncio.gather(sending, ending, return_exceptions=True)


async def _wait_while_growing(
    bus: Bus, recording_index: RecordingIndex, ending: asyncio.Task[None], limit_s: float
) -> None:
    """Wait for the end of a session while its log grows. Raises the errors of the wait."""
    log, length, unchanged_s = bus.keys.log(recording_index.session_id), -1, 0.0
    while unchanged_s < limit_s:
        done, _ = await asyncio.wait((ending,), timeout=_CHECK_INTERVAL_S)
        if done:
            return ending.result()
        before, length = length, await bus.batcher.submit("XLEN", log)
        unchanged_s = unchanged_s + _CHECK_INTERVAL_S if before == length else 0.0
    return None


async def _begin(bus: Bus, recording_index: RecordingIndex) -> None:
    """Submit the query as clients do, open its session in an earlier format, or restore the state of a fork."""
    begun, query = recording_index.beginning, recording_index.query
    if begun is None and query.format < FORMAT:  # the intake would open it in the format of today
        await bus.publish(query, "open")
        return
    if begun is None:
        await bus.batcher.submit("XADD", bus.keys.queries(), "*", "event", encode(query))
        return
    lines, content = recording_index.events[: begun.taken_over], content_of(begun.session, begun.briefings)
    await restore(bus, snapshot(lines, begun.deliveries, recording_index.content.catalogues, **content))


async def _send_outside_events(bus: Bus, recording_index: RecordingIndex) -> None:
    """Send the events of people and timers, each after the events before it."""
    for line in recording_index.outside:
        await wait_for_events(bus, recording_index.session_id, line.n - 1)
        await bus.publish(line.event, "signal")


async def _wait_for_end(bus: Bus, recording_index: RecordingIndex, sending: asyncio.Task[None]) -> None:
    """Wait for the answer and the last events of a session; without a recorded answer, for the last events."""
    session = bus.session(recording_index.session_id)
    if recording_index.response is None:
        await sending
        await wait_for_events(bus, recording_index.session_id, len(recording_index.events))
        return
    while await session.response() is None:
        if sending.done():
            sending.result()
        await asyncio.sleep(POLL_S)
    while not await wait_for_events(bus, recording_index.session_id, len(recording_index.events)):
        if not await _has_work(bus, recording_index.session_id):
            return  # no component will send the missing events


async def _has_work(bus: Bus, session_id: str) -> bool:
    """Return whether a component has work: a summary may still be in flight after the answer."""
    partition = bus.keys.partition(session_id)
    inboxes = [bus.keys.inbox(partition, component) for component in COMPONENTS]
    return any([await bus.batcher.submit("XLEN", inbox) for inbox in inboxes])


@contextlib.asynccontextmanager
async def _redis() -> AsyncIterator[Bus]:
    """Yield a bus on a private Redis. Raises RedisUnavailable."""
    redis = private_redis.choose()
    bus = None
    try:
        connections = await redis.start()
        with environment(variables(connections.url), without=HIDDEN):
            bus = Bus(connections, Keys(), load(BusSettings))
        await bus.open(_CONNECT_PATIENCE_S)
        yield bus
    finally:
        if bus is not None:
            await bus.close()
        await redis.stop()


@contextlib.asynccontextmanager
async def _pipeline(
    bus: Bus, by_session: Mapping[str, RecordingIndex], misses: list[Miss]
) -> AsyncIterator[None]:
    """Run the five components as tasks of this process. Raises the error that ended one of them."""
    from antiphon.replay.serving.components import part_of  # imports the model's SDK

    stop = asyncio.Event()
    with environment(variables(bus.connections.url), without=HIDDEN):
        services = [part_of(name, bus, by_session, misses) for name in COMPONENTS]
    tasks = [asyncio.create_task(run_service(bus, service, stop, _GRACE_S)) for service in services]
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*tasks)
