"""The comparison of two recordings, in words and as JSON. Pure."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from antiphon.replay.diff import Comparison, EventDifference
from antiphon.replay.reports.as_json import json_text
from antiphon.replay.reports.change_lines import change, printable

_EVENTS_MAX = 20
_DIFFERENCES_MAX = 5
_LINES_MAX = 20
"""The limit for one difference."""


def reported(names: tuple[str, str], comparison: Comparison) -> Iterator[str]:
    """Yield the first difference, the figures side by side, then the differences place by place."""
    both = " and ".join(map(printable, names))
    if comparison.is_same:
        yield f"{both}: same, except for ids and times"
        return
    count = len(comparison.event_differences)
    yield f"{both}: {count} place{'s' if count > 1 else ''} differ, first {_where(comparison.event_differences[0])}"
    yield ""
    yield from _table(comparison)
    for difference in comparison.event_differences[:_EVENTS_MAX]:
        yield ""
        yield from _difference_text(difference)
    if (more := count - _EVENTS_MAX) > 0:
        yield ""
        yield f"{more} more places; --json lists all."


def document(names: tuple[str, str], comparison: Comparison) -> str:
    """Return the whole comparison, for programs."""
    return json_text(
        {
            "is_same": comparison.is_same,
            "a": {"path": names[0], **asdict(comparison.a)},
            "b": {"path": names[1], **asdict(comparison.b)},
            "places": [_as_json(difference) for difference in comparison.event_differences],
        }
    )


def _table(comparison: Comparison) -> Iterator[str]:
    a, b = asdict(comparison.a), asdict(comparison.b)
    rows = [("", "A", "B"), *((name.replace("_", " "), _cell(a[name]), _cell(b[name])) for name in a)]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for name, mine, other in rows:
        mark = "*" if mine != other and name not in ("", "duration ms") else ""
        yield f"{name:{widths[0]}}  {mine:{widths[1]}}  {other} {mark}".rstrip()


def _cell(value: object) -> str:
    return "-" if value is None else str(value)


def _difference_text(difference: EventDifference) -> Iterator[str]:
    yield _where(difference)
    for part in difference.differences[:_DIFFERENCES_MAX]:
        yield f"  {printable(part.path)}"
        yield from (f"    {line}" for line in change(part.expected, part.got, _LINES_MAX))
    if (more := len(difference.differences) - _DIFFERENCES_MAX) > 0:
        yield f"  and in {more} more fields"


def _where(difference: EventDifference) -> str:
    round = f" of round {difference.round}" if difference.round is not None else ""
    event_name = f"{printable(difference.kind)}{round}"
    if difference.a is None:
        return f"at event {difference.b} of B: {event_name}, which A lacks"
    if difference.b is None:
        return f"at event {difference.a} of A: {event_name}, which B lacks"
    if difference.a == difference.b:
        return f"at event {difference.a}: {event_name}"
    return f"at event {difference.a} of A, {difference.b} of B: {event_name}"


def _as_json(difference: EventDifference) -> dict[str, Any]:
    return {
        "what": difference.kind,
        "round": difference.round,
        "a": difference.a,
        "b": difference.b,
        "differences": [part._asdict() for part in difference.differences],
    }
