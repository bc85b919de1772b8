"""The state in which a forked run resumes. Pure."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from antiphon_shared.events.step_records import ForkRecord

from antiphon.replay.by_specification.recorded_run import RecordedRun
from antiphon.replay.by_specification.rehearsal import Rehearsal
from antiphon.replay.checks.specifications import specification_in
from antiphon.replay.forking.moved import moved
from antiphon.replay.steps.redelivery import RUN_CHANGED
from antiphon.replay.steps.replay_state import RecordingContent, Step
from coordinator.runs.state import Open, RunChange, RunState
from coordinator.runs.step_builder import Pinned


def moved_change(state: RunState, by: timedelta) -> RunChange:
    """Return the change that shifts all times of a state by the same span."""
    waits: dict[str, Open | None] = {path: moved(open, by) for path, open in state.open.items()}
    return RunChange(
        done=state.run.done,
        undo_failed=state.run.undo_failed,
        open=waits,
        number=state.number,
        worked_s=state.worked_s,
        working_since=state.working_since + by if state.working_since else None,
        kept_until=state.kept_until + by if state.kept_until else None,
        has_untrusted=state.has_untrusted,
        answers=state.answers,
    )


def state_after_fork(
    record: ForkRecord, decided: Sequence[Step], content: RecordingContent
) -> tuple[Pinned, RunState]:
    """Return the state in which a forked run resumes. Raises UnreadableEvent."""
    changed: dict[str, Any] = record.changed[RUN_CHANGED]
    recorded = RecordedRun(content=content, decisions=list(decided))
    for line in content.lines.values():
        recorded.note(line.event)
    specification_hash, name = changed["specification"], changed["catalogue"]
    specification = specification_in(content, specification_hash)
    catalogue = None if name is None else (name, content.catalogue(name))
    assert recorded.opened is not None, "a run that was forked after a decision was opened"
    rehearsal = Rehearsal(recorded, specification, specification_hash, recorded.opened.workflow, catalogue)
    for one in recorded.decisions:
        rehearsal.take(one.line)
    rehearsal.state.apply(moved_change(rehearsal.state, timedelta(microseconds=changed["moved_us"])))
    assert rehearsal.pinned is not None, "it has begun"
    return rehearsal.pinned, rehearsal.state
