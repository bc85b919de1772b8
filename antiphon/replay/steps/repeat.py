"""The replay of a recording: today's code repeats each recorded step, and the results are compared.

    replay = Replay()
    for line in lines:
        replay.read(line)
    replay.report()

It uses no network, no Redis, no model and no clock. Every step starts from the recorded state, if that is known. So a
divergence is reported where it occurs, and its consequences are not counted again.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING
from uuid import UUID

from antiphon_shared.events import COMPONENTS, Component, ResponseReady
from antiphon_shared.events.step_records import (
    AnyRecord,
    BriefingRecord,
    DecisionRecord,
    ForkRecord,
    LeftOut,
    RunRecord,
)
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.ids import child_id

from antiphon.recording.lines import End, EventLine, Header, Line, RecordLine
from antiphon.replay.checks.assemblies import Assemblies
from antiphon.replay.checks.batches import redo_batch
from antiphon.replay.checks.briefings import Briefings
from antiphon.replay.checks.decisions import Decisions
from antiphon.replay.checks.exchanges import Exchanges
from antiphon.replay.differences import ABSENT
from antiphon.replay.report import STILL_OPEN, Reason, Report
from antiphon.replay.steps.findings import ComparedOutputs, Findings, raised
from antiphon.replay.steps.redelivery import RUN_CHANGED, redelivered
from antiphon.replay.steps.replay_state import COMPONENT_OF, RecordingContent, Redo, RepeatedStep, Step
from antiphon.replay.steps.undecided import Undecided

if TYPE_CHECKING:
    from antiphon.replay.checks.runs import RunDecisions

_ON_BRIEFINGS = frozenset({"reasoning_engine", "response_assembler"})
"""Components whose steps depend on the synthesizer's filings."""


