"""Amounts in a text's words: numbers in figures and in words, with magnitude, unit and currency. Pure.

    1,204   2 914   1.204.000   14.2   7,50   -5       figures, with separators of thousands and decimals
    twelve   twenty-five   two hundred and six         words, in English
    1.2 million   €42m   85 thousand   twelve hundred  magnitudes
    14.2 km   $1,200   USD 1,200   9 EUR   21%   9 am  units and currencies, converted to one unit of their kind
    4-6 weeks   from 9 to 5   between 20 and 30 °C     ranges

Amounts are compared by value: `1.2 thousand` is `1,200`, and `14.2 km` is `14,200 metres`.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from antiphon_shared.text.units import CURRENCIES, UNITS

_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip  # a table
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
CARDINALS = {word: number for number, word in enumerate(_ONES)} | {
    word: 10 * number for number, word in enumerate(_TENS, 2)
}
"""The values of single number words."""
ORDINALS = {
    word: number
    for number, word in enumerate(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], 1
    )
}
_MAGNITUDES = {
    form: Decimal(10) ** power
    for power, forms in (
        (2, "hundred"), (3, "thousand thousands"), (6, "million millions mn"), (9, "billion billions bn"),
        (12, "trillion trillions tn"),
    )
    for form in forms.split()
}  # fmt: skip  # a table
_SHORT_MAGNITUDES = _MAGNITUDES | {"k": Decimal(1000), "m": Decimal(10) ** 6, "b": Decimal(10) ** 9}
"""Magnitudes after an amount of money."""
_SQUARED = {"square": 2, "sq": 2, "cubic": 3}
_FIGURE = re.compile(
    r"[~(]?([-−–]?)([$€£¥₹]?)([-−–]?)(\d+(?:[.,'’]\d+)*)(?:-?([^\W\d_]{1,12}|m[²³23]|km[²2]|%|°[cf]?|[$€£¥₹]))?\)?"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:([,.'’])\d{3})(?:\1\d{3})*")
_CLOCK = re.compile(r"([01]?\d|2[0-4])[:.]([0-5]\d)(am|pm)?")
_RANGE = re.compile(r"([$€£]?\d[\d.,:]*[^\W\d_]{0,4})[-–—]([$€£]?\d[\d.,:]*\D{0,12})")
_DIGIT = re.compile(r"\d")
_ISO_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
_ONE = Decimal(1)
_PLAIN = re.compile(r"-?\d{1,15}(?:\.\d{1,10})?")


class Amount(NamedTuple):
    """An amount: its words are `words[start:end]`; a range where `low` and `high` differ."""

    start: int
    end: int
    low: Decimal
    high: Decimal
    unit: str
    """The common unit of its kind; empty for a bare number."""
    step: Decimal
    """The weight of the last written figure: 1 for `14`, and 100 metres for `14.2 km`."""
    is_word: bool

    def is_same(self, other: "Amount") -> bool:
        """Return whether both are the same amount, at the precision of the one with fewer figures."""
        if self.unit != other.unit:
            return False
        if self.low == other.low and self.high == other.high:
            return True
        step = max(self.step, other.step)
        return step != min(self.step, other.step) and 2 * self._distance(other) <= step

    def excludes(self, other: "Amount") -> bool:
        """Return whether both cannot be true: two numbers or ranges that differ, or a number outside of a range."""
        if self.unit != other.unit or self.is_same(other):
            return False
        if (self.low == self.high) == (other.low == other.high):
            return True
        return self.high < other.low or other.high < self.low

    def _distance(self, other: "Amount") -> Decimal:
        return max(abs(self.low - other.low), abs(self.high - other.high))


class _Number(NamedTuple):
    """A number as it is written: its magnitude is applied, its unit is not."""

    end: int
    value: Decimal
    step: Decimal
    unit: str
    """A key of `UNITS`, `clock` for a time of day in minutes, or empty."""
    is_word: bool


def amounts_in(words: Sequence[str]) -> list[Amount]:
    """Return the amounts in a text's words, in lower case and without the punctuation around them."""
    amounts: list[Amount] = []
    at = 0
    for index, word in enumerate(words):
        if index >= at and _may_be_number(word) and (one := _amount(words, index, at)):
            amounts.append(one)
            at = one.end
    return amounts


