"""The items of a foreach: a reference to a list, or a range of numbers or dates. Pure.

$flights.found                   the items of a list
range(0, $flights.found.length)  0, 1, 2, ...
range($start, $start + $n days)  a date each day; a range is half open
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from antiphon_shared.values import Json
from antiphon_shared.workflows.params import short_json, type_name
from antiphon_shared.workflows.references import Reference, look_up, reference_in

_BOUND = re.compile(
    r"(?P<of>\d{4}-\d{2}-\d{2}|\S.*?)(?:\s*(?P<sign>[+-])\s*(?P<days>\S+)\s+days?)?", re.DOTALL
)
_RANGE = re.compile(r"\s*range\(\s*(?P<first>[^,()]+?)\s*,\s*(?P<last>[^,()]+?)\s*\)\s*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_INTEGER = re.compile(r"-?\d{1,18}")
_DAYS_MAX = 4_000_000
"""A bound above the number of days in the calendar."""


class UnfitItems(ValueError):
    """Raised when the items of a foreach cannot be made; the message says why, and what to write."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range: an integer, a date or a reference to one, and days to add to a date."""

    of: int | date | Reference
    days: int | Reference = 0
    sign: int = 1


@dataclass(frozen=True, slots=True)
class Range:
    """A half-open range: it includes the first, but not the last."""

    first: Bound
    last: Bound


def read_items(text: str) -> Reference | Range:
    """Return the reference or range of a foreach's items. Raises UnfitItems."""
    if reference := reference_in(text.strip()):
        return reference
    match = _RANGE.fullmatch(text)
    if match is None:
        raise UnfitItems(
            f"{text[:80]!r} is neither a reference to a list nor a range; write $name, or range(A, B) with numbers, "
            "dates or references"
        )
    return Range(_bound(match["first"]), _bound(match["last"]))


def references_in(items: Reference | Range) -> list[Reference]:
    """Return the references in items."""
    if isinstance(items, Reference):
        return [items]
    ends = (items.first.of, items.first.days, items.last.of, items.last.days)
    return [end for end in ends if isinstance(end, Reference)]


def resolve_items(text: str, values: Mapping[str, Json], items_max: int) -> list[Json]:
    """Return the items, dates as text. Raises UnfitItems also for more than `items_max`, and ReferenceMissing."""
    items = read_items(text)
    if isinstance(items, Reference):
        value = look_up(items, values)
        if not isinstance(value, list | tuple):
            raise UnfitItems(f"{items} is {type_name(value)}, but a list is required")
        _refuse_more(len(value), items_max)
        return list(value)
    first, count = _span(items, values)
    _refuse_more(count, items_max)
    if isinstance(first, date):
        return [(first + timedelta(n)).isoformat() for n in range(count)]
    return list(range(first, first + count))


def fixed_count(items: Reference | Range) -> int | None:
    """Return the number of items, if it is known without values. Raises UnfitItems."""
    if isinstance(items, Reference) or references_in(items):
        return None
    return _span(items, {})[1]


def _span(items: Range, values: Mapping[str, Json]) -> tuple[int | date, int]:
    """Return the first item of a range, and the number of its items."""
    first, last = _end(items.first, values), _end(items.last, values)
    if isinstance(first, date) and isinstance(last, date):
        return first, max((last - first).days, 0)
    if isinstance(first, int) and isinstance(last, int):
        return first, max(last - first, 0)
    raise UnfitItems(f"the range goes from {first} to {last}; give two integers or two dates")


def _bound(text: str) -> Bound:
    match = _BOUND.fullmatch(text)
    if match is None:
        raise UnfitItems(f"{text[:80]!r} is not a bound of a range")
    of = _operand(match["of"], text)
    if match["days"] is None:
        return Bound(of)
    days = _operand(match["days"], text)
    if isinstance(days, date):
        raise UnfitItems(f"{text[:80]!r}: the number of days is a date; write + 3 days, or + $n days")
    return Bound(of, days, -1 if match["sign"] == "-" else 1)


def _operand(text: str, around: str) -> int | date | Reference:
    if reference := reference_in(text):
        return reference
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DATE.fullmatch(text):
        return _date(text)
    raise UnfitItems(
        f"{around[:80]!r} is not a bound of a range; write an integer, a date such as 2030-01-31, a reference, or "
        "one of the last two + 3 days"
    )


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UnfitItems(
            f"{text!r} is not a date of the calendar, which goes from 0001-01-01 to 9999-12-31"
        ) from None


def _end(bound: Bound, values: Mapping[str, Json]) -> int | date:
    end, days = (
        look_up(one, values) if isinstance(one, Reference) else one for one in (bound.of, bound.days)
    )
    if isinstance(end, str):
        if not _DATE.fullmatch(end):
            raise UnfitItems(f"{bound.of} is {short_json(end)}, but a date such as 2030-01-31 is required")
        end = _date(end)
    if isinstance(days, bool) or not isinstance(days, int) or not -_DAYS_MAX <= days <= _DAYS_MAX:
        raise UnfitItems(f"{bound.days} is {short_json(days)}, but a number of days is required")
    if days == 0 and isinstance(end, int | date) and not isinstance(end, bool):
        return end
    if not isinstance(end, date):
        raise UnfitItems(f"{bound.of} is {short_json(end)}, but days can only be added to a date")
    try:
        return end + timedelta(bound.sign * days)
    except OverflowError:
        raise UnfitItems(
            f"{end} and {bound.sign * days} days is beyond the calendar, which ends in 9999"
        ) from None


def _refuse_more(count: int, items_max: int) -> None:
    if count > items_max:
        raise UnfitItems(
            f"there are {count:,} items, more than the limit of {items_max:,}; raise max_iterations or take fewer"
        )
