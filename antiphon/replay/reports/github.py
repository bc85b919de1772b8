"""Outcomes as annotations for GitHub Actions. Pure."""

from collections.abc import Sequence

from antiphon.annotations import annotation
from antiphon.replay.reports.change_lines import printable
from antiphon.replay.reports.outcome import Outcome
from antiphon.replay.reports.text import body, extent, headline, reasons


def annotations(outcomes: Sequence[Outcome]) -> list[str]:
    """Return an error for each recording that does not pass, and a notice for each with allowed unchecked steps."""
    lines = []
    for outcome in outcomes:
        report = outcome.report
        if report is None:
            text = printable(outcome.error)
            lines.append(annotation("error", text, file=outcome.path, title="unreadable recording"))
            continue
        if report.result == "diverged":
            text = "\n".join((headline(report), *body(report)))
            lines.append(annotation("error", text, file=outcome.path, title="replay diverged"))
        if report.unchecked:
            name = "notice" if outcome.allowed or report.result == "diverged" else "error"
            message = [extent(report), f"not checked: {reasons(report.unchecked)}"]
            message += [f"allowed: {printable(outcome.allowed)}"] if outcome.allowed else []
            lines.append(annotation(name, "\n".join(message), file=outcome.path, title="not checked"))
    return lines


def counted(lines: Sequence[str]) -> str:
    """Return the summary as a notice without a file."""
    return annotation("notice", "\n".join(lines), title="replay verify")
