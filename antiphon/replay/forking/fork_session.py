"""A fork: a recorded session, resumed live from one of its events, with changes.

    lines = await fork(list(read_lines(path)), "reasoning.requested@2", read_changes("claude-opus-5-5"), tools=[...])

The new recording contains the earlier lines as they were recorded. From there on today's components run on a private
Redis, with real calls of the model and the tools. The time until the session's deadline stays the same. A `fork` record
and the header's `parent` contain the changes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from antiphon_shared.bus.handling import STATE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.restoring import restore
from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.process.environment import environment
from antiphon_shared.text.excerpt import list_names
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.relevance import BUILT_INS

from antiphon.embedded import EmbeddedPipeline
from antiphon.errors import StillRunning
from antiphon.recording.hashes import content_hash
from antiphon.recording.lines import (
    CatalogueLine,
    ContentLine,
    End,
    EventLine,
    Header,
    Line,
    Parent,
    RecordLine,
    encode_line,
)
from antiphon.recording.session_lines import session_lines
from antiphon.replay.forking.changes import Changes, forked
from antiphon.replay.forking.event_at import NoSuchPoint
from antiphon.replay.forking.point import Point, point_at
from antiphon.replay.forking.snapshot import content_of, moved_timers, snapshot
from antiphon.replay.forking.writes import restore_writes
from antiphon.replay.provider import provider_of
from coordinator.document import SESSION
from coordinator.session import Session

_POLL_S = 0.02
_PATIENCE_S = 30.0
"""The extra time beyond the session's deadline and the time for its answer; also the limit for publishing the tools.
"""


async def fork(
    lines: Sequence[Line],
    place: str,
    changes: Changes,
    tools: Sequence[Any] = (),
    on_start: Callable[[Point], None] = lambda point: None,
) -> list[Line]:
    """Return the new recording.

    `place` is the number of an event, or its type such as `reasoning.requested@2`; `tools` are as for a pipeline.
    Raises NoSuchPoint, UnreadableEvent, ConfigurationError, and StillRunning if the session does not end in time.
    """
    point = point_at(lines, place)
    assert point.session is not None, "a point's session is open"
    if not tools:
        _check_needs_no_tools(point.session)
    on_start(point)
    async with pipeline_of(tools, changes) as (pipeline, bus):
        if tools:
            content, catalogue = await published_by(pipeline, bus)
        else:
            content = point.session.tools.catalogue
            catalogue = point.content.catalogue(content)
        forked_session = forked(point, changes, utc_now(), content, catalogue)
        session, catalogues = forked_session.session, {content: catalogue} if content else {}
        moments = {point.session.deadline: session.deadline}
        timers = moved_timers(point.timers, forked_session.moved_by, moments)
        rest = content_of(session, point.briefings)
        await restore_writes(bus, point)
        await restore(bus, snapshot(point.lines, forked_session.deliveries, catalogues, timers, **rest))
        await _wait_for_end(pipeline, bus, session)
        live = [line async for line in session_lines(session.id, bus)]
    own: list[Line] = [RecordLine(record=forked_session.record)]
    if content and content not in point.content.catalogues:
        own.insert(0, CatalogueLine(hash=content, catalogue=catalogue))
    header = _header(lines, point, changes, session)
    return list(join_lines(header, point.lines[1:], own, live, point.content.contents))


def _check_needs_no_tools(session: Session) -> None:
    """Raise NoSuchPoint if the session may still call tools, whose functions are not recorded."""
    names = [name for name in session.tools.usable if name not in BUILT_INS]
    may_continue = session.last_round is None or session.steps.number > 0
    if names and may_continue and session.phase != "assembling":
        raise NoSuchPoint(
            f"From that event on the session can call tools, whose functions are not recorded: {list_names(names, 5)}.",
            hint="Name their module, or other tools, with --tools.",
        )


@asynccontextmanager
async def pipeline_of(tools: Sequence[Any], changes: Changes) -> AsyncIterator[tuple[EmbeddedPipeline, Bus]]:
    """Run the five components with the settings of the fork; yield the pipeline and its bus."""
    with environment({**changes.settings, "ANTIPHON_BUS_RECORDING": "true"}):
        pipeline = EmbeddedPipeline(tools, provider_of(changes.model))
        bus = await pipeline.start()
    try:
        yield pipeline, bus
    finally:
        await pipeline.stop()


async def published_by(pipeline: EmbeddedPipeline, bus: Bus) -> tuple[str, Catalogue]:
    """Return the content hash and the tools of a pipeline. Raises StillRunning, PipelineFailed."""
    until_s = monotonic_s() + _PATIENCE_S
    while (published := await bus.current_catalogue()) is None:
        await wait_briefly(pipeline, until_s, "its tools were not published")
    return published, await bus.catalogue(published)


async def _wait_for_end(pipeline: EmbeddedPipeline, bus: Bus, session: Session) -> None:
    """Return when the session is closed. Raises StillRunning, PipelineFailed."""
    left_s = (session.deadline - utc_now()).total_seconds() + session.limits.assembly_s
    until_s = monotonic_s() + max(0.0, left_s) + _PATIENCE_S
    while True:
        _, content = await bus.session(session.id).document(STATE)
        if content is not None and SESSION.read(content).phase == "closed":
            return
        await wait_briefly(pipeline, until_s, "the session did not end in its time")


async def wait_briefly(pipeline: EmbeddedPipeline, until_s: float, problem: str) -> None:
    """Wait a short time; `problem` describes a missed limit. Raises StillRunning, PipelineFailed."""
    pipeline.check()
    if monotonic_s() > until_s:
        raise StillRunning(
            f"The fork has no result: {problem}.", hint="Raise --set deadline_s, or check its tools."
        )
    await asyncio.sleep(_POLL_S)


def forked_header(
    parent: Sequence[Line], event: EventLine, changes: Mapping[str, str], catalogue: str
) -> Header:
    """Return the header of a fork that resumes after `event`, with the hash of its catalogue, if it has one."""
    header = parent[0]
    assert isinstance(header, Header), "a recording begins with its header"
    forked_from = Parent(
        session_id=header.session_id, digest=digest_of_lines(parent), event=event.n, changes=dict(changes)
    )
    catalogues = dict.fromkeys((*header.catalogues, *filter(None, [catalogue])))
    return header.model_copy(update={"parent": forked_from, "catalogues": tuple(catalogues)})


def digest_of_lines(lines: Iterable[Line]) -> str:
    """Return the digest of a recording by which forks name their parent; compression does not matter."""
    return content_hash(b"\n".join(map(encode_line, lines)))


def join_lines(
    header: Header,
    recorded: Sequence[Line],
    new: Sequence[Line],
    live: Sequence[Line],
    hashes: Container[str],
) -> Iterator[Line]:
    """Yield a fork: the recorded lines, the fork's own lines, and the later lines of the live session.

    `hashes` are the hashes of the contents in the recorded lines.
    """
    yield header
    yield from recorded
    yield from new
    copied = events = sum(isinstance(line, EventLine) for line in recorded)
    records = sum(isinstance(line, RecordLine) for line in (*recorded, *new))
    for line in live:
        match line:
            case EventLine() if line.n > copied:
                events += 1
            case RecordLine():
                records += 1
            case ContentLine() if line.hash not in hashes:
                pass
            case _:
                continue
        yield line
    yield End(events=events, records=records)


def _header(lines: Sequence[Line], point: Point, changes: Changes, session: Session) -> Header:
    assert point.event is not None, "a point is after an event"
    header = forked_header(lines, point.event, changes.by_option, session.tools.catalogue)
    prompt = {"reason": changes.by_option["prompt"]} if "prompt" in changes.by_option else {}
    models = tuple(dict.fromkeys((*header.models, *session.models.order)))
    return header.model_copy(update={"prompts": header.prompts | prompt, "models": models})
