"""Claims: sentences without their numbers, their date and their negation, for comparison. Pure.

The rules are narrow on purpose: a pair wrongly called a contradiction misleads more than one that is missed.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from antiphon_shared.memory.filing.assertions import Assertion, assertion_of
from antiphon_shared.memory.filing.reading import LEANING, Reading, read_statement, without_capital
from antiphon_shared.memory.filing.sentences import sentences_in
from antiphon_shared.text.dates import Date, NamedDate, dates_in
from antiphon_shared.text.names import JOINING, is_bare_name
from antiphon_shared.text.numbers import CARDINALS, Amount, amounts_in

_REMEMBERED = 8_192
_CHARACTERS_MAX = 400
_WORDS_MIN = 3
_DENIAL_WORDS_MIN = 3
_SUBJECT_WORDS_MAX = 16
_NUMBERED = frozenset((
    "lesson", "chapter", "rule", "step", "section", "table", "figure", "page", "part", "volume", "version",
    "question", "item", "number", "no", "episode", "season", "room", "line", "level", "grade", "day", "week",
    "month", "year", "phase", "article", "unit", "module", "session", "round", "example", "test", "case",
    "appendix", "class", "group", "team", "zone", "act", "scene", "track", "exercise", "option", "point",
    "paragraph", "verse", "note", "type", "model", "gate", "platform", "building", "floor", "id", "issue",
    "ticket", "order", "invoice",
))  # fmt: skip  # a text, not a column
"""Words before a number that identifies rather than counts."""
_RELATIVE = frozenset((
    "today", "yesterday", "tomorrow", "tonight", "ago", "last", "next", "previous", "previously", "earlier",
    "later", "then", "another", "other", "more", "i", "me", "my", "we", "our", "us", "you", "your",
))  # fmt: skip  # a text, not a column
"""Words by which a sentence refers to its own moment, speaker or neighbours."""
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
_UNSURE = frozenset((
    "some", "most", "many", "several", "few", "if", "unless", "might", "could", "would", "maybe", "perhaps", "expect",
    "expects", "expected", "according", "says", "said", "claims", "claimed", "plan", "plans", "planned", "former",
    "formerly", "yet",
))  # fmt: skip  # a text, not a column
"""Words by which a sentence does not fully commit to its claim."""
_ROUGH = frozenset((
    "least", "about", "approximately", "approx", "around", "roughly", "nearly", "almost", "over", "under", "up", "less",
    "fewer", "than", "circa", "estimated",
))  # fmt: skip  # a text, not a column
"""Words that make a number inexact."""
_PRESENT = frozenset(("now", "currently"))
_NOT = frozenset(("not", "never", "no", "without", "cannot"))
_DO = ("do", "does", "did")
_CONTRACTED = {"can't": "can", "won't": "will"}
_NUMBER_WORDS = frozenset(CARDINALS) - {"one"}
_YEAR_IN = re.compile(r"(?:1[5-9]|20)\d\d")
_DIGIT = re.compile(r"\d")
_COUNT = re.compile(r"(?<!\d)(?!(?:1[5-9]|20)\d\d(?!\d))\d")
"""A digit that does not begin a year."""
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:[-/–]\d+)*")
_ITEM = re.compile(r"\d{1,4}[.)]\s")
_SPEAKER = re.compile(r"[^:]{1,40}[:：]\s")
_NOUNS_MAX = 4


class Claim(NamedTuple):
    """A sentence's words with `#` and the unit for each amount, and without its date."""

    template: str
    amounts: tuple[Amount, ...]
    date: Date | None
    is_lasting: bool
    """Whether it is a state from its date on, which a later date replaces, rather than a period or an event."""


class ComparedSentence(NamedTuple):
    """One sentence, in the forms in which it is compared."""

    text: str
    key: str
    claim: Claim | None
    denied: tuple[str, ...]
    assertion: Assertion | None


@lru_cache(_REMEMBERED)
def compared_sentences(text: str) -> tuple[ComparedSentence, ...]:
    """Return the sentences of a statement, which has several when a very short one is joined with its neighbour."""
    return tuple([_compared(sentence) for sentence in sentences_in(text)])


def _compared(text: str) -> ComparedSentence:
    reading = read_statement(text, False)
    assertion = assertion_of(text, reading.words, reading.folded)
    if assertion and not _is_comparable(text, reading.folded):
        assertion = None
    if assertion and isinstance(assertion.value, Amount) and not _ROUGH.isdisjoint(reading.folded):
        assertion = None
    return ComparedSentence(text, reading.key, claim_of(text, reading), denied_by(text, reading), assertion)


def claim_of(text: str, reading: Reading) -> Claim | None:
    """Return the claim of a sentence with numbers; None without numbers, or when it cannot be compared."""
    cased, words = reading.words, reading.folded
    has_count = _DIGIT.search(text) and _COUNT.search(text)
    if not has_count and _NUMBER_WORDS.isdisjoint(words):
        return None
    if not _ROUGH.isdisjoint(words) or not _is_comparable(text, words):
        return None
    dates = list(dates_in(words)) if _YEAR_IN.search(text) else []
    if len(dates) > 1 or (not dates and not _PRESENT.isdisjoint(words)):
        return None
    undated = cased[: dates[0].start] + cased[dates[0].end :] if dates else cased
    folded = words[: dates[0].start] + words[dates[0].end :] if dates else words
    amounts = [one for one in amounts_in(folded) if not _says_which(undated, one)]
    if not amounts or len(undated) < _WORDS_MIN:
        return None
    return Claim(
        template=_template(undated, amounts),
        amounts=tuple(amounts),
        date=dates[0].date if dates else None,
        is_lasting=bool(dates) and _is_state(words, dates[0]),
    )


