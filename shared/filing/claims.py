"""What a sentence claims, apart from its numbers, its date and its negation, so that claims can be compared. Pure.

The rules are narrow on purpose: a pair wrongly called a contradiction misleads more than one that is missed.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from shared.filing.dates import Date, dates_in
from shared.filing.reading import read

_REMEMBERED = 8_192
_CHARACTERS_MAX = 400
_WORDS_MIN = 3
_DENIAL_WORDS_MIN = 5
_NUMBER_WORDS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9",
    "ten": "10", "eleven": "11", "twelve": "12", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50",
}  # fmt: skip  # a text, not a column
_NUMBERED = frozenset((
    "lesson", "chapter", "rule", "step", "section", "table", "figure", "page", "part", "volume", "version",
    "question", "item", "number", "no", "episode", "season", "room", "line", "level", "grade", "day", "week",
    "month", "year", "phase", "article", "unit", "module", "session", "round", "example", "test", "case",
    "appendix", "class", "group", "team", "zone", "act", "scene", "track", "exercise", "option", "point",
    "paragraph", "verse", "note", "type", "model", "gate", "platform", "building", "floor", "id", "issue",
    "ticket", "order", "invoice",
))  # fmt: skip  # a text, not a column
"""Before a number that says which one it is, not how many."""
_RELATIVE = frozenset((
    "today", "yesterday", "tomorrow", "tonight", "now", "ago", "last", "next", "previous", "previously", "earlier",
    "later", "then", "another", "other", "more", "i", "me", "my", "we", "our", "us", "you", "your",
))  # fmt: skip  # a text, not a column
"""Words by which a sentence speaks of its own moment, speaker or neighbours."""
_LASTING = frozenset((
    "is", "are", "was", "were", "has", "have", "had", "cost", "costs", "count", "counts", "lasts", "take", "takes",
    "employ", "employs", "employed", "total", "totals", "stands", "stood", "amounts", "amounted", "contain",
    "contains", "contained", "hold", "holds", "held", "offer", "offers", "offered", "serve", "serves", "served",
    "includes", "included", "charges", "charged", "pays", "paid", "earns", "earned", "operates", "operated",
    "numbers", "numbered", "lists", "listed", "measures", "weighs", "comprises", "comprised",
))  # fmt: skip  # a text, not a column
_NOT = frozenset(("not", "never", "no", "without", "cannot"))
_DO = ("do", "does", "did")
_CONTRACTED = {"can't": "can", "won't": "will"}
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:[-/]\d+)*")
_SIGNS = "$€£¥₹%°<>=+±~"
_SPEAKER = re.compile(r"[^:]{1,40}[:：]\s")
_DATE_FIRST = re.compile(r"(?:As of|In|On|Since|By|During|Until)\s[^,.]{0,24}?\d{4}(?:-\d\d)*,?\s+")
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_PROPER = re.compile(rf"[Tt]he\s+[A-Z]|\S+(?:\s+\S+){{0,2}}?\s+(?!(?:{_MONTH})\b)[A-Z]|[A-Z]{{2}}")


class Claim(NamedTuple):
    """A sentence's words with `#` for each number and without its date."""

    template: str
    numbers: tuple[str, ...]
    date: Date | None
    is_lasting: bool
    """Whether it speaks of a state, which a later date replaces, and not of an event."""


@lru_cache(_REMEMBERED)
def claim_of(text: str) -> Claim | None:
    """The claim of a sentence with numbers; None when it has none, or cannot be compared."""
    words = read(text, False).words
    figured = [word for word in words if not word.isalpha() or word in _NUMBER_WORDS]
    numbers = [word for word in figured if _figure(word)]
    if all(map(_YEAR.fullmatch, numbers)) or not _is_comparable(text, words):
        return None
    dates = list(dates_in(words))
    if len(dates) > 1:
        return None
    undated = words[: dates[0].start] + words[dates[0].end :] if dates else words
    figures = {at: figure for at, word in enumerate(undated) if (figure := _figure(word))}
    if not figures or len(undated) < _WORDS_MIN or any(_says_which(undated, at) for at in figures):
        return None
    return Claim(
        template=" ".join([_around(word) if at in figures else word for at, word in enumerate(undated)]),
        numbers=tuple(figures.values()),
        date=dates[0].date if dates else None,
        is_lasting=not _LASTING.isdisjoint(undated) or words[:2] == ("as", "of"),
    )


@lru_cache(_REMEMBERED)
def denied_by(text: str) -> tuple[str, ...]:
    """The keys of what a sentence denies, in the forms that its verb may have there; none when it denies nothing."""
    words = read(text, False).words
    has_not = "n't" in text or "n’t" in text or not _NOT.isdisjoint(words)
    if not has_not or not _is_comparable(text, words):
        return ()
    found = [at for at, word in enumerate(words) if word in _NOT or word.endswith(("n't", "n’t"))]
    if len(found) != 1 or len(words) < _DENIAL_WORDS_MIN:
        return ()
    at = found[0]
    before, negation, behind = words[:at], words[at].replace("’", "'"), words[at + 1 :]
    if negation == "without":
        return (_key(*before, "with", *behind),)
    if negation == "cannot":
        return (_key(*before, "can", *behind),)
    if negation.endswith("n't"):
        before = (*before, _CONTRACTED.get(negation, negation[:-3]))
    if before[-1:] and before[-1] in _DO and behind:
        verb = behind[0]
        return tuple(
            _key(*before[:-1], form, *behind[1:]) for form in (verb, f"{verb}s", f"{verb}es", f"{verb}ed")
        )
    return (_key(*before, *behind),)


def names_subject(text: str) -> bool:
    """Whether a sentence begins with a name, as far as capital letters tell, be it behind a date."""
    date = _DATE_FIRST.match(text)
    subject = text[date.end() :] if date else text
    return read(subject, False).is_telling and _PROPER.match(subject) is not None


def _is_comparable(text: str, words: tuple[str, ...]) -> bool:
    """Whether what a sentence claims does not hang on its moment, its speaker or its neighbours."""
    if len(text) > _CHARACTERS_MAX or "?" in text or _SPEAKER.match(text):
        return False
    return _RELATIVE.isdisjoint(words)


def _says_which(words: tuple[str, ...], at: int) -> bool:
    """Whether a number tells which one, or when, and not how many."""
    return at == 0 or words[at - 1] in _NUMBERED or _YEAR.fullmatch(words[at]) is not None


def _figure(word: str) -> str:
    """The number that a word is, with its unit's sign apart; empty when it is none."""
    if word.isalpha():
        return _NUMBER_WORDS.get(word, "")
    bare = word.strip(_SIGNS).replace(",", "")
    return bare if bare[:1].isdecimal() and bare[-1].isdecimal() else ""


def _around(number: str) -> str:
    """`#` with the signs around a number: `$#`, `#%`."""
    return number.replace(number.strip(_SIGNS), "#")


def _key(*words: str) -> str:
    return " ".join(words)
