"""A check by rules that a line of a summary agrees with its facts. Pure.

The rules compare numbers in figures and in words, with sign, currency and unit, and the order of the numbers
that only one fact holds; dates and ids; names; quotations. In English, they also compare denials, rises and
falls, lower and upper bounds, before and after, more and less. A true line may be refused: that costs a
summary, while a false line costs an answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.words import words

_TOKEN = re.compile(r"[$€£¥%]|°\s?[CF]\b|\w[\w.,:/@%+'’-]*")
_NUMBER = re.compile(r"(\d+(?:[.,]\d+)*)(?:-?([^\W\d_]+|%))?")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_MINUS = re.compile(r"(?<![\w)])[-−–][$€£¥]?$")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_OPENING = re.compile(r"(?:^|[.!?:;\n\"“„«(•*–—-])\s?$|\n\s*$")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{8,500})[\"”»]")

_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip  # a table
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip  # a table
_VALUES = {word: number for number, word in enumerate(_ONES) if word != "one"} | _TENS
"""The values of number words, without `one`, which is a pronoun as often as a number."""
_UNITS = {
    form: forms.split()[0]
    for forms in (
        "usd $ dollar dollars", "eur € euro euros", "gbp £", "pound pounds", "jpy ¥ yen", "chf franc francs",
        "km kilometre kilometres kilometer kilometers", "mi mile miles", "m metre metres meter meters",
        "cm centimetre centimetres centimeter centimeters", "mm millimetre millimetres millimeter millimeters",
        "ft foot feet", "inch inches", "yd yard yards", "kg kilogram kilograms", "g gram grams", "lb lbs",
        "mg milligram milligrams", "t ton tons tonne tonnes", "l litre litres liter liters", "gallon gallons",
        "ms millisecond milliseconds", "s second seconds sec", "min minute minutes", "h hour hours hr hrs",
        "day days", "week weeks", "month months", "year years", "decade decades", "percent % per-cent", "°c", "°f",
        "kelvin", "degree degrees", "kb", "mb", "gb", "tb", "w", "kw", "mw", "gw", "kwh", "mwh", "hz", "khz", "mhz",
        "ghz", "v", "hundred", "thousand thousands", "million millions mn", "billion billions bn", "trillion trillions",
    )
    for form in forms.split()
}  # fmt: skip  # a table
_CURRENCIES = frozenset(("usd", "eur", "gbp", "pound", "jpy", "chf"))

_DENIALS = frozenset(
    ("not", "no", "never", "none", "neither", "without", "cannot", "nothing", "nobody", "unable")
)
_OF_ALL = frozenset(("none", "neither", "nothing", "nobody", "both", "all", "no"))
"""Words of which one denies for several facts."""
_LOWER_BOUND = re.compile(
    r"\b(?:at least|no (?:less|fewer) than|(?:more|higher|longer) than|above|exceed(?:s|ed|ing)?"
    r"|(?:over|minimum of)(?= [$€£¥]?\d))\b",
    re.IGNORECASE,
)
_UPPER_BOUND = re.compile(
    r"\b(?:at most|no more than|(?:less|fewer|lower|shorter) than|below|up to"
    r"|(?:under|maximum of)(?= [$€£¥]?\d))\b",
    re.IGNORECASE,
)
_OPPOSITES = (
    ("rise rises rose risen rising increase increases increased increasing grew grow grows growth growing climb climbs"
     " climbed gain gains gained",
     "fall falls fell fallen falling decrease decreases decreased decreasing drop drops dropped decline declines"
     " declined declining shrink shrinks shrank sank"),
    ("lowerbound", "upperbound"),
    ("before earlier", "after later"),
    ("more higher larger longer", "less fewer lower smaller shorter"),
)  # fmt: skip  # a table
_DIRECTIONS = {
    word: (axis, sign)
    for axis, sides in enumerate(_OPPOSITES)
    for sign, side in enumerate(sides)
    for word in side.split()
}
_MUST_MATCH = frozenset((0, 1))
"""Pairs of which neither side may be added or left out; of the other pairs a line must not have the opposite side."""
_BEGIN_SENTENCES = frozenset((
    "according", "after", "all", "also", "although", "another", "around", "because", "before", "both", "during",
    "each", "either", "every", "few", "first", "he", "here", "however", "last", "later", "many", "more", "most",
    "neither", "nobody", "none", "nothing", "now", "one", "only", "other", "others", "over", "overall", "per",
    "several", "she", "since", "some", "still", "such", "together", "total", "under", "until",
    "while", "within", "without",
))  # fmt: skip  # a text, not a column


class Amount(NamedTuple):
    """A number with its sign, and the units and the currency next to it."""

    number: str
    units: frozenset[str]


class Said:
    """A text in the form in which it is compared; each part is computed on first use."""

    def __init__(self, text: str, is_json: bool = False) -> None:
        self.text = text
        self.is_json = is_json

    @cached_property
    def _read(self) -> tuple[tuple[Amount, bool], ...]:
        return tuple(_amounts(self.text))

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """Return the amounts, in the order of the text."""
        return tuple(amount for amount, _ in self._read)

    @cached_property
    def figures(self) -> frozenset[Amount]:
        """Return the amounts that are written in figures, which a summary must keep."""
        return frozenset(amount for amount, is_word in self._read if not is_word)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_plain(word) for word in _WORD.findall(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(words(self.text))

    @cached_property
    def units(self) -> frozenset[str]:
        """Return all units in the text, with a number or without."""
        parts = re.split(r"[\W_]+", self.text.casefold())
        return frozenset(_UNITS[part] for part in parts if part in _UNITS)

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the words with a capital that do not begin a sentence."""
        return frozenset(word for word, is_opening in _capitalised(self.text) if not is_opening)

    @cached_property
    def openings(self) -> frozenset[str]:
        """Return the words with a capital that begin a sentence."""
        return frozenset(word for word, is_opening in _capitalised(self.text) if is_opening)

    @cached_property
    def denials(self) -> int:
        parts = re.split(r"[^\w'’]+", self.text.casefold())
        return sum(part in _DENIALS or part.endswith(("n't", "n’t")) for part in parts)

    @cached_property
    def directions(self) -> frozenset[tuple[int, int]]:
        text = _UPPER_BOUND.sub("upperbound", _LOWER_BOUND.sub("lowerbound", self.text))
        return frozenset(
            _DIRECTIONS[word] for word in re.split(r"\W+", text.casefold()) if word in _DIRECTIONS
        )

    @cached_property
    def spaced(self) -> str:
        return " ".join(self.text.split()).casefold()