def _template(words: tuple[str, ...], amounts: Iterable[Amount]) -> str:
    parts: list[str] = []
    at = 0
    for amount in amounts:
        before = words[at : amount.start]
        parts += [*(before[:-1] if before[-1:] == ("for",) else before), f"#{amount.unit}"]
        at = amount.end
    parts += words[at:]
    return " ".join([without_capital(parts[0]), *("a" if part == "per" else part for part in parts[1:])])


def denied_by(text: str, reading: Reading) -> tuple[str, ...]:
    """Return the keys of a sentence's opposite, in each form that its verb may have; empty without a negation."""
    cased, words = reading.words, reading.folded
    has_not = "n't" in text or "n’t" in text or not _NOT.isdisjoint(words)
    if not has_not or not _is_comparable(text, words) or not _PRESENT.isdisjoint(words):
        return ()
    denials = [at for at, word in enumerate(words) if word in _NOT or word.endswith("n't")]
    if len(denials) != 1 or len(words) < _DENIAL_WORDS_MIN:
        return ()
    at = denials[0]
    before, negation, behind = cased[:at], words[at], cased[at + 1 :]
    if negation == "without":
        return (_key(*before, "with", *behind),)
    if negation == "cannot":
        return (_key(*before, "can", *behind),)
    if negation.endswith("n't"):
        before = (*before, _CONTRACTED.get(negation, negation[:-3]))
    if negation == "no" and before:
        return tuple(_key(*before, *article, *behind) for article in ((), ("a",), ("an",), ("any",)))
    if before[-1:] and before[-1] in _DO and behind:
        verb = behind[0]
        return tuple(
            _key(*before[:-1], form, *behind[1:])
            for form in (verb, f"{verb}s", f"{verb}es", f"{verb}ed", f"{verb[:-1]}ies", f"{verb}d")
        )
    return (_key(*before, *behind),)


@lru_cache(_REMEMBERED)
def subject_of(text: str) -> str:
    """Return the name at the start of a sentence, after a date and nouns; empty if it is uncertain.

    The capital of the first word proves nothing: `Revenue was` has no name, `The Aker is`, `Ada Holm is` and
    `A ticket for the Aker costs` do. `Revenue in Europe` has another owner, `The tax rate in Estovia` has
    not.
    """
    raw = text.replace(",", " ").split()[:_SUBJECT_WORDS_MAX]
    folded = tuple([word.lower() for word in raw])
    date = next(iter(dates_in(folded)), None)
    start = date.end if date is not None and date.start == 0 else 0
    is_first = start == 0
    has_article = folded[start : start + 1] in (("the",), ("a",), ("an",))
    start += has_article
    is_first = is_first and not has_article
    end = next((at for at in range(start, len(raw)) if folded[at] in _VERBS), len(raw))
    first = next((at for at in range(start + is_first, end) if raw[at][0].isupper()), end)
    bare = raw[start].removesuffix("'s").removesuffix("’s") if start < end else ""
    if is_first and is_bare_name(bare) and not (start + 1 < end and raw[start + 1][0].isupper()):
        return bare
    if first == start + 1 and is_first and raw[start][0].isupper():
        first = start
    last = first
    while last < end and raw[last].isalnum() and (raw[last][0].isupper() or raw[last] in JOINING):
        last += 1
    if first == last or LEANING.intersection(folded[start:first]):
        return ""
    if first > start + _NOUNS_MAX or ("in" in folded[start:first] and not has_article):
        return ""
    return " ".join(raw[first:last])


def _is_comparable(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a sentence's claim is independent of its moment, its speaker and its neighbours."""
    if len(text) > _CHARACTERS_MAX or not (_RELATIVE.isdisjoint(words) and _UNSURE.isdisjoint(words)):
        return False
    if "?" in text or ";" in text or (text[0].isdecimal() and _ITEM.match(text)):
        return False
    return not ((":" in text or "：" in text) and _SPEAKER.match(text))


def _is_state(words: tuple[str, ...], date: NamedDate) -> bool:
    """Return whether a state holds from a date on: `as of`, `since`, `now`, `updated`; not `in`, `during`."""
    lead = words[date.start : date.end]
    if "as" in lead:
        return True
    is_from_then = "since" in lead or words[date.start - 1 : date.start] == ("updated",)
    return (is_from_then or not _PRESENT.isdisjoint(words)) and not _STATE.isdisjoint(words)


def _says_which(words: tuple[str, ...], amount: Amount) -> bool:
    """Return whether a number identifies or dates rather than counts: `Lesson 3`, `Boeing 737`, `2024`; also `one`."""
    at = amount.start
    if amount.is_word and amount.low == 1 and not amount.unit:
        return True
    if at == 0 and (amount.end == len(words) or not words[amount.end].islower()):
        return True
    before = words[at - 1] if at else ""
    if not amount.unit and (at == 1 or before[:1].isupper() or before.lower() in _NUMBERED):
        return True
    return amount.end == at + 1 and _YEAR.fullmatch(words[at]) is not None


def _key(*words: str) -> str:
    return " ".join(words)
