"""Outcomes as workflow commands, which GitHub shows next to the files of a change. Pure.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from collections.abc import Sequence

from antiphon.replay.reports.outcome import Outcome
from antiphon.replay.reports.shown import printable
from antiphon.replay.reports.text import body, extent, headline, reasons


def annotations(outcomes: Sequence[Outcome]) -> list[str]:
    """Return an error for each recording that does not pass, and a notice for each with allowed unchecked steps."""
    lines = []
    for outcome in outcomes:
        report = outcome.report
        if report is None:
            lines.append(_command("error", outcome.path, "unreadable recording", printable(outcome.error)))
            continue
        if report.result == "diverged":
            found = "\n".join((headline(report), *body(report)))
            lines.append(_command("error", outcome.path, "replay diverged", found))
        if report.unchecked:
            name = "notice" if outcome.allowed or report.result == "diverged" else "error"
            message = [extent(report), f"not checked: {reasons(report.unchecked)}"]
            message += [f"allowed: {printable(outcome.allowed)}"] if outcome.allowed else []
            lines.append(_command(name, outcome.path, "not checked", "\n".join(message)))
    return lines


def counted(lines: Sequence[str]) -> str:
    """Return the summary, as a notice that belongs to no file."""
    return "::notice title=replay verify::" + _data("\n".join(lines))


def _command(name: str, path: str, title: str, message: str) -> str:
    return f"::{name} file={_property(path)},title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
