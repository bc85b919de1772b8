"""The coordinator's decisions about a run, repeated on the state that its recorded log leads to.

A recording holds only a digest of a decision's change to the state. So the state follows today's decisions:
while the digests are equal, it is the recorded state.
"""

from typing import Any

from antiphon_shared.events import (
    AnyEvent,
    EventData,
    QuerySubmitted,
    ResponseReady,
    RunOpened,
    ToolsRequested,
)
from antiphon_shared.events.step_records import ForkRecord, RunRecord, TimerRecord
from antiphon_shared.formats import in_format
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.lines import EventLine
from antiphon.replay.checks.run_inputs import kept_in, named_by, opening_of, outputs_of, pinned_run
from antiphon.replay.checks.run_outputs import send_differences
from antiphon.replay.checks.specifications import graph_of, specification_in
from antiphon.replay.differences import Difference, differences
from antiphon.replay.steps.known import Known, Redone, Step
from coordinator.record import send_records, timer_record
from coordinator.runs.opening import opened_run
from coordinator.runs.results import refuse_part
from coordinator.runs.state import RUN_CHANGE, RunState
from coordinator.runs.step import Step as Taken
from coordinator.runs.step import begin, take
from coordinator.runs.step_builder import Pinned

ASTRAY = "an earlier decision of the run is made otherwise today, so that its state is another"


class RunDecisions:
    """One run, followed through its recorded decisions."""

    def __init__(self) -> None:
        self.state = RunState()
        self.pinned: Pinned | None = None
        """None until the run has begun."""
        self.decided: list[Step] = []
        self.lacks = ""
        """The reason why the recorded state is unknown, and so no later decision can be repeated."""

    @property
    def can_look(self) -> bool:
        """Return whether the effect of an event without a decision can be found out."""
        return self.pinned is not None and not self.lacks

    def redo(self, step: Step, known: Known) -> Redone:
        """Repeat one decision with today's code. Raises UnreadableEvent when this or an earlier one lacks something."""
        if self.lacks:
            raise UnreadableEvent(self.lacks)
        assert isinstance(step.record, RunRecord)
        try:
            return self._redo(step, step.record, known)
        except UnreadableEvent as error:
            self.lacks = f"an earlier decision of the run is not known: {error.message}"
            raise

    def _redo(self, step: Step, record: RunRecord, known: Known) -> Redone:
        event, entry = step.line.event, step.line.entry
        if isinstance(event.data, QuerySubmitted):
            taken: Taken | None = self._opening(step, event.data, known)
        else:
            taken = self.step_after(event, entry, known)
        if taken is None:
            self.lacks = ASTRAY
            return Redone((), (("state", Difference("", "a change", "nothing follows from the event")),))
        self.state.apply(taken.change)
        self.decided.append(step)
        outputs = outputs_of(taken)
        then = [one.event.data for one in step.outputs]
        if way_of(then) != way_of([in_format(one, event.format) for one in outputs]):
            self.lacks = ASTRAY
        timers = tuple(timer_record(timer, event.format) for timer in taken.timers)
        changed = RunRecord.digest(RUN_CHANGE.write(taken.change, event.format))
        sends = send_records(taken.sends, event.format)
        today = RunRecord(of=event.id, changed=changed, timers=timers, sends=sends)
        others = (
            [("timers", one) for one in differences(_by_name(record.timers), _by_name(timers))]
            if record.timers != timers
            else []
        )
        digests = (record.changed, changed) if record.changed != changed else None
        sent = send_differences(record.sends, sends, outputs)
        return Redone(outputs, tuple(others), today, sends=sent, digests=digests)

    def forked(self, record: ForkRecord, known: Known) -> None:
        """Continue as a fork did: with the state that the same events lead to by its specification."""
        from antiphon.replay.by_specification.after_fork import (
            state_after_fork,  # few recordings are of forks
        )

        if self.lacks or not self.decided:
            return
        try:
            self.pinned, self.state = state_after_fork(record, self.decided, known)
        except UnreadableEvent as error:
            self.lacks = f"what the fork has changed cannot be read: {error.message}"

    def is_ignored(self, line: EventLine, known: Known) -> bool:
        """Return whether the run, in its present state, changes nothing on an event."""
        return (
            isinstance(line.event.data, ResponseReady)
            or self.step_after(line.event, line.entry, known) is None
        )

    def step_after(self, event: AnyEvent, entry: str, known: Known) -> Taken | None:
        """Return the step that follows from an event in the present state; None for no effect.

        Raises UnreadableEvent.
        """
        if self.pinned is None:
            raise UnreadableEvent("it was decided on before the run had begun.")
        refuse_part(event.data)
        return take(self.pinned, self.state, event, entry, kept_in(self.state, known), named_by(event, known))

    def _opening(self, step: Step, query: QuerySubmitted, known: Known) -> Taken:
        event = step.line.event
        recorded = next((one.event.data for one in step.outputs), None)
        if not isinstance(recorded, RunOpened):
            raise UnreadableEvent(f"no {RunOpened.type} came of event {step.line.n}.")
        assert query.options.workflow is not None, "only a query of a workflow becomes a run"
        opened = _opened(event, query, recorded, known)
        graph = None
        if not opened.problem:
            graph = graph_of(specification_in(known, opened.specification), opened.workflow)
        self.pinned = pinned_run(event, query, opened, graph)
        return begin(self.pinned, event, step.line.entry, query.options.workflow.params)


def way_of(outputs: list[EventData]) -> list[Any]:
    """Return the parts of a step's events that later decisions depend on: their types, nodes and calls."""
    return [
        (
            one.type,
            getattr(one, "node", ""),
            getattr(one, "round", 0),
            [call.id for call in one.calls] if isinstance(one, ToolsRequested) else (),
        )
        for one in outputs
    ]


def _opened(event: AnyEvent, query: QuerySubmitted, recorded: RunOpened, known: Known) -> RunOpened:
    """Return the opening event of the run as today's code makes it.

    The recording does not list the published workflows: where none had that name, the recorded list is used.
    """
    specification = specification_in(known, recorded.specification) if recorded.specification else None
    catalogue, opening = known.catalogue(recorded.catalogue), opening_of(recorded)
    opened = opened_run(
        *(event, query, specification, recorded.specification),
        published={},
        opening=opening,
        catalogue=catalogue,
        compiled=graph_of,
    )
    if specification is None and opened.problem and recorded.problem.startswith(opened.problem):
        return opened.model_copy(update={"problem": recorded.problem})
    return opened


def _by_name(timers: tuple[TimerRecord, ...]) -> dict[str, Any]:
    return {one.name: one.model_dump(mode="json", exclude_defaults=True) for one in timers}
