"""The state of a recorded run at an event or a node, by its own specification or another. Pure.

The state follows from the recorded events by the specification with which the run resumes. That specification must lead
to the point in the same way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from antiphon_shared.events import QuerySubmitted, ToolsRequested
from antiphon_shared.events.step_records import ForkRecord, RunRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.text.excerpt import list_names
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.workflows.specification import Specification, specification_hash

from antiphon.recording.lines import End, EventLine, Header, Line, RecordLine, data_in, records_in
from antiphon.replay.by_specification.compared_run import DecisionPairs
from antiphon.replay.by_specification.recorded_run import RecordedRun
from antiphon.replay.by_specification.rehearsal import Rehearsal, RehearsedDecision
from antiphon.replay.checks.run_outputs import node_of
from antiphon.replay.checks.specifications import as_stored, specification_in
from antiphon.replay.forking.event_at import NoSuchPoint, event_at
from antiphon.replay.forking.point import Timer, end_of_step, set_timer
from antiphon.replay.steps.replay_state import Step
from coordinator.runs.state import RunChange
from coordinator.workflows.plan import template_of

_LISTED_MAX = 20


@dataclass
class RunPoint:
    """A run right after one of its events, or just before one of its nodes begins."""

    header: Header
    lines: list[Line]
    event: EventLine
    """The last event included."""
    recorded: RecordedRun
    rehearsal: Rehearsal
    changes: list[tuple[UUID, RunChange]] = field(default_factory=list)
    timers: dict[str, Timer] = field(default_factory=dict)
    deliveries: list[EventLine] = field(default_factory=list)
    """The deliveries in flight, with the rehearsal's numbers for requests."""


def is_run(lines: Sequence[Line]) -> bool:
    """Return whether a recording is of a run."""
    query = next(data_in(lines, QuerySubmitted), None)
    return query is not None and query.options.workflow is not None


def run_point(
    lines: Sequence[Line],
    place: str,
    node: str,
    specification: Specification | None,
    catalogue: tuple[str, Catalogue] | None,
) -> RunPoint:
    """Return the state of a run at the point of a fork. Raises NoSuchPoint, with the reason, and UnreadableEvent.

    Args:
        lines: The recording.
        place: The last event to include: a number, or a type and round; empty with `node`.
        node: The path of the node to begin again.
        specification: The specification to resume with; None for the run's own.
        catalogue: The tools that another specification may call, and the hash of their catalogue.
    """
    run = RecordedRun.of(lines)
    taken = list(_lines_until(lines, run, place, node))
    recorded = RecordedRun.of(taken)
    events = [line for line in taken if isinstance(line, EventLine)]
    query = events[0].event.data
    assert isinstance(query, QuerySubmitted), "it is a run"
    assert query.options.workflow is not None, "it is a run"
    own = _own(run)
    chosen, name = specification or own, query.options.workflow.name
    if name not in chosen.workflows:
        raise NoSuchPoint(
            f"The other workflow file does not contain the workflow {name!r}.",
            hint="Use a file that contains it.",
        )
    rehearsal = Rehearsal(recorded, as_stored(chosen), specification_hash(chosen), name, catalogue)
    assert isinstance(lines[0], Header), "a recording begins with its header"
    point = RunPoint(lines[0], taken, events[-1], recorded, rehearsal)
    _rehearse(point)
    point.deliveries = list(_in_flight(point, events))
    if recorded.decisions and not (point.deliveries or point.timers):
        raise NoSuchPoint("The run cannot continue from there: no work is left.", hint=_hint(run))
    return point


def _own(run: RecordedRun) -> Specification:
    if run.opened is None:
        raise NoSuchPoint("The run had not started.", hint="Start it again with `antiphon workflows run`.")
    return specification_in(run.content, run.opened.specification)


def _lines_until(lines: Sequence[Line], run: RecordedRun, event_name: str, node: str) -> Iterator[Line]:
    """Yield the lines up to an event, or up to the event that began a node, which is decided again."""
    if any(records_in(lines, ForkRecord)):
        raise NoSuchPoint("A fork of a run cannot be forked again.", hint="Fork its original run.")
    unhandled: UUID | None = None
    if node:
        cause = _event_that_began(run, node)
        last, unhandled = cause.n, cause.event.id
    else:
        last = end_of_step(lines, event_at(lines, event_name).n)
    for line in lines:
        if isinstance(line, End) or (isinstance(line, EventLine) and line.n > last):
            return
        if isinstance(line, RecordLine) and line.record.of == unhandled:
            return
        yield line


