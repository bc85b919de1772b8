"""A check by rules that a line of a summary agrees with its facts. Pure.

The rules compare numbers in figures and in words, with sign, currency and unit, and the order of the numbers
that only one fact holds; dates and ids; names; quotations. In English, they also compare denials, rises and
falls, lower and upper bounds, before and after, more and less. A true line may be refused, which costs only a
summary; a false line would cost an answer.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.numbers import CARDINALS, Amount, amounts_in
from antiphon_shared.text.units import UNITS
from antiphon_shared.text.words import bare_word, texts_in_json, words

_JOINED_WORDS = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_SPACE_IN_AMOUNT = re.compile(r"(?<=[$€£¥₹])\s+(?=\d)")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_OPENING = re.compile(r"(?:^|[.!?:;\n\"“„«(•*–—-])\s?$|\n\s*$")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{8,500})[\"”»]")

_DENIALS = frozenset(
    ("not", "no", "never", "none", "neither", "without", "cannot", "nothing", "nobody", "unable")
)
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
"""Pairs of which a summary must neither add nor omit a side; of other pairs, only the opposite side is wrong."""
_BEGIN_SENTENCES = frozenset((
    "according", "after", "all", "also", "although", "another", "around", "because", "before", "both", "during",
    "each", "either", "every", "few", "first", "he", "here", "however", "last", "later", "many", "more", "most",
    "neither", "nobody", "none", "nothing", "now", "one", "only", "other", "others", "over", "overall", "per",
    "several", "she", "since", "some", "still", "such", "together", "total", "under", "until",
    "while", "within", "without",
))  # fmt: skip  # a text, not a column


Quantity = tuple[Decimal, str]
"""A number, and the base unit of its kind; empty for a number without a unit."""


class ComparedText:
    """A text in the form for comparison; each part is computed on first use."""

    def __init__(self, text: str, is_json: bool = False) -> None:
        self.text = text
        self.is_json = is_json

    @cached_property
    def _tokens(self) -> tuple[str, ...]:
        parts = texts_in_json(self.text) if self.is_json else (self.text,)
        joined = " ".join(parts).lower()
        return tuple(
            filter(None, map(bare_word, _SPACE_IN_AMOUNT.sub("", _JOINED_WORDS.sub(" ", joined)).split()))
        )

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """Return the amounts in the order of the text, without the word `one`, which may be a pronoun."""
        amounts = amounts_in(self._tokens)
        return tuple(
            one for one in amounts if not (one.is_word and one.low == one.high == 1 and not one.unit)
        )

    @cached_property
    def quantities(self) -> dict[Quantity, str]:
        """Return the numbers, each with its written form; a range has two."""
        return {
            end: " ".join(self._tokens[one.start : one.end])
            for one in self.amounts
            for end in _range_ends(one)
        }

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """Return the numbers without their units."""
        bare = amounts_in([token for token in self._tokens if token not in UNITS])
        return frozenset(number for one in bare for number in (one.low, one.high))

    @cached_property
    def figures(self) -> dict[Quantity, str]:
        """Return the numbers that are written in figures, which a summary must keep."""
        in_figures = {end for one in self.amounts if not one.is_word for end in _range_ends(one)}
        return {end: written for end, written in self.quantities.items() if end in in_figures}

    @cached_property
    def marks(self) -> frozenset[str]:
        """Return the dates and ids: words with a digit that are not numbers."""
        numbers = {index for one in self.amounts for index in range(one.start, one.end)}
        return frozenset(
            token
            for index, token in enumerate(self._tokens)
            if index not in numbers and any(map(str.isdigit, token))
        )

    @cached_property
    def units(self) -> frozenset[tuple[str, Decimal]]:
        """Return all units in the text, with a number or without."""
        return frozenset(UNITS[token] for token in self._tokens if token in UNITS)

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(_plain(word) for word in _WORD.findall(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(words(self.text))

    @cached_property
    def capitalised(self) -> dict[str, bool]:
        """Return the capitalised words, each with whether it only occurs at the beginning of a sentence."""
        by_word: dict[str, bool] = {}
        for word, is_opening in _capitalised(self.text):
            by_word[word] = by_word.get(word, True) and is_opening
        return by_word

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the words with a capital that do not begin a sentence."""
        return frozenset(word for word, is_opening in self.capitalised.items() if not is_opening)

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

    statement: ComparedText
    title: ComparedText


def disagreement(text: str, sources: Sequence[Source]) -> str:
    """Return what the line adds to its sources or omits, as a sentence; empty if they agree."""
    line = ComparedText(text)
    checks = (_quotations, _numbers, _names, _order, _denials, _directions)
    return next(filter(None, (check(line, sources) for check in checks)), "")


