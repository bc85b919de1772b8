"""The assembler's answers, composed again from the recording."""

from antiphon_shared.events import (
    AssemblyRequested,
    QuerySubmitted,
    ReasoningCompleted,
    ResponseReady,
    ToolsCompleted,
)
from antiphon_shared.events.step_records import AssemblyRecord, MaterialRead
from antiphon_shared.memory.findings import ReadRecord, findings_of, lost_filing
from antiphon_shared.memory.layers import MEMORY_DELTA
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.values import LogEntry

from antiphon.recording.lines import DataT, EventLine
from antiphon.replay.checks.briefings import Briefings
from antiphon.replay.steps.replay_state import RecordingContent, RepeatedStep, Step
from coordinator.decision import Decision
from coordinator.endings import ending_of, moment_of
from coordinator.own_answer import answer_without_assembler
from response_assembler.compose import response_from


class Assemblies:
    """The composition of answers from the memory that `Briefings` has filed."""

    def __init__(self, briefings: Briefings) -> None:
        self._briefings = briefings

    def redo(self, step: Step, content: RecordingContent) -> RepeatedStep:
        """Compose an answer with today's code. Raises UnreadableEvent if the recording lacks its material."""
        request, record = step.line.event.data, step.record
        if not isinstance(request, AssemblyRequested) or not isinstance(record, AssemblyRecord):
            raise UnreadableEvent(f"an assembly was recorded for a {request.type}.")
        read = self.read(request, record, content)
        return RepeatedStep((response_from(step.line.event, request, read, record.waited_ms),))

    def own_answer(
        self, line: EventLine, decision: Decision, read: MaterialRead, content: RecordingContent
    ) -> ResponseReady:
        """Return the coordinator's own answer. Raises UnreadableEvent if the recording lacks its material."""
        session = decision.session
        request = ending_of(session, content.logged_event(session.pending_request))
        findings = findings_of(request, self.read(request, read, content))
        moment, catalogue = moment_of(line.event, line.entry), content.catalogue(session.tools.catalogue)
        response = answer_without_assembler(
            session, request, findings, catalogue, moment, decision.own_answer_reason
        )
        return ResponseReady(**response.model_dump())

    def read(self, request: AssemblyRequested, record: MaterialRead, content: RecordingContent) -> ReadRecord:
        """Return the material that was read for the answer. Raises UnreadableEvent if the recording lacks some."""
        question = _read(request.question, QuerySubmitted, record, content)
        return ReadRecord(
            memory=self._memory(question.query if question else "", record),
            reply=_read(request.reply, ReasoningCompleted, record, content),
            reasoning=_read(request.reasoning, ReasoningCompleted, record, content),
            results=_read(request.results, ToolsCompleted, record, content),
            batch=record.batch,
            missing=record.missing,
            steps=tuple(
                (step.step, output.text)
                for step in request.steps
                if (output := _read(step.reply, ReasoningCompleted, record, content)) is not None
            ),
        )

    def _memory(self, query: str, record: MaterialRead) -> Memory:
        """Return the readable part of the memory at the time of reading."""
        memory, items = self._briefings.memory, self._briefings.items
        filings = len(items) if record.filings is None else record.filings
        lost = {number for number in range(1, len(items) + 1) if lost_filing(number) in record.missing}
        if filings >= len(items) and not lost and (memory.query == query or not items):
            return memory if items else Memory(query)
        deltas = (item for number, item in enumerate(items[: max(0, filings)], 1) if number not in lost)
        return Memory.of(query, map(MEMORY_DELTA.read, deltas))


def _read(
    entry: LogEntry | None,
    kind: type[DataT],
    record: MaterialRead,
    content: RecordingContent,
) -> DataT | None:
    """Return the event at an entry, unless it was unreadable at that time."""
    return None if entry in record.missing else content.data(entry, kind)