@dataclass(frozen=True)
class Source:
    """A fact that a line names."""

    statement: Said
    title: Said


def fault(text: str, sources: Sequence[Source]) -> str:
    """Return what the line adds to its sources or leaves out, as a sentence; empty when nothing."""
    line = Said(text)
    checks = (_quotations, _numbers, _names, _order, _denials, _directions)
    return next(filter(None, (check(line, sources) for check in checks)), "")


def _numbers(line: Said, sources: Sequence[Source]) -> str:
    stated = {one for source in sources for one in source.statement.amounts}
    titled = {one for source in sources for one in source.title.amounts}
    units = {unit for source in sources for unit in source.statement.units}
    known, told = stated | titled, set(line.amounts)
    numbers_told = {one.number for one in told}

    def is_known(one: Amount) -> bool:
        return one in known or (Amount(one.number, frozenset()) in known and one.units <= units)

    def is_told(one: Amount) -> bool:
        return one in told or (not one.units and one.number in numbers_told)

    if invented := [one for one in line.amounts if not is_known(one)]:
        return f"It invents {_listed(map(_written, invented))}."
    lost = [one for source in sources for one in source.statement.figures if not is_told(one)]
    return f"It loses {_listed(sorted(map(_written, lost)))}." if lost else ""


def _names(line: Said, sources: Sequence[Source]) -> str:
    texts = [text for source in sources for text in (source.statement, source.title)]
    known = {word for text in texts for word in text.words}
    stems = {stem for text in texts for stem in text.stems}
    invented = line.names - known
    invented |= {
        word
        for word in line.openings - known - _BEGIN_SENTENCES - _VALUES.keys()
        if not stems.issuperset(words(word))
    }
    if invented:
        return f"It invents {_listed(sorted(invented))}."
    lost = {name for source in sources for name in source.statement.names} - line.words
    return f"It loses {_listed(sorted(lost))}." if lost else ""


def _order(line: Said, sources: Sequence[Source]) -> str:
    """Check the order of each fact's own numbers, by unit, in text: "from 5 to 9" must not become "from 9 to 5"."""
    holders: dict[Amount, int] = {}
    for source in sources:
        for one in set(source.statement.amounts):
            holders[one] = holders.get(one, 0) + 1
    for source in sources:
        own = {one for one in source.statement.amounts if holders[one] == 1}
        if source.statement.is_json or len(own) < 2:
            continue
        said, told = (_by_kind(text, own) for text in (source.statement, line))
        for kind, numbers in told.items():
            if numbers != [number for number in said[kind] if number in numbers]:
                return f"It changes the order of {_listed(numbers)}."
    return ""


def _denials(line: Said, sources: Sequence[Source]) -> str:
    denied = [source.statement.denials for source in sources]
    if line.denials > sum(denied):
        return "It denies what no fact denies."
    of_all = all(denied) and bool(_OF_ALL & line.words) and line.denials > 0
    return (
        "" if of_all or line.denials >= sum(map(bool, denied)) else "It leaves out that something is denied."
    )


