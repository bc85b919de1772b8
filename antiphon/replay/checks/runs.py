"""The coordinator's decisions about a run, repeated on the state that follows from the recorded log.

A recording contains only a digest of each change to the state. So the state follows from today's decisions; as long as
the digests are equal, it is the recorded state.
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
from antiphon.replay.checks.run_inputs import (
    failed_event,
    opening_of,
    outputs_of,
    pinned_run,
    refuse_part,
    value_reader,
)
from antiphon.replay.checks.run_outputs import send_differences
from antiphon.replay.checks.specifications import graph_of, specification_in
from antiphon.replay.differences import Difference, differences
from antiphon.replay.steps.replay_state import RecordingContent, RepeatedStep, Step
from coordinator.record import send_records, timer_record
from coordinator.runs.opening import opened_run, unknown_workflow
from coordinator.runs.state import RUN_CHANGE, RunState
from coordinator.runs.step import Step as Taken
from coordinator.runs.step import begin, take
from coordinator.runs.step_builder import Pinned

OTHER_STATE = "an earlier decision of the run is made otherwise today, so that its state is another"


class RunDecisions:
    """The repetition of a run's decisions on its state."""

    def __init__(self) -> None:
        self.state = RunState()
        self.pinned: Pinned | None = None
        """The fixed inputs of the run's decisions; None until the run has begun."""
        self.decided: list[Step] = []
        self.lacks = ""
        """The reason why the recorded state is unknown, so that no later decision can be repeated."""

    @property
    def can_tell_effect(self) -> bool:
        """Return whether the effect of an event without a decision can be found out."""
        return self.pinned is not None and not self.lacks

    def redo(self, step: Step, content: RecordingContent) -> RepeatedStep:
        """Repeat a decision with today's code. Raises UnreadableEvent if this or an earlier one lacks an input."""
        if self.lacks:
            raise UnreadableEvent(self.lacks)
        assert isinstance(step.record, RunRecord)
        try:
            return self._redo(step, step.record, content)
        except UnreadableEvent as error:
            self.lacks = f"an earlier decision of the run is not known: {error.message}"
            raise

    def _redo(self, step: Step, record: RunRecord, content: RecordingContent) -> RepeatedStep:
        event = step.line.event
        if isinstance(event.data, QuerySubmitted):
            taken: Taken | None = self._opening(step, event.data, content)
        else:
            taken = self.step_after(step.line, content)
        if taken is None:
            self.lacks = OTHER_STATE
            return RepeatedStep(
                (), (("state", Difference("", "a change", "nothing follows from the event")),)
            )
        self.state.apply(taken.change)
        self.decided.append(step)
        outputs = outputs_of(taken)
        if decision_path(step.sent) != decision_path([in_format(one, event.format) for one in outputs]):
            self.lacks = OTHER_STATE
        timers = tuple(timer_record(timer, event.format) for timer in taken.timers)
        changed = RunRecord.digest(RUN_CHANGE.write(taken.change, event.format))
        sends = send_records(taken.sends, event.format)
        today = RunRecord(of=event.id, changed=changed, timers=timers, sends=sends)
        others = [("timers", one) for one in differences(_by_name(record.timers), _by_name(timers))]
        digests = (record.changed, changed) if record.changed != changed else None
        sent = send_differences(record.sends, sends, outputs)
        return RepeatedStep(outputs, tuple(others), today, sends=sent, digests=digests)

    def forked(self, record: ForkRecord, content: RecordingContent) -> None:
        """Continue as a fork did, with the state that follows from the same events by its specification."""
        # Few recordings are of forks.
        from antiphon.replay.by_specification.after_fork import state_after_fork

        if self.lacks or not self.decided:
            return
        try:
            self.pinned, self.state = state_after_fork(record, self.decided, content)
        except UnreadableEvent as error:
            self.lacks = f"what the fork has changed cannot be read: {error.message}"

    def is_ignored(self, line: EventLine, content: RecordingContent) -> bool:
        """Return whether an event has no effect on the run in its current state."""
        return isinstance(line.event.data, ResponseReady) or self.step_after(line, content) is None

    def step_after(self, line: EventLine, content: RecordingContent) -> Taken | None:
        """Return the step that follows from an event in the current state; None if it has no effect.

        Raises UnreadableEvent.
        """
        if self.pinned is None:
            raise UnreadableEvent("it was decided on before the run had begun.")
        refuse_part(line.event.data)
        read_value, failed = value_reader(self.state, content), failed_event(line.event, content)
        return take(self.pinned, self.state, line.event, line.entry, read_value, failed)

    def _opening(self, step: Step, query: QuerySubmitted, content: RecordingContent) -> Taken:
        event = step.line.event
        recorded = step.output(RunOpened)
        if recorded is None:
            raise UnreadableEvent(f"no {RunOpened.type} came of event {step.line.n}.")
        assert query.options.workflow is not None, "only a query of a workflow becomes a run"
        opened = _opened(event, query, recorded, content)
        graph = None
        if not opened.problem:
            graph = graph_of(specification_in(content, opened.specification), opened.workflow)
        self.pinned = pinned_run(event, query, opened, graph)
        return begin(self.pinned, event, step.line.entry, query.options.workflow.params)


def decision_path(outputs: list[EventData]) -> list[Any]:
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


def _opened(
    event: AnyEvent, query: QuerySubmitted, recorded: RunOpened, content: RecordingContent
) -> RunOpened:
    """Return the opening event of the run as today's code makes it.

    The recording does not list the published workflows: if none had that name, the recorded list is used.
    """
    specification = specification_in(content, recorded.specification) if recorded.specification else None
    catalogue, opening = content.catalogue(recorded.catalogue), opening_of(recorded)
    opened = opened_run(
        event,
        query,
        specification,
        recorded.specification,
        published={},
        opening=opening,
        catalogue=catalogue,
        compiled=graph_of,
    )
    assert query.options.workflow is not None, "only a query of a workflow becomes a run"
    if specification is None and recorded.problem.startswith(unknown_workflow(query.options.workflow.name)):
        return opened.model_copy(update={"problem": recorded.problem})
    return opened


def _by_name(timers: tuple[TimerRecord, ...]) -> dict[str, Any]:
    return {one.name: one.model_dump(mode="json", exclude_defaults=True) for one in timers}