def plain_number(text: str) -> int | float | None:
    """Return the number that a text is, in the notation of JSON; None for any other text."""
    if not _PLAIN.fullmatch(text):
        return None
    return float(text) if "." in text else int(text)


def _may_be_number(word: str) -> bool:
    if word.isalpha():
        return word in CARDINALS
    return word.isdecimal() or _DIGIT.search(word) is not None or word.partition("-")[0] in CARDINALS


def _amount(words: Sequence[str], at: int, free: int) -> Amount | None:
    """Return the amount whose figures begin at a word: one number, or the range of two.

    Words before `free` belong to the previous amount, also a currency.
    """
    pair = None if words[at].isdecimal() else _RANGE.fullmatch(words[at])
    if pair and not _ISO_DATE.fullmatch(words[at]):
        first, second, end = _number([pair[1]], 0), _number([pair[2], *words[at + 1 : at + 4]], 0), at
    else:
        first, second, end = _number(words, at), None, 0
        if first is not None and _joins(words, at, first.end):
            second = _number(words, first.end + 1)
    if first is None:
        return None
    currency = words[at - 1] if at > free and words[at - 1] in CURRENCIES else first.unit
    start = at - (currency != first.unit)
    if second is not None and currency in ("", second.unit):
        return _scaled(start, first, second.value, second.unit, end + second.end)
    return _scaled(start, first, first.value, currency, end or first.end)


def _joins(words: Sequence[str], start: int, end: int) -> bool:
    """Return whether the words after a number make a range of it and the next number."""
    if end + 1 >= len(words):
        return False
    return words[end] in ("to", "-", "–", "until") or (
        words[end] == "and" and start > 0 and words[start - 1] == "between"
    )


def _scaled(start: int, first: _Number, last: Decimal, unit: str, end: int) -> Amount:
    """Return a number, or the range up to another, in the common unit of its kind."""
    low = first.value * 60 if unit == "clock" and not first.unit else first.value
    step = first.step
    if unit in UNITS:
        unit, factor = UNITS[unit]
        if factor != 1:
            low, last, step = low * factor, last * factor, step * factor
    return Amount(start, end, low, last, unit, step, first.is_word)


def _number(words: Sequence[str], at: int) -> _Number | None:
    """Return the number that begins at a word, with its magnitude and the unit after it."""
    if at >= len(words):
        return None
    if words[at].isalpha() or words[at].split("-")[0] in CARDINALS:
        in_words = _in_words(words, at)
        return in_words and _with_unit(words, in_words)
    if words[at].isdecimal():
        return _of_figures(words, at, words[at], "", "")
    if clock := _CLOCK.fullmatch(words[at]):
        return _clock(words, at, clock)
    match = _FIGURE.fullmatch(words[at])
    if match is None:
        return None
    number = _of_figures(words, at, match[4], match[2], match[5] or "")
    return number._replace(value=-number.value) if number and (match[1] or match[3]) else number


def _of_figures(words: Sequence[str], at: int, digits: str, unit: str, attached: str) -> _Number | None:
    """Return the number that figures make with the currency before them and the unit attached to them."""
    value, step = _value(digits)
    end = at + 1
    if not attached and len(digits) <= 3:  # 2 914
        while end < len(words) and len(words[end]) == 3 and words[end].isdecimal():
            value, end = value * 1000 + int(words[end]), end + 1
    if attached in _SHORT_MAGNITUDES and (unit or attached not in UNITS):
        value, step, attached = value * _SHORT_MAGNITUDES[attached], step * _SHORT_MAGNITUDES[attached], ""
    if attached in ("am", "pm"):
        return _Number(end, 60 * (value % 12 + 12 * (attached == "pm")), _ONE, "clock", False)
    if attached and attached not in UNITS:
        return None
    return _with_unit(words, _Number(end, value, step, unit or attached, False))