def _directions(line: Said, sources: Sequence[Source]) -> str:
    stated = {one for source in sources for one in source.statement.directions}
    for axis in range(len(_OPPOSITES)):
        said = {sign for its, sign in stated if its == axis}
        told = {sign for its, sign in line.directions if its == axis}
        if said != told and (axis in _MUST_MATCH or (said and not told <= said) or (told and len(said) == 2)):
            named = " and ".join(side.split()[0] for side in _OPPOSITES[axis])
            return f"It does not keep apart {named}.".replace("lowerbound", "at least").replace(
                "upperbound", "at most"
            )
    return ""


def _quotations(line: Said, sources: Sequence[Source]) -> str:
    said = "\n".join(text.spaced for source in sources for text in (source.statement, source.title))
    for quotation in _QUOTED.findall(line.text):
        if Said(quotation).spaced not in said:
            return f"It quotes what no fact says: {one_line(quotation, 80)}"
    return ""


class _Token(NamedTuple):
    start: int
    text: str
    """The token in lower case, without the punctuation at the end of a sentence or a clause."""
    is_last: bool
    """Whether such punctuation followed."""


def _amounts(text: str) -> Iterator[tuple[Amount, bool]]:
    """Yield every number, date and id, and whether it is a word; "5 to 9 km" gives two amounts in kilometres."""
    tokens = [_token(found) for found in _TOKEN.finditer(text)]
    waiting: list[tuple[str, bool]] = []
    for place, token in enumerate(tokens):
        number, attached = _number(token.text)
        if not number:
            continue
        if number[0].isdigit() and _MINUS.search(text[max(0, token.start - 3) : token.start]):
            number = f"-{number}"
        behind = [] if token.is_last else tokens[place + 1 : place + 4]
        units = {*attached, *_currency(tokens[place - 1] if place else None), *_units(behind)}
        waiting.append((number, token.text[0].isalpha() and not any(map(str.isdigit, token.text))))
        joins = len(behind) > 1 and behind[0].text in ("to", "and", "or", "until")
        if joins and not units and _number(behind[1].text)[0]:
            continue
        yield from ((Amount(one, frozenset(units)), is_word) for one, is_word in waiting)
        waiting = []


def _token(found: re.Match[str]) -> _Token:
    bare = found[0].rstrip(".,:/-'’")
    return _Token(found.start(), bare.casefold(), bare != found[0])


def _number(token: str) -> tuple[str, tuple[str, ...]]:
    """Return a token's number and the unit attached to it; a whole date or id; empty for a word."""
    if any(map(str.isdigit, token)):
        found = _NUMBER.fullmatch(token)
        if found and (not found[2] or found[2] in _UNITS):
            return _THOUSANDS.sub("", found[1]), (_UNITS[found[2]],) if found[2] else ()
        return token, ()
    first, _, second = token.partition("-")
    if first in _TENS and second in _ONES:
        return str(_TENS[first] + _ONES.index(second)), ()
    if first in _VALUES and (not second or second in _UNITS):
        return str(_VALUES[first]), (_UNITS[second],) if second else ()
    return "", ()


def _currency(before: _Token | None) -> tuple[str, ...]:
    unit = _UNITS.get(before.text, "") if before and not before.is_last else ""
    return (unit,) if unit in _CURRENCIES else ()


def _units(behind: Sequence[_Token]) -> Iterator[str]:
    """Yield a unit, or a scale and a unit."""
    for token in behind:
        if token.text not in _UNITS:
            return
        yield _UNITS[token.text]
        if token.is_last:
            return


def _by_kind(text: Said, own: set[Amount]) -> dict[frozenset[str], list[str]]:
    """Return the numbers by their units, years apart, each once, in the order of the text."""
    kinds: dict[frozenset[str], list[str]] = {}
    for one in text.amounts:
        kind = one.units or frozenset(("a year",) if _YEAR.fullmatch(one.number) else ())
        if one in own and one.number not in kinds.setdefault(kind, []):
            kinds[kind].append(one.number)
    return kinds


def _capitalised(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the words that begin with a capital, and whether they begin a sentence or a quotation."""
    for found in _WORD.finditer(text):
        if found[0][0].islower() or len(found[0]) < 2:
            continue
        before = text[max(0, found.start() - 3) : found.start()]
        if not before or before[-1].isspace() or _OPENING.search(before):
            yield _plain(found[0]), found.start() == 0 or _OPENING.search(before) is not None


def _plain(word: str) -> str:
    """Return a word in lower case, without the genitive."""
    return word.casefold().replace("’", "'").removesuffix("'s").rstrip("'-")


def _written(one: Amount) -> str:
    return " ".join([one.number, *sorted(one.units)])


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(list(parts)[:3]))
