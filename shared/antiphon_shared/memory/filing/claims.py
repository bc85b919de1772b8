"""What a sentence claims, apart from its numbers, its date and its negation, so that claims can be compared. Pure.

The rules are narrow on purpose: a pair wrongly called a contradiction misleads more than one that is missed.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from antiphon_shared.memory.filing.dates import Date, NamedDate, dates_in
from antiphon_shared.memory.filing.reading import read, without_capital

_REMEMBERED = 8_192
_CHARACTERS_MAX = 400
_WORDS_MIN = 3
_DENIAL_WORDS_MIN = 5
_SUBJECT_WORDS_MAX = 16
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
    "today", "yesterday", "tomorrow", "tonight", "ago", "last", "next", "previous", "previously", "earlier",
    "later", "then", "another", "other", "more", "i", "me", "my", "we", "our", "us", "you", "your",
))  # fmt: skip  # a text, not a column
"""Words by which a sentence speaks of its own moment, speaker or neighbours."""
_STATE = frozenset((
    "is", "are", "costs", "counts", "lasts", "takes", "employs", "totals", "stands", "amounts", "contains", "holds",
    "offers", "serves", "includes", "charges", "pays", "earns", "operates", "numbers", "lists", "measures", "weighs",
    "comprises", "supports", "runs", "owns",
))  # fmt: skip  # a text, not a column
_VERBS = _STATE | frozenset((
    "was", "were", "has", "have", "had", "cost", "took", "employed", "stood", "amounted", "contained", "held",
    "offered", "served", "included", "charged", "paid", "earned", "operated", "numbered", "listed", "measured",
    "weighed", "comprised", "supported", "ran", "owned", "does", "do", "did", "can", "cannot", "will", "won",
))  # fmt: skip  # a text, not a column
_PRESENT = frozenset(("now", "currently"))
_NOT = frozenset(("not", "never", "no", "without", "cannot"))
_DO = ("do", "does", "did")
_CONTRACTED = {"can't": "can", "won't": "will"}
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:[-/]\d+)*")
_SIGNS = "$€£¥₹%°<>=+±~"
_SPEAKER = re.compile(r"[^:]{1,40}[:：]\s")
_JOINS_NAMES = frozenset(("of", "and", "&", "de", "la", "von", "van", "the"))


class Claim(NamedTuple):
    """A sentence's words with `#` for each number and without its date."""

    template: str
    numbers: tuple[str, ...]
    date: Date | None
    is_lasting: bool
    """Whether it speaks of a state valid from its date on, which a later date replaces; not of a period or event."""


@lru_cache(_REMEMBERED)
def claim_of(text: str) -> Claim | None:
    """The claim of a sentence with numbers; None when it has none, or cannot be compared."""
    reading = read(text, False)
    cased, words = reading.words, reading.folded
    figured = [word for word in words if not word.isalpha() or word in _NUMBER_WORDS]
    numbers = [word for word in figured if _figure(word)]
    if all(map(_YEAR.fullmatch, numbers)) or not _is_comparable(text, words):
        return None
    dates = list(dates_in(words))
    if len(dates) > 1 or (not dates and not _PRESENT.isdisjoint(words)):
        return None
    undated = cased[: dates[0].start] + cased[dates[0].end :] if dates else cased
    figures = {at: figure for at, word in enumerate(undated) if (figure := _figure(word))}
    if not figures or len(undated) < _WORDS_MIN or any(_says_which(undated, at) for at in figures):
        return None
    template = [_around(word) if at in figures else word for at, word in enumerate(undated)]
    return Claim(
        template=" ".join([without_capital(template[0]), *template[1:]]),
        numbers=tuple(figures.values()),
        date=dates[0].date if dates else None,
        is_lasting=bool(dates) and _is_state(words, dates[0]),
    )


@lru_cache(_REMEMBERED)
def denied_by(text: str) -> tuple[str, ...]:
    """The keys of what a sentence denies, in the forms that its verb may have there; none when it denies nothing."""
    reading = read(text, False)
    cased, words = reading.words, reading.folded
    has_not = "n't" in text or "n’t" in text or not _NOT.isdisjoint(words)
    if not has_not or not _is_comparable(text, words) or not _PRESENT.isdisjoint(words):
        return ()
    found = [at for at, word in enumerate(words) if word in _NOT or word.endswith("n't")]
    if len(found) != 1 or len(words) < _DENIAL_WORDS_MIN:
        return ()
    at = found[0]
    before, negation, behind = cased[:at], words[at], cased[at + 1 :]
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


@lru_cache(_REMEMBERED)
def subject_of(text: str) -> str:
    """The name that a sentence leads with, before its verb and behind a date; empty when it is not surely a name.

    The capital of the first word tells nothing: `Revenue was` leads with no name, `The Aker is` and `Ada Holm is` do.
    """
    raw = text.replace(",", " ").split()[:_SUBJECT_WORDS_MAX]
    folded = [word.lower() for word in raw]
    date = next(iter(dates_in(folded)), None)
    start = date.end if date is not None and date.start == 0 else 0
    is_first = start == 0
    if folded[start : start + 1] == ["the"]:
        start, is_first = start + 1, False
    end = next((at for at in range(start, len(raw)) if folded[at] in _VERBS), start)
    name = raw[start:end]
    capitals = sum(word[0].isupper() for word in name)
    is_name = all(word.isalpha() and (word[0].isupper() or word in _JOINS_NAMES) for word in name)
    return " ".join(name) if is_name and capitals > is_first else ""


def _is_comparable(text: str, words: tuple[str, ...]) -> bool:
    """Whether what a sentence claims does not hang on its moment, its speaker or its neighbours."""
    if len(text) > _CHARACTERS_MAX or "?" in text or ";" in text or _SPEAKER.match(text):
        return False
    return _RELATIVE.isdisjoint(words)


def _is_state(words: tuple[str, ...], date: NamedDate) -> bool:
    """Whether something is said to hold from a date on: `as of`, `since`, `now`, `updated`; not `in`, `during`."""
    lead = words[date.start : date.end]
    if "as" in lead:
        return True
    is_from_then = "since" in lead or words[date.start - 1 : date.start] == ("updated",)
    return (is_from_then or not _PRESENT.isdisjoint(words)) and not _STATE.isdisjoint(words)


def _says_which(words: tuple[str, ...], at: int) -> bool:
    """Whether a number tells which one, or when, and not how many: `Lesson 3`, `Boeing 737`, `2024`."""
    if at == 0 or words[at - 1][:1].isupper() or words[at - 1].lower() in _NUMBERED:
        return True
    return _YEAR.fullmatch(words[at]) is not None


def _figure(word: str) -> str:
    """The number that a word is, with its unit's sign apart; empty when it is none."""
    if word.isalpha():
        return _NUMBER_WORDS.get(word.lower(), "")
    bare = word.strip(_SIGNS).replace(",", "")
    return bare if bare[:1].isdecimal() and bare[-1].isdecimal() else ""


def _around(number: str) -> str:
    """`#` with the signs around a number: `$#`, `#%`."""
    return number.replace(number.strip(_SIGNS), "#")


def _key(*words: str) -> str:
    return " ".join(words)
