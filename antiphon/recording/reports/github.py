"""Outcomes as workflow commands, which GitHub shows beside the files of a change. Pure.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from collections.abc import Sequence

from antiphon.recording.reports.outcome import Outcome
from antiphon.recording.reports.shown import printable
from antiphon.recording.reports.text import body, headline, reasons


def annotations(outcomes: Sequence[Outcome]) -> list[str]:
    """An error for each recording that is not the same, a notice for each that could not be checked whole."""
    lines = []
    for outcome in outcomes:
        report = outcome.report
        if report is None:
            lines.append(_command("error", outcome.path, "unreadable recording", printable(outcome.error)))
        elif not report.is_same:
            message = "\n".join((headline(report), *body(report)))
            lines.append(_command("error", outcome.path, "replay diverged", message))
        if report is not None and report.unchecked:
            lines.append(_command("notice", outcome.path, "not checked", reasons(report.unchecked)))
    return lines


def _command(name: str, path: str, title: str, message: str) -> str:
    return f"::{name} file={_property(path)},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
