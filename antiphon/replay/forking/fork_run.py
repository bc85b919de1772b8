"""A fork of a recorded run, resumed live from one of its events or nodes, by its own specification or another.

    lines = await fork_run(list(read_lines(path)), "", "book", specification, read_changes(), tools=[...])

Earlier calls are not repeated. From there on the tools are really called; the components run on a private Redis.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

from antiphon_shared.bus.handling import RUN
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.restoring import restore
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.events import AnyEvent, QuerySubmitted, ResponseReady, ToolsRequested
from antiphon_shared.events.step_records import ForkRecord, StepRecord
from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.specification import Specification, canonical
from pydantic_core import from_json

from antiphon.embedded import EmbeddedPipeline
from antiphon.errors import StillRunning
from antiphon.recording.lines import CatalogueLine, EventLine, Line, RecordLine, SpecificationLine, records_in
from antiphon.recording.session_lines import session_lines
from antiphon.replay.by_specification.after_fork import moved_change
from antiphon.replay.forking.changes import Changes
from antiphon.replay.forking.event_at import NoSuchPoint
from antiphon.replay.forking.fork_session import (
    forked_header,
    join_lines,
    pipeline_of,
    published_by,
    wait_briefly,
)
from antiphon.replay.forking.moved import moved
from antiphon.replay.forking.run_point import RunPoint, run_point
from antiphon.replay.forking.snapshot import moved_timers, snapshot
from antiphon.replay.steps.redelivery import RUN_CHANGED, redelivered_as
from coordinator.runs.memory import stored_changes
from coordinator.runs.state import RUN_CHANGE, RunState

_PATIENCE_S = 30.0


async def fork_run(
    lines: Sequence[Line],
    place: str,
    node: str,
    *,
    specification: Specification | None,
    changes: Changes,
    tools: Sequence[Any],
    on_start: Callable[[RunPoint], None] = lambda point: None,
) -> list[Line]:
    """Return the new recording. For the arguments see `run_point`; `tools` are as for a pipeline.

    Raises NoSuchPoint, UnreadableEvent, ConfigurationError, and StillRunning if the run does not end.
    """
    if not tools:
        raise NoSuchPoint(
            "From that point on the run calls tools, whose functions are not recorded.",
            hint="Name their module with --tools.",
        )
    run_point(
        lines, place, node, specification, None
    )  # refuses an impossible fork before the pipeline starts
    async with pipeline_of(tools, changes) as (pipeline, bus):
        published = await published_by(pipeline, bus)
        point = run_point(lines, place, node, specification, published if specification else None)
        on_start(point)
        by = utc_now() - point.event.event.time
        deliveries = [_delivered(point, line, by) for line in point.deliveries]
        await _import_snapshot(bus, point, deliveries, by, published)
        await _wait_for_end(pipeline, bus, point)
        live = [line async for line in session_lines(point.header.session_id, bus)]
    return list(_joined(lines, point, _fork_record(point, deliveries, by), changes, published, live))


async def _import_snapshot(
    bus: Bus,
    point: RunPoint,
    deliveries: Sequence[EventLine],
    by: timedelta,
    published: tuple[str, Catalogue],
) -> None:
    """Restore the run, so that the components resume it."""
    await WorkflowStore(bus).store(point.rehearsal.specification)
    state, content, format = point.rehearsal.state, point.recorded.content, point.event.event.format
    changes = [*point.changes]
    if changes:
        changes.append((point.changes[-1][0], moved_change(state, by)))
    lists = {RUN: [of.bytes + RUN_CHANGE.write(change, format) for of, change in changes]}
    catalogues = {**content.catalogues, published[0]: published[1]}
    timers = moved_timers(point.timers, by)
    await restore(bus, snapshot(point.lines, deliveries, catalogues, timers, documents={}, lists=lists))


def _delivered(point: RunPoint, line: EventLine, by: timedelta) -> EventLine:
    """Return the event of a delivery that was in flight, as it is delivered now."""
    event: AnyEvent = moved(line.event, by)
    data = event.data
    if isinstance(data, QuerySubmitted):
        workflow = data.options.workflow
        assert workflow is not None, "it is a run"
        pinned = workflow.model_copy(update={"specification": point.rehearsal.content_hash})
        data = data.model_copy(update={"options": data.options.model_copy(update={"workflow": pinned})})
    elif isinstance(data, ToolsRequested):
        data = data.model_copy(update={"allowed": tuple(call.name for call in data.calls)})
    return EventLine(line.n, line.entry, event.model_copy(update={"data": data}))


def _fork_record(point: RunPoint, deliveries: Sequence[EventLine], by: timedelta) -> ForkRecord:
    """Return the record of a fork for replays; `deliveries` are as they are delivered now."""
    catalogue = point.rehearsal.catalogue
    changed = {
        "specification": point.rehearsal.content_hash,
        "catalogue": catalogue[0] if catalogue else None,
        "moved_us": by // timedelta(microseconds=1),
    }
    content = point.recorded.content
    return ForkRecord(
        of=point.event.event.id,
        changed={RUN_CHANGED: changed},
        redelivered=tuple(redelivered_as(content.lines[line.event.id], line) for line in deliveries),
    )


async def _wait_for_end(pipeline: EmbeddedPipeline, bus: Bus, point: RunPoint) -> None:
    """Return when the run has its answer. Raises StillRunning, PipelineFailed."""
    workflow = point.rehearsal.specification.workflows[point.rehearsal.workflow]
    until_s = monotonic_s() + workflow.timeout_s + _PATIENCE_S
    session = bus.session(point.header.session_id)
    while await session.response() is None:
        state = RunState()
        for _, change in await stored_changes(session):
            state.apply(change)
        kinds = {one.kind for one in state.open.values()}
        if kinds and kinds <= {"person", "approval"}:
            raise StillRunning(
                f"The fork waits for a person at {', '.join(state.open)}, but a fork cannot ask a person.",
                hint="Fork from a later point.",
            )
        await wait_briefly(pipeline, until_s, "the run did not end in its time")
    until_s = monotonic_s() + _PATIENCE_S
    while not await _is_recorded(bus, point.header.session_id):  # the answer is stored before its record
        await wait_briefly(pipeline, until_s, "the last decision of the run was not recorded")


async def _is_recorded(bus: Bus, session_id: str) -> bool:
    """Return whether the decision that sent the answer has its record."""
    lines = [line async for line in session_lines(session_id, bus)]
    records = {record.of for record in records_in(lines, StepRecord)}
    answers = [
        one for one in lines if isinstance(one, EventLine) and isinstance(one.event.data, ResponseReady)
    ]
    return any(answer.event.causationid in records for answer in answers)


def _joined(
    lines: Sequence[Line],
    point: RunPoint,
    record: ForkRecord,
    changes: Changes,
    published: tuple[str, Catalogue],
    live: Sequence[Line],
) -> Iterator[Line]:
    """Yield the recorded lines, the record of the fork, and the new lines."""
    known, content = point.recorded.content, point.rehearsal.content_hash
    changed = {**changes.by_option, "specification": content}
    header = forked_header(lines, point.event, changed, published[0])
    new: list[Line] = []
    if published[0] not in known.catalogues:
        new.append(CatalogueLine(hash=published[0], catalogue=published[1]))
    if content not in known.specifications:
        fields = from_json(canonical(point.rehearsal.specification))
        new.append(SpecificationLine(hash=content, specification=fields))
    new.append(RecordLine(record=record))
    return join_lines(header, point.lines[1:], new, live, known.contents)
