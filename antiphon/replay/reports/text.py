"""Outcomes in words, for a terminal. Pure."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from antiphon_shared.events import COMPONENTS

from antiphon.replay.report import Answer, Divergence, Reason, Report, by_component
from antiphon.replay.reports.change_lines import change, printable
from antiphon.replay.reports.outcome import Outcome, Tally

if TYPE_CHECKING:
    from antiphon.replay.next_step import Next

_ANSWERS: Mapping[Answer, str] = {
    "same": "the final answer is the same",
    "different": "the final answer is different",
    "unasked": "the final answer was not assembled again",
    "unknown": "the final answer is unknown: the session would have continued differently, or its "
    "step failed",
    "none": "it has no final answer",
}


def reported(outcome: Outcome) -> list[str]:
    """Return the outcome of a recording: one line, and the differences and unchecked steps, if any."""
    path, report = printable(outcome.path), outcome.report
    if report is None:
        return [f"{path}: unreadable: {printable(outcome.error)}"]
    if report.result == "diverged":
        lines = (*body(report), *_leads(outcome.goes_on))
        return [f"{path}: {headline(report)}", *(f"  {line}" for line in lines), *_unchecked(report)]
    allowed = f" (allowed: {printable(outcome.allowed)})" if report.unchecked and outcome.allowed else ""
    return [f"{path}: {headline(report)}{allowed}", *_unchecked(report)]


def headline(report: Report) -> str:
    """Return the first divergence, or the extent of the check if no step diverges."""
    first = report.first
    if first is None:
        return f"{'same' if report.is_same else 'not checked whole'}, {extent(report)}"
    return f"diverged at event {first.event} ({printable(first.type)}): {_output_of(first)}"


def body(report: Report) -> list[str]:
    """Return the first divergence as a diff, the number of others, and the comparison of the answer."""
    assert report.first is not None
    first, lines = report.first, ["- as recorded, + today"]
    lines += [f"  {line}" for line in change(first.expected, first.got)]
    if more := report.divergences_in_all - 1:
        lines.append(f"{more} more: {_by_component(report)}")
    return [*lines, _ANSWERS[report.answer]]


def summary(tally: Tally, duration_s: float) -> list[str]:
    """Return the counts of all recordings: their results, and their checked steps."""
    counted = ", ".join(f"{count} {result}" for result, count in sorted(tally.results.items()))
    count = sum(tally.results.values())
    extent = f"{tally.steps} steps of {tally.events} events"
    lines = [
        f"{count} recording{'s' if count != 1 else ''}: {counted or 'none'}; {extent}, {duration_s:.2f} s"
    ]
    lines += [f"steps checked: {counts(tally.checked)}; not checked: {counts(by_component(tally.unchecked))}"]
    lines += [f"not checked: {reasons(tally.unchecked)}"] if tally.unchecked else []
    return lines + ([f"unchecked steps are allowed: {printable(tally.allowed)}"] if tally.allowed else [])


def reasons(unchecked: Mapping[Reason, int] | Mapping[str, int]) -> str:
    """Return the reasons for unchecked steps, each with its count."""
    counted = sorted((str(reason), count) for reason, count in unchecked.items())
    return ", ".join(f"{printable(reason)} ({count})" for reason, count in counted)


def _output_of(divergence: Divergence) -> str:
    """Return the component of a divergence, and the value that differs."""
    output = f"{divergence.output} {divergence.path}".strip()
    if divergence.node:
        return f"{divergence.component}, node {printable(divergence.node)}: {printable(output)}"
    return f"{divergence.component}, {printable(output)}"


def _by_component(report: Report) -> str:
    more = Counter(divergence.component for divergence in report.divergences[1:])
    counted = [f"{component} {count}" for component, count in more.most_common()]
    if omitted := report.divergences_in_all - len(report.divergences):
        counted.append(f"{omitted} not looked at")
    return ", ".join(counted)


def extent(report: Report) -> str:
    """Return the extent of the check, and the comparison of the answer."""
    checked, unchecked = sum(report.steps.values()), report.unchecked_steps
    steps = f"{checked} steps"
    if unchecked:
        steps += f" checked ({counts(report.steps)}), {sum(unchecked.values())} not ({counts(unchecked)})"
    return f"{report.events} events, {steps}; {_ANSWERS[report.answer]}"


def counts(steps: Mapping[Any, int]) -> str:
    """Return steps by component as words, in the usual order of components."""
    components = [one for one in COMPONENTS if one in steps]
    others = sorted(one for one in steps if one not in COMPONENTS)
    return ", ".join(f"{one} {steps[one]}" for one in (*components, *others) if steps[one]) or "none"


def _unchecked(report: Report) -> list[str]:
    lines = [f"  not checked: {reasons(report.unchecked)}"] if report.unchecked else []
    return [*lines, f"  not run: {reasons(report.not_run)}"] if report.not_run else lines


def _leads(next: "Next | None") -> list[str]:
    """Return the course of the session after its first changed decision."""
    if next is None:
        return []
    match next.kind:
        case "answered":
            where = f"it would be answered in round {next.round}: {next.status}, {next.reason}"
        case "asks_model":
            where = f"it would call the model in round {next.round}"
        case "calls_tools":
            where = f"it would call {printable(', '.join(next.tools))} in round {next.round}"
        case "waits":
            where = "it waits"
    return [f"the session would continue differently: {where}"]
