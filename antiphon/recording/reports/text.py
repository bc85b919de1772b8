"""Outcomes in words, for a terminal. Pure."""

from collections import Counter
from collections.abc import Mapping

from antiphon.recording.replaying.report import Answer, Divergence, Report
from antiphon.recording.reports.outcome import Outcome, Tally
from antiphon.recording.reports.shown import change, printable

_ANSWERS: Mapping[Answer, str] = {
    "same": "the final answer is the same",
    "different": "the final answer is different",
    "unasked": "the final answer was not put together again",
    "unknown": "the final answer cannot be told: the session would have gone another way, or its step failed",
    "none": "it has no final answer",
}


def told(outcome: Outcome) -> list[str]:
    """One recording: a line when all is the same, else what differs."""
    path, report = printable(outcome.path), outcome.report
    if report is None:
        return [f"{path}: unreadable: {printable(outcome.error)}"]
    if report.is_same:
        return [f"{path}: same, {_extent(report)}", *_unchecked(report)]
    return [f"{path}: {headline(report)}", *(f"  {line}" for line in body(report)), *_unchecked(report)]


def headline(report: Report) -> str:
    """Where the first divergence is."""
    first = report.first
    if first is None:
        return f"same, {_extent(report)}"
    return f"diverged at event {first.event} ({printable(first.type)}): {_what(first)}"


def body(report: Report) -> list[str]:
    """The first divergence as a diff, how many more there are, and what became of the answer."""
    assert report.first is not None
    first, lines = report.first, ["- as recorded, + today"]
    lines += [f"  {line}" for line in change(first.expected, first.got)]
    if more := report.divergences_in_all - 1:
        lines.append(f"{more} more: {_by_component(report)}")
    return [*lines, _ANSWERS[report.answer]]


def summary(tally: Tally, duration_s: float) -> str:
    """All recordings in one line."""
    counted = ", ".join(f"{count} {result}" for result, count in sorted(tally.results.items()))
    count = sum(tally.results.values())
    checked = f"{tally.steps} steps of {tally.events} events"
    line = f"{count} recording{'s' if count != 1 else ''}: {counted or 'none'}; {checked}, {duration_s:.2f} s"
    return f"{line}; not checked: {reasons(tally.unchecked)}" if tally.unchecked else line


def reasons(unchecked: Mapping[str, int]) -> str:
    """What could not be checked, by reason, with how often."""
    return ", ".join(f"{printable(reason)} ({count})" for reason, count in sorted(unchecked.items()))


def _what(divergence: Divergence) -> str:
    """Whose decision, and where in it."""
    place = f"{divergence.output} {divergence.path}".strip()
    return f"{divergence.component}, {printable(place)}"


def _by_component(report: Report) -> str:
    counts = Counter(divergence.component for divergence in report.divergences[1:])
    told = [f"{component} {count}" for component, count in counts.most_common()]
    if kept_not := report.divergences_in_all - len(report.divergences):
        told.append(f"{kept_not} not looked at")
    return ", ".join(told)


def _extent(report: Report) -> str:
    return f"{report.events} events, {sum(report.steps.values())} steps; {_ANSWERS[report.answer]}"


def _unchecked(report: Report) -> list[str]:
    return [f"  not checked: {reasons(report.unchecked)}"] if report.unchecked else []