def _numbers(line: ComparedText, sources: Sequence[Source]) -> str:
    texts = [text for source in sources for text in (source.statement, source.title)]
    in_sources = {quantity for text in texts for quantity in text.quantities}
    units = {unit for text in texts for unit in text.units}
    in_sources |= {(number * factor, unit) for number, own in in_sources if not own for unit, factor in units}
    marks = {mark for text in texts for mark in text.marks}
    invented = [written for quantity, written in line.quantities.items() if quantity not in in_sources]
    if invented := [*invented, *sorted(line.marks - marks)]:
        return f"It invents {_listed(invented)}."
    statements = [source.statement for source in sources]
    lost = [
        written
        for statement in statements
        for quantity, written in statement.figures.items()
        if quantity not in line.quantities and (quantity[1] or quantity[0] not in line.numbers)
    ]
    lost += [mark for statement in statements for mark in statement.marks - line.marks]
    return f"It loses {_listed(sorted(lost))}." if lost else ""


def _names(line: ComparedText, sources: Sequence[Source]) -> str:
    texts = [text for source in sources for text in (source.statement, source.title)]
    source_words = {word for text in texts for word in text.words}
    stems = {stem for text in texts for stem in text.stems}
    invented = {
        word
        for word, is_opening in line.capitalised.items()
        if word not in source_words
        and not (
            is_opening and (word in _BEGIN_SENTENCES or word in CARDINALS or stems.issuperset(words(word)))
        )
    }
    if invented:
        return f"It invents {_listed(sorted(invented))}."
    lost = {name for source in sources for name in source.statement.names} - line.words
    return f"It loses {_listed(sorted(lost))}." if lost else ""


def _order(line: ComparedText, sources: Sequence[Source]) -> str:
    """Check the order of each text's own numbers, by unit: "from 5 to 9" must not become "from 9 to 5"."""
    holders = Counter(quantity for source in sources for quantity in source.statement.quantities)
    for source in sources:
        own = [quantity for quantity in source.statement.quantities if holders[quantity] == 1]
        if source.statement.is_json:
            continue
        in_line = [quantity for quantity in line.quantities if quantity in own]
        for kind in dict.fromkeys(map(_kind, in_line)):
            numbers = [quantity for quantity in in_line if _kind(quantity) == kind]
            if numbers != [quantity for quantity in own if quantity in numbers]:
                return f"It changes the order of {_listed(f'{number:f}' for number, _ in numbers)}."
    return ""


def _denials(line: ComparedText, sources: Sequence[Source]) -> str:
    denied = [source.statement.denials for source in sources]
    if line.denials > sum(denied):
        return "It denies what no fact denies."
    return "It leaves out that something is denied." if line.denials < sum(map(bool, denied)) else ""


def _directions(line: ComparedText, sources: Sequence[Source]) -> str:
    stated = {one for source in sources for one in source.statement.directions}
    for axis, sides in enumerate(_OPPOSITES):
        in_facts = {sign for own, sign in stated if own == axis}
        in_line = {sign for own, sign in line.directions if own == axis}
        if (in_facts and in_line - in_facts) or (axis in _MUST_MATCH and in_facts != in_line):
            names = " and ".join(side.split()[0] for side in sides)
            return f"It does not keep apart {names}.".replace("lowerbound", "at least").replace(
                "upperbound", "at most"
            )
    return ""


def _quotations(line: ComparedText, sources: Sequence[Source]) -> str:
    source_text = "\n".join(text.spaced for source in sources for text in (source.statement, source.title))
    for quotation in _QUOTED.findall(line.text):
        if ComparedText(quotation).spaced not in source_text:
            return f"It quotes what no fact says: {one_line(quotation, 80)}"
    return ""


def _range_ends(one: Amount) -> tuple[Quantity, ...]:
    return tuple(dict.fromkeys(((one.low, one.unit), (one.high, one.unit))))


def _kind(quantity: Quantity) -> str:
    """Return the kind of a quantity: its unit, or `a year`; empty for other numbers."""
    number, unit = quantity
    is_year = not unit and 1000 <= number < 2100 and number == number.to_integral_value()
    return "a year" if is_year else unit


def _capitalised(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the words that begin with a capital, and whether they begin a sentence or a quotation."""
    for match in _WORD.finditer(text):
        if match[0][0].islower() or len(match[0]) < 2:
            continue
        before = text[max(0, match.start() - 3) : match.start()]
        if not before or before[-1].isspace() or _OPENING.search(before):
            yield _plain(match[0]), match.start() == 0 or _OPENING.search(before) is not None


def _plain(word: str) -> str:
    """Return a word in lower case, without the genitive."""
    return word.casefold().replace("’", "'").removesuffix("'s").rstrip("'-")


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(list(parts)[:3]))