def _value(digits: str) -> tuple[Decimal, Decimal]:
    """Return the value of figures with separators, and the weight of the last one."""
    if digits.isdecimal() and not digits.endswith("000"):
        return Decimal(digits), _ONE
    if thousands := _THOUSANDS.fullmatch(digits):
        is_decimal = thousands[1] == "." and digits.count(".") == 1
        digits = digits if is_decimal else digits.replace(thousands[1], "")
    elif digits.count(",") == 1 and "." not in digits:
        digits = digits.replace(",", ".")  # 7,50
    else:
        digits = digits.replace(",", "").replace("'", "").replace("’", "")
    if digits.count(".") > 1:  # a version, an address
        return Decimal(0), Decimal(0)
    value = Decimal(digits)
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent < 0:
        return value, Decimal(10) ** exponent
    zeros = len(digits) - len(digits.rstrip("0"))
    return value, Decimal(10) ** zeros if 3 <= zeros < len(digits) - 1 else _ONE


def _clock(words: Sequence[str], at: int, clock: re.Match[str]) -> _Number | None:
    half = clock[3] or (words[at + 1] if at + 1 < len(words) and words[at + 1] in ("am", "pm") else "")
    if "." in clock[0] and not half:
        return _with_unit(words, _Number(at + 1, *_value(clock[0]), "", False))
    hour = int(clock[1]) % 12 + 12 * (half == "pm") if half else int(clock[1])
    end = at + 1 + (bool(half) and not clock[3])
    return _Number(end, Decimal(60 * hour + int(clock[2])), _ONE, "clock", False)


def _in_words(words: Sequence[str], at: int) -> _Number | None:
    """Return a number in words: `twenty-five`, `two hundred and six`, without the magnitude above hundreds."""
    value, end = _below_hundred(words, at)
    if end == at:
        return None
    if end < len(words) and words[end] == "hundred":
        value, end = value * 100, end + 1
        behind = end + (end < len(words) and words[end] == "and")
        rest, last = _below_hundred(words, behind)
        if last > behind:
            value, end = value + rest, last
    return _Number(end, Decimal(value), _ONE, "", True)


def _below_hundred(words: Sequence[str], at: int) -> tuple[int, int]:
    """Return the number up to ninety-nine at a word, and its end, which is `at` without a number."""
    if at >= len(words):
        return 0, at
    tens, _, ones = words[at].partition("-")
    if tens not in CARDINALS or (ones and CARDINALS.get(ones, 10) > 9):
        return 0, at
    value = CARDINALS[tens] + CARDINALS.get(ones, 0)
    behind = words[at + 1] if at + 1 < len(words) else ""
    if not ones and value >= 20 and 0 < CARDINALS.get(behind, 0) < 10:
        return value + CARDINALS[behind], at + 2
    return value, at + 1


def _with_unit(words: Sequence[str], number: _Number) -> _Number | None:
    """Return the number with the magnitudes and the unit after it."""
    end, value, step, unit, is_word = number
    if step == 0:
        return None
    while end < len(words) and (times := _MAGNITUDES.get(words[end])):
        value, step, end = value * times, step * times, end + 1
    form = words[end] if end < len(words) else ""
    if unit:  # $5 dollars
        is_repeated = form in UNITS and UNITS[form][0] == UNITS[unit][0]
        return _Number(end + is_repeated, value, step, unit, is_word)
    if form in UNITS:
        return _Number(end + 1, value, step, form, is_word)
    if form in ("am", "pm"):
        return _Number(end + 1, 60 * (value % 12 + 12 * (form == "pm")), _ONE, "clock", is_word)
    behind = words[end + 1] if end + 1 < len(words) else ""
    if form == "per" and behind == "cent":
        return _Number(end + 2, value, step, "%", is_word)
    if (power := _SQUARED.get(form)) and UNITS.get(behind, ("",))[0] == "m":
        return _Number(end + 2, value * UNITS[behind][1] ** power, step, f"m{power}", is_word)
    return _Number(end, value, step, "", is_word)
