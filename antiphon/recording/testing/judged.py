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


_NEXT = "If that is meant: look at `antiphon replay update`, or record the session anew with --antiphon-record=rewrite."


def judge(path: Path) -> Report:
    """The report of a recording that is the same. Raises Diverged, UnreadableEvent, OSError."""
    report = verify(path)
    if not report.is_same:
        raise Diverged(told(Outcome(str(path), report)), report)
    return report
