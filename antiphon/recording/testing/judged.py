"""A recording, held against today's code, as a test has it: silence, or a failure that says what differs."""

from collections.abc import Iterable
from pathlib import Path

from antiphon.recording.replaying.report import Report
from antiphon.recording.reports.outcome import Outcome
from antiphon.recording.reports.text import told
from antiphon.recording.rerun_report import RerunReport
from antiphon.recording.verify import verify


class Diverged(AssertionError):
    """Today's code does otherwise than was recorded."""

    def __init__(self, said: Iterable[str], report: Report | RerunReport) -> None:
        super().__init__("\n".join([*said, "", _NEXT]))
        self.report = report


class Unchecked(AssertionError):
    """Nothing differs, but not every recorded step could be held against today's code."""

    def __init__(self, said: Iterable[str], report: Report) -> None:
        super().__init__("\n".join([*said, "", _UNCHECKED]))
        self.report = report


_NEXT = "If that is meant: look at `antiphon replay update`, or record the session anew with --antiphon-record=rewrite."
_UNCHECKED = (
    "Unchecked is not same: record the session anew, or write the upcaster that is missing. To accept it, say why with "
    "--antiphon-allow-unchecked=REASON, or allow_unchecked=REASON of the marker `recording`."
)


def judge(
    path: Path, allow_unchecked: str = "", properties: list[tuple[str, object]] | None = None
) -> Report:
    """The report of a recording that is the same; or, with a reason for that, has nothing worse than unchecked steps.

    `properties` are those of a test: the steps are counted in them, for its summary and for JUnit XML. Raises
    Diverged, Unchecked, UnreadableEvent, OSError.
    """
    report = verify(path)
    if properties is not None:
        properties += [(f"antiphon.checked.{one}", count) for one, count in report.steps.items()]
        properties += [(f"antiphon.unchecked.{one}", count) for one, count in report.unchecked_steps.items()]
        if report.unchecked and allow_unchecked:
            properties.append(("antiphon.allowed.unchecked", allow_unchecked))
    if not report.passes(allow_unchecked):
        said = told(Outcome(str(path), report, allowed=allow_unchecked))
        raise (Diverged if report.result == "diverged" else Unchecked)(said, report)
    return report
