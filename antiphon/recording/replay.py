"""The walk through a recording: each recorded step is done again by today's code, and compared.

    replay = Replay()
    for line in lines:
        replay.read(line)
    replay.report()

No network, no Redis, no model, no clock. Every step starts from what was recorded, so that a divergence is named where
it arises, and what follows from it is not counted again, as far as the recording tells.
"""

from collections import Counter
from collections.abc import Iterable

from antiphon.recording.checks.decisions import Decisions
from antiphon.recording.differences import ABSENT, differences
from antiphon.recording.known import Known, Redo, Redone, Step
from antiphon.recording.lines import CatalogueLine, ContentLine, End, EventLine, Header, Line, RecordLine
from antiphon.recording.redelivery import redelivered
from antiphon.recording.report import DIVERGENCES_KEPT_MAX, Answer, Divergence, Report
from shared.errors import UnreadableEvent
from shared.events import COMPONENTS, Component, EventData, ResponseReady
from shared.ids import child_id
from shared.step_records import ForkRecord, LeftOut

_BY_KIND: dict[str, Component] = {
    "decision": "coordinator",
    "briefing": "context_synthesizer",
    "exchange": "reasoning_engine",
    "batch": "tool_dispatcher",
    "assembly": "response_assembler",
}


class Replay:
    """One recording, read line by line."""

    def __init__(self) -> None:
        self.known = Known()
        self.decisions = Decisions()
        self.header: Header | None = None
        self.redone: list[tuple[Step, Redone]] = []
        """The last step that was done again, for those who follow along; emptied by them."""
        self._redo: dict[str, Redo] = {"decision": self.decisions.redo}
        self._is_ended = False
        self._steps: Counter[Component] = Counter()
        self._divergences: list[Divergence] = []
        self._divergences_in_all = 0
        self._unchecked: Counter[str] = Counter()
        self._answer: Answer = "none"
        self._undecided: dict[int, EventLine] = {}

    def read(self, line: Line) -> None:
        """Take in one line. Raises UnreadableEvent when it does not follow from those before."""
        match line:
            case EventLine():
                self._read_event(line)
            case RecordLine(record=ForkRecord() as record):
                self._read_fork(record)
            case RecordLine(record=record):
                handled = self.known.lines.get(record.of)
                if handled is None:
                    raise UnreadableEvent(f"a record is about the event {record.of}, which is not there.")
                ids = (child_id(record.of, n) for n in range(record.outputs))
                outputs = tuple(self.known.lines[id] for id in ids if id in self.known.lines)
                self._read_step(Step(handled, record, outputs))
            case CatalogueLine():
                self.known.catalogues[line.hash] = line.catalogue
            case ContentLine():
                self.known.contents[line.hash] = line.content
            case Header():
                self.header = line
            case End():
                self._is_ended = True

    def report(self) -> Report:
        """What has been found. Raises UnreadableEvent when the recording is not whole."""
        if self.header is None:
            raise UnreadableEvent("it has no header.")
        if not self._is_ended:
            raise UnreadableEvent("it has no end line: it was cut off.")
        self._hold_undecided(to=len(self.known.lines) + 1)
        for line in self._undecided.values():
            self._diverged(line, "coordinator", "state", [("", ABSENT, "a decision, where there was none")])
        return Report(
            session_id=self.header.session_id,
            events=len(self.known.lines),
            steps=dict(self._steps),
            divergences=tuple(self._divergences),
            divergences_in_all=self._divergences_in_all,
            answer=self._answer,
            unchecked=dict(self._unchecked),
        )

    def _read_event(self, line: EventLine) -> None:
        self.known.add(line)
        if line.event.data.inbox == "coordinator":
            self._undecided[line.n] = line
        if isinstance(line.event.data, ResponseReady):
            self._answer = "unknown" if self._divergences else "same"

    def _read_fork(self, record: ForkRecord) -> None:
        """From here on the session is another, and so is what was under way."""
        self._hold_undecided(to=len(self.known.lines) + 1)
        self.decisions.forked(record)
        for one in record.redelivered:
            line = redelivered(one, self.known)
            if line.event.data.inbox == "coordinator":
                self._undecided[line.n] = line

    def _read_step(self, step: Step) -> None:
        kind = step.record.kind  # type: ignore[attr-defined]  # every record but the bare base has one
        if kind == "decision":
            self._undecided.pop(step.line.n, None)
            self._hold_undecided(to=step.line.n)
        redo = self._redo.get(kind)
        if redo is None or isinstance(step.record, LeftOut):
            self._unchecked[f"{kind}: no check"] += 1
            return
        component = _BY_KIND[kind]
        self._steps[component] += 1
        redone = redo(step, self.known)
        for what, difference in redone.others:
            self._diverged(step.line, component, what, [difference])
        self._compare(step, redone, component)
        self.redone.append((step, redone))

    def _compare(self, step: Step, redone: Redone, component: Component) -> None:
        recorded = [one.event.data for one in step.outputs]
        for n in range(max(len(recorded), len(redone.outputs))):
            then = recorded[n] if n < len(recorded) else None
            now = redone.outputs[n] if n < len(redone.outputs) else None
            if then == now:
                continue
            if isinstance(then or now, ResponseReady):
                self._answer = "different"
            if then is None or now is None or type(then) is not type(now):
                difference = [("", _name(then), _name(now))]
            else:
                difference = list(differences(then.model_dump(mode="json"), now.model_dump(mode="json")))
            self._diverged(step.line, component, (then or now or recorded[0]).type, difference)

    def _diverged(
        self, line: EventLine, component: Component, output: str, found: Iterable[tuple[str, object, object]]
    ) -> None:
        for path, expected, got in found:
            self._divergences_in_all += 1
            if len(self._divergences) < DIVERGENCES_KEPT_MAX:
                self._divergences.append(
                    Divergence(line.n, line.event.type, component, output, path, expected, got)
                )

    def _hold_undecided(self, to: int) -> None:
        """Events that nothing was decided on, as it seems: the session must let them go."""
        for n in [n for n in self._undecided if n < to]:
            if self.decisions.lets_go(self._undecided[n], self.known):
                del self._undecided[n]


def _name(data: EventData | None) -> str:
    return ABSENT if data is None else data.type


assert set(_BY_KIND.values()) == set(COMPONENTS)