class Replay:
    """A replay, line by line."""

    def __init__(self, follows_today: bool = False, only: Collection[Component] = COMPONENTS) -> None:
        """Create a replay.

        Args:
            follows_today: whether each step starts from today's results of earlier steps; see `update.py`.
            only: the components whose steps are repeated; the synthesizer is added if one of them needs it.
        """
        self.content = RecordingContent()
        self.briefings = Briefings()
        assemblies = Assemblies(self.briefings)
        components = {*only, *(("context_synthesizer",) if _ON_BRIEFINGS.intersection(only) else ())}
        self.decisions = Decisions(follows_today, assemblies if "context_synthesizer" in components else None)
        self.header: Header | None = None
        self.newest_step = 0
        """The number of the event whose step was repeated last."""
        self.repeated: tuple[Step, RepeatedStep] | None = None
        """The step of the newest record and its repetition, if it was repeated."""
        self.failed = ""
        """The error that today's code has raised at the newest step, if any."""
        redo: dict[str, Redo] = {
            "decision": self.decisions.redo,
            "briefing": self.briefings.redo,
            "exchange": Exchanges(self.briefings).redo,
            "batch": redo_batch,
            "assembly": assemblies.redo,
            "run": self._redo_run,
        }
        self.runs: RunDecisions | None = None
        """The decisions of the recording, if it is of a run."""
        self._redo = {kind: redone for kind, redone in redo.items() if COMPONENT_OF[kind] in components}
        self._is_ended = self._is_closed = False
        self._events = self._outputs = self._redactions = 0
        self._findings = Findings()
        self._compared = ComparedOutputs(self._findings, has_briefings="briefing" in self._redo)
        self._undecided = Undecided()
        self._recorded: set[int] = set()
        """The numbers of the events whose steps have a record."""
        self._unrecorded: EventLine | None = None
        """The cause of the newest events, while its record has not been read."""

    def read(self, line: Line) -> None:
        """Add one line. Raises UnreadableEvent if it does not follow from the lines before."""
        self.repeated, self.failed = None, ""
        match line:
            case EventLine():
                self._read_event(line)
            case RecordLine(record=ForkRecord() as record):
                self._read_fork(record)
            case RecordLine(record=record):
                self._read_record(record)
            case Header():
                self.header = line
            case End(redactions=redactions):
                self._is_ended, self._redactions = True, redactions
            case _:
                self.content.read(line)

    @property
    def is_same(self) -> bool:
        """Return whether every step so far was checked and is the same."""
        return self._findings.is_same

    def report(self) -> Report:
        """Return the result. Raises UnreadableEvent if the recording is incomplete."""
        if self.header is None:
            raise UnreadableEvent("the header is missing.")
        if not self._is_ended:
            raise UnreadableEvent("the end line is missing: the file is incomplete.")
        self._miss_record()
        self._judge_undecided()
        self._findings.judge_digests(self._redactions)
        if self._redo.keys() == COMPONENT_OF.keys() and not (
            self._findings.steps or self._findings.unchecked
        ):
            self._findings.unchecked[Reason("coordinator", "it holds no step")] += 1
        return Report(
            session_id=self.header.session_id,
            events=self._events,
            steps=dict(self._findings.steps),
            divergences=tuple(self._findings.divergences),
            divergences_in_all=self._findings.divergences_in_all,
            answer=self._compared.answer,
            unchecked=dict(self._findings.unchecked),
        )

    def _read_event(self, line: EventLine) -> None:
        event = line.event
        self._events += 1
        if event.causationid is not None:
            self._follow(event.causationid, event.id)
        self.content.add(line)
        if event.data.inbox == "coordinator" and "decision" in self._redo:
            self._undecided.add(line)
        if isinstance(event.data, ResponseReady):
            self._compared.answer = "unknown" if "assembly" in self._redo else "unasked"

    def _follow(self, cause: UUID, id: UUID) -> None:
        """Note an event's cause. A step is one commit, so an event of the next step reveals a missing record."""
        handled = self.content.lines.get(cause)
        if handled is None:
            return  # an event of another session is its cause
        unrecorded = self._unrecorded
        if unrecorded is not None and unrecorded is not handled and unrecorded.event.id != cause:
            self._miss_record()
        if handled.n not in self._recorded and id == child_id(cause, 0):
            self._unrecorded = handled

    def _miss_record(self) -> None:
        line, self._unrecorded = self._unrecorded, None
        if line is not None and line.event.data.inbox is not None:
            self._undecided.drop(line)
            self._add_unchecked(line.event.data.inbox, "no record was made of it")

    def _add_unchecked(self, component: Component, why: str) -> None:
        """Count a step that cannot be repeated; later steps that depend on it are unchecked too."""
        self._findings.unchecked[Reason(component, why)] += 1
        if component == "coordinator":
            self.decisions.lacks = why
            if self.runs is not None:
                self.runs.lacks = f"an earlier decision of the run is not known: {why}"
        elif component == "context_synthesizer":
            self.briefings.lacks = why

    def _read_fork(self, record: ForkRecord) -> None:
        """Apply a fork: it changes the session and its deliveries in flight."""
        self._undecided.remove_ignored(self._is_ignored)
        if RUN_CHANGED in record.changed:
            self._runs().forked(record, self.content)
        else:
            self.decisions.forked(record)
        for one in record.redelivered:
            line = redelivered(one, self.content)
            if line.event.data.inbox == "coordinator":
                self._undecided.add(line)

    def _read_record(self, record: AnyRecord) -> None:
        handled = self.content.handled(record)
        self._outputs += record.outputs
        if self._outputs > self._events:
            raise UnreadableEvent(f"the record of event {handled.n} names missing events.")
        outputs = self.content.outputs_of(record, handled)
        self._recorded.add(handled.n)
        if self._unrecorded is handled:
            self._unrecorded = None
        if isinstance(record, LeftOut):
            self._undecided.drop(handled)
            self._add_unchecked(record.component, "the record was too large to be kept")
            return
        self._read_step(Step(handled, record, outputs), COMPONENT_OF[record.kind])

    def _read_step(self, step: Step, component: Component) -> None:
        self.newest_step = step.line.n
        if isinstance(step.record, DecisionRecord | RunRecord):
            self._undecided.drop(step.line)
            self._undecided.remove_ignored(self._is_ignored, step.line.n)
            self._is_closed = self._is_closed or step.closes
        kind: str = step.record.kind  # type: ignore[attr-defined]  # every record but the bare base has one
        if kind not in self._redo:
            return
        try:
            redone = self._redo[kind](step, self.content)
        except UnreadableEvent as error:
            self._findings.unchecked[Reason(component, error.message)] += 1
            return
        except Exception as error:  # noqa: BLE001  # today's code may raise anything; the other steps still count
            self._fail(step, component, error)
            return
        if redone.unchecked:
            self._findings.unchecked[Reason(component, redone.unchecked)] += 1
        else:
            self._findings.steps[component] += 1
        for part, difference in redone.others:
            self._findings.diverged(step.line, component, part, [difference])
        for node, output, output_difference in redone.sends:
            self._compared.takes_other_path = True
            self._findings.diverged(step.line, component, output, [output_difference], node)
        self._compared.compare(step, redone, component)
        if redone.digests is not None:
            self._findings.digests.append((step.line, *redone.digests))
        if redone.texts is not None:
            self._findings.show_texts(*redone.texts)
        self.repeated = step, redone

    def _redo_run(self, step: Step, content: RecordingContent) -> RepeatedStep:
        return self._runs().redo(step, content)

    def _runs(self) -> "RunDecisions":
        if self.runs is None:
            from antiphon.replay.checks.runs import RunDecisions  # most recordings have no run

            self.runs = RunDecisions()
        return self.runs

    def _fail(self, step: Step, component: Component, error: Exception) -> None:
        """Report that today's code has raised: the whole step diverges. Later steps continue from the record."""
        self._findings.steps[component] += 1
        self.failed = raised(error)
        self._findings.raises(step.line, component, [one.type for one in step.sent], self.failed)
        if isinstance(step.record, DecisionRecord):
            self._compared.takes_other_path = True
            self.decisions.take(step.record)
        elif isinstance(step.record, RunRecord):
            self._compared.takes_other_path = True
            self._add_unchecked(component, "today's code raises at an earlier decision of the run")
        elif isinstance(step.record, BriefingRecord):
            self._add_unchecked(component, "today's code raises at an earlier filing")

    def _judge_undecided(self) -> None:
        """Judge, at the end, the events without a decision: unhandled in an open session, or wrongly ignored."""
        left = self._undecided.remove_ignored(self._is_ignored)
        why = f"an earlier decision is not known: {self.decisions.lacks}" if self.decisions.lacks else ""
        if self.runs is not None:
            why = self.runs.lacks
        if not (why or self._is_closed):
            why = STILL_OPEN
        if why and left:
            self._findings.unchecked[Reason("coordinator", why)] += len(left)
        for line in () if why else left:
            self._findings.diverged(
                line, "coordinator", "state", [("", ABSENT, "a decision that was not recorded")]
            )

    def _is_ignored(self, line: EventLine) -> bool | None:
        decisions = self.decisions if self.runs is None else self.runs
        if not decisions.can_tell_effect:
            return None
        try:
            return decisions.is_ignored(line, self.content)
        except Exception as error:  # noqa: BLE001  # as in `_read_step`
            self._findings.raises(line, "coordinator", "nothing came of it", raised(error))
            return True
