"""The comparison of the recorded outputs of steps with today's, and what follows for the session's answer. Pure."""

from itertools import zip_longest

from antiphon_shared.events import Component, EventData, ResponseReady
from antiphon_shared.events.step_records import RunRecord
from antiphon_shared.formats import in_format

from antiphon.recording.lines import EventLine
from antiphon.replay.differences import ABSENT, differences
from antiphon.replay.report import Answer
from antiphon.replay.steps.findings import Findings
from antiphon.replay.steps.known import Redone, Step


class ComparedOutputs:
    """The outputs of all steps so far."""

    def __init__(self, found: Findings, *, has_briefings: bool) -> None:
        """Begin with the findings to add to; without briefings, an answer cannot be compared."""
        self._found, self._has_briefings = found, has_briefings
        self.answer: Answer = "none"
        self.is_astray = False
        """Whether the coordinator would have sent other events, so that the session had gone another way."""

    def compare(self, step: Step, redone: Redone, component: Component) -> None:
        """Report how today's outputs of a step differ from the recorded ones."""
        recorded = [one.event.data for one in step.outputs]
        is_astray = self.is_astray
        format = step.line.event.format
        today = [in_format(data, format) for data in redone.outputs]
        if isinstance(step.record, RunRecord):
            self._compare_run(step.line, recorded, today)
            return
        for then, now in zip_longest(recorded, today):
            if isinstance(then, ResponseReady) and self._has_briefings:
                is_told = isinstance(now, ResponseReady) and not is_astray
                self.answer = "unknown" if not is_told else "same" if then == now else "different"
            if then == now:
                continue
            self.is_astray = self.is_astray or component == "coordinator"
            if then is None or now is None or type(then) is not type(now):
                difference = [("", _name(then), _name(now))]
            else:
                difference = list(differences(then.model_dump(mode="json"), now.model_dump(mode="json")))
            self._found.diverged(step.line, component, (then or now or recorded[0]).type, difference)

    def _compare_run(self, line: EventLine, recorded: list[EventData], today: list[EventData]) -> None:
        from antiphon.replay.checks.run_outputs import run_differences

        then, now = (
            next((one for one in some if isinstance(one, ResponseReady)), None) for some in (recorded, today)
        )
        if then is not None:
            is_told = now is not None and not self.is_astray
            self.answer = "unknown" if not is_told else "same" if then == now else "different"
        for node, output, found in run_differences(recorded, today):
            self.is_astray = True
            self._found.diverged(line, "coordinator", output, [found], node)


def _name(data: EventData | None) -> str:
    return ABSENT if data is None else data.type
