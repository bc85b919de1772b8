"""Dates in a statement: `2024-03-12`, `12 March 2024`, `March 12, 2024`, `March 2024`, `in 2021`. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

Date = tuple[int, int, int]
"""Year, month, day; 0 for a part that is not named."""

_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip  # one list
_MONTHS = {short: number for number, name in enumerate(_NAMES, 1) for short in (name, name[:3])} | {"sept": 9}
ISO_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z?)?\b")
"""A day, or a time of it, within a text."""
_ISO = re.compile(r"((?:1[5-9]|20)\d\d)(?:-(\d\d)(?:-(\d\d))?)?(?!\d)")
_ORDINALS = ("st", "nd", "rd", "th", "of")
_LEADS = frozenset(
    ("in", "on", "since", "by", "until", "from", "during", "early", "mid", "late", "year", "as")
)


class NamedDate(NamedTuple):
    """A date: `words[start:end]` are its words, with those that lead to it, as in `as of march 2024`."""

    start: int
    end: int
    date: Date


def dates_in(words: Sequence[str]) -> Iterator[NamedDate]:
    """Yield the dates in words in lower case; a year alone counts after `in` and the like."""
    for at, word in enumerate(words):
        if len(word) < 4 or word[0] not in "12":
            continue
        match = _ISO.fullmatch(word)
        if match is None:
            continue
        year, month, day = int(match[1]), int(match[2] or 0), int(match[3] or 0)
        start = at
        if not month:
            start, month, day = _month_before(words, at)
        lead = _lead_before(words, start)
        if month or lead < start:
            yield NamedDate(lead, at + 1, (year, month, day))


def iso_dates_in(text: str) -> tuple[str, ...]:
    """Return the days and times of a text that are written as in ISO 8601, in order."""
    return tuple(ISO_DATE.findall(text))


def date_of_value(value: object) -> Date | None:
    """Return the date in a field: an ISO date, a year, or a date in words."""
    text = str(value)[:40] if isinstance(value, str) or type(value) is int else ""
    if match := _ISO.match(text):
        return int(match[1]), int(match[2] or 0), int(match[3] or 0)
    words = re.findall(r"\w+", text.lower())
    return next((one.date for one in dates_in(words)), None)


def is_later(one: Date, other: Date) -> bool | None:
    """Return whether `one` is after `other`; None if they are the same, or one is within the other."""
    for mine, its in zip(one, other, strict=True):
        if not mine or not its:
            return None
        if mine != its:
            return mine > its
    return None


def _month_before(words: Sequence[str], year_at: int) -> tuple[int, int, int]:
    """Return the start of the date that ends in a year, its month and its day; 0 for a missing part."""
    at, day = year_at - 1, 0
    if at > 0 and words[at] not in _MONTHS:  # march 12 2024
        at, day = _day_before(words, year_at)
        at -= 1
    if at < 0 or words[at] not in _MONTHS:
        return year_at, 0, 0
    month = _MONTHS[words[at]]
    if not day:
        at, day = _day_before(words, at)
    return at, month, day


def _day_before(words: Sequence[str], end: int) -> tuple[int, int]:
    """Return the start of the day of the month that ends before `words[end]`, and the day; `end` and 0 without one."""
    at = end - 1
    while at > 0 and words[at] in _ORDINALS:
        at -= 1
    day = (
        words[at].removesuffix("st").removesuffix("nd").removesuffix("rd").removesuffix("th")
        if at >= 0
        else ""
    )
    return (at, int(day)) if day.isdecimal() and len(day) <= 2 else (end, 0)


def _lead_before(words: Sequence[str], start: int) -> int:
    while start > 0 and (words[start - 1] in _LEADS or words[max(0, start - 2) : start] == ("as", "of")):
        start -= 1
    return start