def _event_that_began(run: RecordedRun, node: str) -> EventLine:
    """Return the event whose decision began a node."""
    begun: dict[str, EventLine] = {}
    for decided in run.decisions:
        assert isinstance(decided.record, RunRecord), "a decision on a run"
        waits = [timer.name.partition(":")[2] for timer in decided.record.timers if timer.type]
        for path in (*map(node_of, decided.sent), *waits):
            if path:
                begun.setdefault(path, decided.line)
    if node not in begun:
        hint = f"These have: {list_names(begun, _LISTED_MAX)}."
        raise NoSuchPoint(f"The run did not start a node {node!r}.", hint=hint)
    return begun[node]


def _rehearse(point: RunPoint) -> None:
    """Rehearse the decisions up to the point. Raises NoSuchPoint if the specification decides differently."""
    pairs = DecisionPairs(point.rehearsal)
    for decided in point.recorded.decisions:
        pair = pairs.next(decided)
        if pair.differences:
            first = pair.differences[0]
            raise NoSuchPoint(
                "With this workflow file the run would have differed before that point: at event "
                f"{decided.line.n}, {first.sentence}.",
                hint=_earlier(first.node),
            )
        assert pair.now is not None, "it was decided"
        assert pair.now.step is not None, "as it was recorded"
        point.changes.append((decided.line.event.id, pair.now.step.change))
        _timers(point, decided, pair.now)
    if point.rehearsal.state.run.ended is not None:
        raise NoSuchPoint(
            "The run had already ended.", hint="Continue from an earlier event, or from a node."
        )


def _earlier(node: str) -> str:
    return (
        f"Continue from that node: --from-node {node}."
        if node
        else "Continue from an earlier event, or run the workflow again."
    )


def _timers(point: RunPoint, decided: Step, decision: RehearsedDecision) -> None:
    """Update the timers after a decision."""
    fired = decided.line.event.data
    for name, timer in list(point.timers.items()):
        if timer.data == fired:
            del point.timers[name]
    sent = (decided.outputs or [decided.line])[-1].event.time
    for number, record in enumerate(decision.timers, start=decided.record.outputs):
        set_timer(point.timers, record, sent, decided.line, number)


def _in_flight(point: RunPoint, events: Sequence[EventLine]) -> Iterator[EventLine]:
    """Yield unanswered calls, and events without a decision yet. Raises NoSuchPoint."""
    state, decided = point.rehearsal.state, {one.line.event.id for one in point.recorded.decisions}
    handled = {line.event.causationid for line in events}
    for path, open in state.open.items():
        if open.kind in ("person", "approval", "reason"):
            waits = "for a person" if open.kind != "reason" else "for a model"
            raise NoSuchPoint(
                f"The run waits {waits} at `{path}`, which a fork cannot do.",
                hint="Continue from a point before or after that node.",
            )
        request = _request(path, open.number, events) if open.kind == "call" else None
        if request is not None and request.event.id not in handled:
            yield request
    for line in events:
        is_undecided = line.event.data.inbox == "coordinator" and line.event.id not in decided
        if is_undecided and point.rehearsal.has_effect(line):
            yield line


def _request(path: str, number: int, events: Sequence[EventLine]) -> EventLine:
    requests = [
        line
        for line in events
        if isinstance(line.event.data, ToolsRequested) and line.event.data.node == path
    ]
    if not requests:
        raise UnreadableEvent(f"the recording lacks the running call of `{path}`.")
    line = requests[-1]
    data = line.event.data.model_copy(update={"round": number})
    return EventLine(line.n, line.entry, line.event.model_copy(update={"data": data}))


def _hint(run: RecordedRun) -> str:
    begun = dict.fromkeys(
        template_of(node) for one in run.decisions for node in map(node_of, one.sent) if node
    )
    return f"Start one of these nodes again with --from-node: {list_names(begun, _LISTED_MAX)}."
