"""The changes of an update in a recording, in words. Pure."""

from collections.abc import Sequence

from antiphon_shared.text.excerpt import list_names

from antiphon.replay.event_changes import Change
from antiphon.replay.reports.change_lines import change, printable

_EVENTS_LISTED_MAX = 12


def reported(path: str, differences: Sequence[Change]) -> list[str]:
    """Return every difference, by event: the recorded value, and today's."""
    count = f"{len(differences)} difference{'s' if len(differences) != 1 else ''}"
    lines = [f"{printable(path)}: would be rewritten with {count}", "  - as recorded, + as rewritten"]
    for one in differences:
        lines.append(f"  {_where(one)}")
        lines += [f"    {line}" for line in change(one.expected, one.got)]
    return lines


def _where(one: Change) -> str:
    event_name = printable(f"{one.what} {one.path}".strip())
    if not one.events:
        return event_name
    return f"event{'s' if len(one.events) > 1 else ''} {list_names(one.events, _EVENTS_LISTED_MAX)}: {event_name}"
