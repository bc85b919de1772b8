"""A rerun in words, for a terminal. Pure."""

from collections.abc import Mapping

from antiphon_shared.text.excerpt import one_line

from antiphon.replay.reports.change_lines import printable
from antiphon.replay.rerun_report import Outcome, RerunReport

_VALUE_CHARACTERS_MAX = 300
_DIFFERENCES_LISTED_MAX = 10
_VERDICTS: Mapping[Outcome, str] = {
    "same": "the same response",
    "different": "another response",
    "unfinished": "did not end in time",
    "none": "the same up to the end of the recording, which has no response",
}


def reported(report: RerunReport) -> list[str]:
    """Return one line for a report, followed by the differences."""
    lines = [f"{printable(report.path)}: {_VERDICTS[report.answer]}"]
    if (first := report.first) is not None:
        lines.append(f"  first difference: event {first.event}, {first.type}")
        lines.append(f"    {_change(first.path, first.expected, first.got)}")
    lines += [f"  response: {_change(*one)}" for one in report.response[:_DIFFERENCES_LISTED_MAX]]
    if (more := len(report.response) - _DIFFERENCES_LISTED_MAX) > 0:
        lines.append(f"  response: and {more} more")
    lines += [f"  not recorded: {_value_text(miss.request)}" for miss in report.misses]
    # The rest follows from the first.
    diff = report.misses[0].diff.splitlines() if report.misses else ()
    return lines + [f"    {printable(line)}" for line in diff]


def _change(path: str, expected: object, got: object) -> str:
    words = f"recorded {_value_text(expected)}; today {_value_text(got)}"
    return f"{printable(path)}: {words}" if path else words


def _value_text(value: object) -> str:
    return printable(one_line(str(value), _VALUE_CHARACTERS_MAX))
