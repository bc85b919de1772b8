"""The findings of a replay: checked steps, unchecked steps, and divergences of today's outputs. Pure."""

import traceback
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest

from antiphon_shared.events import Component, EventData, ResponseReady
from antiphon_shared.events.step_records import RunRecord
from antiphon_shared.formats import in_format

from antiphon.recording.lines import EventLine
from antiphon.replay.differences import ABSENT, differences
from antiphon.replay.report import DIVERGENCES_MAX, REDACTED_CHANGE, Answer, Divergence, Reason
from antiphon.replay.steps.replay_state import RepeatedStep, Step

_DIGEST, _TEXT = "briefing.digest", "briefing.text"


class Findings:
    """The findings so far."""

    def __init__(self) -> None:
        self.steps: Counter[str] = Counter()
        self.unchecked: Counter[Reason] = Counter()
        self.divergences: list[Divergence] = []
        self.divergences_in_all = 0
        self.digests: list[tuple[EventLine, str, str]] = []
        """Decisions on a run with another digest today: the event, the recorded digest, and today's."""

    @property
    def is_same(self) -> bool:
        return not (self.divergences_in_all or self.unchecked or self.digests)

    def diverged(
        self,
        line: EventLine,
        component: Component,
        output: str,
        found: Iterable[tuple[str, object, object]],
        node: str = "",
    ) -> None:
        """Add the differences in one output of a step."""
        for path, expected, got in found:
            self.divergences_in_all += 1
            if len(self.divergences) < DIVERGENCES_MAX:
                self.divergences.append(
                    Divergence(line.n, line.event.type, component, output, path, expected, got, node)
                )

    def raises(self, line: EventLine, component: Component, then: object, error: str) -> None:
        """Add an error of today's code, in place of the step's output."""
        self.diverged(line, component, "outputs", [("", then, f"today's code raises {error}")])

    def judge_digests(self, redactions: int) -> None:
        """Report different digests as divergences, or, if values were redacted, as unchecked."""
        if redactions and self.digests:
            self.unchecked[Reason("coordinator", REDACTED_CHANGE)] += len(self.digests)
            self.steps["coordinator"] -= len(self.digests)
            return
        for line, then, now in self.digests:
            self.diverged(line, "coordinator", "state", [("digest", then, now)])
        if self.digests:
            self.divergences.sort(key=lambda one: one.event)

    def show_texts(self, digest: str, then: str, now: str) -> None:
        """Replace the digests of a briefing by its texts."""
        for n, one in enumerate(self.divergences):
            if (one.path, one.expected) == (_DIGEST, digest):
                self.divergences[n] = replace(one, path=_TEXT, expected=then, got=now)


def raised(error: Exception) -> str:
    """Return an error as text, with the line of code that raised it."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    location = f"{frame.f_globals.get('__name__', '')}, line {line}"
    return f"{type(error).__name__}: {error} ({location})"


class ComparedOutputs:
    """The comparison of the outputs of all steps."""

    def __init__(self, found: Findings, *, has_briefings: bool) -> None:
        """Create a comparison that adds to `found`; without briefings, it cannot compare answers."""
        self._found, self._has_briefings = found, has_briefings
        self.answer: Answer = "none"
        self.takes_other_path = False
        """Whether the coordinator would have sent other events, so that the session would take another course."""

    def compare(self, step: Step, redone: RepeatedStep, component: Component) -> None:
        """Report the differences between today's outputs of a step and the recorded ones."""
        recorded = step.sent
        took_other_path = self.takes_other_path
        format = step.line.event.format
        today = [in_format(data, format) for data in redone.outputs]
        if isinstance(step.record, RunRecord):
            self._compare_run(step.line, recorded, today)
            return
        for then, now in zip_longest(recorded, today):
            if isinstance(then, ResponseReady) and self._has_briefings:
                self._compare_answer(then, now, took_other_path)
            if then == now:
                continue
            self.takes_other_path = self.takes_other_path or component == "coordinator"
            if then is None or now is None or type(then) is not type(now):
                difference = [("", _name(then), _name(now))]
            else:
                difference = list(differences(then.model_dump(mode="json"), now.model_dump(mode="json")))
            self._found.diverged(step.line, component, (then or now or recorded[0]).type, difference)

    def _compare_answer(self, then: ResponseReady, now: EventData | None, took_other_path: bool) -> None:
        """Compare the recorded answer with today's event in its place."""
        if took_other_path or not isinstance(now, ResponseReady):
            self.answer = "unknown"
        else:
            self.answer = "same" if then == now else "different"

    def _compare_run(self, line: EventLine, recorded: list[EventData], today: list[EventData]) -> None:
        from antiphon.replay.checks.run_outputs import run_differences

        then, now = (
            next((one for one in some if isinstance(one, ResponseReady)), None) for some in (recorded, today)
        )
        if then is not None:
            self._compare_answer(then, now, self.takes_other_path)
        for node, output, difference in run_differences(recorded, today):
            self.takes_other_path = True
            self._found.diverged(line, "coordinator", output, [difference], node)


def _name(data: EventData | None) -> str:
    return ABSENT if data is None else data.type
