"""The check of a recording in a test: it passes silently, or fails with the differences."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon.recording.files import read_lines
from antiphon.recording.lines import Header
from antiphon.replay.report import Report
from antiphon.replay.reports.outcome import Outcome
from antiphon.replay.reports.text import reported
from antiphon.replay.rerun_report import RerunReport
from antiphon.replay.verify import verify

if TYPE_CHECKING:
    from antiphon.replay.tool_results.todays_tools import TodaysTools


_NEXT = (
    "If the change is intended, use `antiphon replay update`, or record the session again with "
    "--antiphon-record=rewrite."
)
_NEXT_FOR_TOOLS = (
    "If the change is intended, record the session again with --antiphon-record=rewrite, or export a new one: "
    "`antiphon replay update` keeps the recorded results. A field that differs at every call can be left out with "
    "--antiphon-volatile."
)
_UNCHECKED = (
    "Unchecked steps do not count as the same: record the session again, or write the missing "
    "upcaster. To accept them, give a reason with --antiphon-allow-unchecked=REASON, or "
    "allow_unchecked=REASON of the marker `recording`."
)


class Diverged(AssertionError):
    """Today's code differs from the recording."""

    def __init__(self, findings: Iterable[str], report: Report | RerunReport, next_step: str = _NEXT) -> None:
        super().__init__("\n".join([*findings, "", next_step]))
        self.report = report


class Unchecked(AssertionError):
    """No difference was found, but not every recorded step could be checked."""

    def __init__(self, findings: Iterable[str], report: Report) -> None:
        super().__init__("\n".join([*findings, "", _UNCHECKED]))
        self.report = report


Properties = list[tuple[str, object]]
"""The properties of a test: its checked steps are counted in them, for its summary and for JUnit XML."""


def judge(path: Path, allow_unchecked: str = "", properties: Properties | None = None) -> Report:
    """Verify a recording and return its report; a reason in `allow_unchecked` allows unchecked steps.

    Raises Diverged, Unchecked, UnreadableEvent and OSError.
    """
    return _judged(path, verify(path), allow_unchecked, properties)


def judge_tools(
    path: Path, tools: "TodaysTools", allow_unchecked: str = "", properties: Properties | None = None
) -> Report:
    """Compare the results of recorded calls with those of today's tools, and return the report. Raises as `judge`."""
    lines = list(read_lines(path))
    header = lines[0]
    assert isinstance(header, Header), "a file with another first line is unreadable"
    report = tools.check(lines, Report(header.session_id, 0, {}, answer="unasked"))
    return _judged(path, report, allow_unchecked, properties, _NEXT_FOR_TOOLS)


def _judged(
    path: Path, report: Report, allow_unchecked: str, properties: Properties | None, next_step: str = _NEXT
) -> Report:
    if properties is not None:
        properties += [(f"antiphon.checked.{one}", count) for one, count in report.steps.items()]
        properties += [(f"antiphon.unchecked.{one}", count) for one, count in report.unchecked_steps.items()]
        if report.unchecked and allow_unchecked:
            properties.append(("antiphon.allowed.unchecked", allow_unchecked))
    if not report.passes(allow_unchecked):
        findings = reported(Outcome(str(path), report, allowed=allow_unchecked))
        if report.result == "diverged":
            raise Diverged(findings, report, next_step)
        raise Unchecked(findings, report)
    return report
