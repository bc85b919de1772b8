"""The comparison of a call's result today with the recorded one. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from antiphon_shared.tools.calls import ToolError, ToolResult

from antiphon.replay.differences import Difference
from antiphon.replay.recorded_calls import RecordedCall
from antiphon.replay.report import DIVERGENCES_MAX, Divergence, Reason, Report
from antiphon.replay.tool_results.choice import holds_placeholder
from antiphon.replay.tool_results.volatile import Volatile, differing

_COMPARED = {"error_type", "message", "suggested_action", "code", "fields"}
_AFTER_WRITE = ", after a write that is not repeated:"
_PLACEHOLDER = re.compile(r"\[redacted(?: \d{1,9})?\]")
_TYPE = "antiphon.tools.completed.v1"


@dataclass
class Findings:
    """The findings on the calls of one recording."""

    has_redactions: bool = False
    """Whether redaction has replaced anything in the recording."""
    has_written: bool = False
    """Whether an earlier call was a write, which is not repeated."""
    checked: int = 0
    divergences: list[Divergence] = field(default_factory=list)
    unchecked: Counter[Reason] = field(default_factory=Counter)
    not_run: Counter[Reason] = field(default_factory=Counter)

    def skip(self, kind: str, tool: str, why: str) -> None:
        """Count a call that was not checked with today's tools."""
        counts = self.unchecked if kind == "unchecked" else self.not_run
        counts[Reason("tools", f"{tool}: {why}")] += 1

    def judge(self, one: RecordedCall, outcome: object, volatile: Sequence[Volatile]) -> None:
        """Compare today's result of the tool, as JSON values or a ToolError, with the recorded one."""
        differences = list(_differences(one.result, outcome, volatile))
        certain = [one for one in differences if not self._may_be_redacted(one)]
        if not certain and (differences or holds_placeholder(_model_view(one.result))):
            self.skip("unchecked", one.call.name, "its result was redacted")
            return
        self.checked += 1
        where = f"result of {one.call.name}, {one.call.id}" + (_AFTER_WRITE if self.has_written else "")
        self.divergences += [_divergence(one, where, difference) for difference in certain]

    def _may_be_redacted(self, difference: Difference) -> bool:
        """Return whether redaction may explain the difference; it leaves placeholders, and 0 in place of numbers."""
        then, now = difference.expected, difference.got
        if isinstance(then, str) and isinstance(now, str):
            parts = _PLACEHOLDER.split(then)
            return len(parts) > 1 and bool(re.fullmatch(".+?".join(map(re.escape, parts)), now, re.DOTALL))
        return self.has_redactions and then == 0 and {type(then), type(now)} <= {int, float}

    def into(self, report: Report) -> Report:
        """Return the report with the calls, as steps of `tools`, and their divergences."""
        both = sorted((*report.divergences, *self.divergences), key=lambda one: one.event)
        return replace(
            report,
            steps={**report.steps, "tools": self.checked},
            divergences=tuple(both[:DIVERGENCES_MAX]),
            divergences_in_all=report.divergences_in_all + len(self.divergences),
            unchecked=Counter(report.unchecked) + self.unchecked,
            not_run=Counter(report.not_run) + self.not_run,
        )


def _differences(then: ToolResult, now: object, volatile: Sequence[Volatile]) -> Iterable[Difference]:
    if then.error is None and not isinstance(now, ToolError):
        return differing(then.data, now, volatile)
    return differing(_model_view(then), _model_view(now), ())


def _model_view(outcome: object) -> Any:
    """Return the result for the model: the data, or the parts of an error that do not depend on its time."""
    if isinstance(outcome, ToolResult):
        outcome = outcome.data if outcome.error is None else outcome.error
    if not isinstance(outcome, ToolError):
        return {"data": outcome}
    return {"error": outcome.model_dump(mode="json", include=_COMPARED)}


def _divergence(one: RecordedCall, where: str, difference: Difference) -> Divergence:
    return Divergence(
        event=one.event,
        type=_TYPE,
        component="tool_dispatcher",
        output=where,
        path=difference.path,
        expected=difference.expected,
        got=difference.got,
    )
