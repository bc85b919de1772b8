"""Assertions: the attribute of a subject that a plain sentence states, for comparison with others. Pure.

    The CEO of Corvane is Petr Halloran    corvane, ceo        a role and its holder; `NAME is the CEO of` too
    The Salt Road was written by Simon     salt road, author   a participle of `HELD_BY` and a name
    The line opened in June 2011           line, opened        a word of `DATED` and a date
    The Lenna Tunnel is 14 km long         lenna tunnel, length
    Nordvik employs 1,300 people           nordvik, employees  a verb of `COUNTED`, a number, its noun
    The museum is not open                 museum, status      a state that has an opposite

A sentence of any other form has no assertion: it cannot be compared without understanding it.
"""

from collections.abc import Sequence
from typing import NamedTuple

from antiphon_shared.memory.filing.attributes import (
    COUNTED,
    DATED,
    HELD_BY,
    MEASURED,
    NO_SINGLE_ROLE,
    OPPOSITES,
    PAST,
    ROLES,
    TIMELESS,
    canonical,
)
from antiphon_shared.memory.filing.values import State, Value, is_state
from antiphon_shared.text.dates import Date, dates_in
from antiphon_shared.text.names import has_name, is_bare_name, name_in
from antiphon_shared.text.numbers import CARDINALS, amounts_in
from antiphon_shared.text.units import CURRENCIES

_BE = frozenset(("is", "are", "was", "were", "isn't", "aren't", "wasn't", "weren't"))
_DATED_VERBS = frozenset(("born", "died", "opened", "launched", "closed", "began", "started", "ended"))
_VERBS = _BE | _DATED_VERBS | COUNTED.keys()
_WORDS_MAX = 30
_VALUE_WORDS_MAX = 9
_SUBJECT_WORDS_MAX = 8
_STATE_WORDS_MAX = 4
_STRESS = frozenset(("permanently", "completely", "fully", "officially", "entirely", "always"))
_PRONOUNS = frozenset(("it", "he", "she"))
_BEFORE_A_CLAUSE = frozenset((
    "in", "on", "as", "since", "by", "until", "from", "during", "at", "after", "before", "when", "while", "with", "for",
))  # fmt: skip  # a text, not a column
_BEFORE_A_DATE = frozenset((
    "on", "for", "place", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
))  # fmt: skip  # a text, not a column
_AFTER_A_DATE = frozenset(("by", "in", "at", "as", "with", "after", "near", "to", "is", "was"))
_PLACED = frozenset(("in", "on", "at", "to", "for"))
_PEOPLE = frozenset(("people", "staff", "workers", "employees", "spectators"))


class Assertion(NamedTuple):
    """One attribute of one subject, and its value."""

    subject: str
    """The subject in lower case; empty for the document's own."""
    is_named: bool
    """Whether the subject is a name, which means the same in every document."""
    attribute: str
    value: Value
    date: Date | None
    """The date for which it holds, if the sentence names one."""
    is_past: bool


class _Predicate(NamedTuple):
    """The words after a verb: the attribute, empty if the subject names it, and the value."""

    attribute: str
    value: Value
    location_words: int = 0
    """The number of words at the end that name where a state holds; they are part of the attribute."""


class _Subject(NamedTuple):
    words: str
    is_named: bool
    attribute: str
    """The attribute that the subject names; empty if it names no attribute."""


def assertion_of(text: str, words: Sequence[str], folded: Sequence[str]) -> Assertion | None:
    """Return the assertion of a sentence, given its words from `reading.read`."""
    if len(folded) > _WORDS_MAX:
        return None
    at = _verb_in(folded)
    if not at or at + 1 == len(folded):
        return None
    if (assertion := _plain(words, folded, at)) is None:
        assertion = _dated_plain(words, folded, at)
    if assertion and not assertion.is_named and _leads_with_name(text, assertion.subject):
        return assertion._replace(is_named=True)
    return assertion


def _verb_in(folded: Sequence[str]) -> int:
    """Return the index of the first verb of an attribute; 0 without a verb near the beginning."""
    for at, word in enumerate(folded):
        if word in _VERBS:
            return at
        if at == _SUBJECT_WORDS_MAX:
            break
    return 0


def _dated_plain(words: Sequence[str], folded: Sequence[str], at: int) -> Assertion | None:
    """Return the assertion of a sentence that begins or ends in its date."""
    if not folded[-1][:1].isdecimal() and folded[0] not in _BEFORE_A_CLAUSE:
        return None
    dates = list(dates_in(folded))
    if len(dates) != 1:
        return None
    start, end, date = dates[0]
    if start == 0 and end < at:
        assertion = _plain(words[end:], folded[end:], at - end)
    elif end == len(folded) and start > at + 1:
        assertion = _plain(words[:start], folded[:start], at)
    else:
        return None
    return assertion and assertion._replace(date=date)


def _plain(words: Sequence[str], folded: Sequence[str], at: int) -> Assertion | None:
    """Return the assertion of a sentence with its verb at `at`, when only the value follows the verb."""
    verb, rest = folded[at], folded[at + 1 :]
    if len(rest) > _VALUE_WORDS_MAX and rest[0] not in DATED and verb not in _DATED_VERBS:
        return None
    if verb in _BE:
        if rest[0] in ROLES and rest[1:2] in (["of"], ("of",)):
            return _of_holder(words, folded, at)
        predicate = _of_being(words[at + 1 :], rest, verb.endswith("n't"))
    elif verb in _DATED_VERBS:
        predicate = _dated(DATED.get(verb, verb), rest)
    elif rest[0] == "place":
        predicate = _dated("held", rest)
    else:
        predicate = _counted(COUNTED[verb], rest)
    subject = predicate and _subject(words[:at], folded[:at], has_attribute=not predicate.attribute)
    if predicate is None or subject is None:
        return None
    attribute = predicate.attribute or subject.attribute
    if predicate.location_words and has_name(words[-predicate.location_words :]):
        subject = subject._replace(is_named=bool(subject.words))
    if not attribute and not subject.is_named:
        subject, attribute = _Subject("", False, ""), canonical(subject.words)
    if not attribute:
        return None
    is_past = verb in PAST and attribute not in TIMELESS
    return Assertion(subject.words, subject.is_named, attribute, predicate.value, None, is_past)


def _leads_with_name(text: str, subject: str) -> bool:
    """Return whether a sentence begins with its subject, and that is one word and a name."""
    return text[: len(subject)].lower() == subject and is_bare_name(text[: len(subject)])


def _of_holder(words: Sequence[str], folded: Sequence[str], at: int) -> Assertion | None:
    """Return the assertion of `Mara Lindqvist is the CEO of Corvane`, whose subject is Corvane."""
    holder = name_in([words[0].capitalize(), *words[1:at]])
    owner = words[at + 3 :]
    if not holder or not name_in(owner):
        return None
    attribute = canonical(folded[at + 1])
    is_past = folded[at] in PAST and attribute not in TIMELESS
    return Assertion(" ".join(folded[at + 3 :]), True, attribute, holder, None, is_past)


def _of_being(words: Sequence[str], rest: Sequence[str], is_denied: bool) -> _Predicate | None:
    """Return the attribute and value after a form of `be`."""
    if rest[0] == "not" and len(rest) > 1:
        words, rest, is_denied = words[1:], rest[1:], True
    if len(rest) <= _STATE_WORDS_MAX:
        state = " ".join(rest[1:] if rest[0] in _STRESS else rest)
        if is_state(state):
            return _Predicate("status", State(state, is_denied))
    if len(rest) > 2 and rest[0] in OPPOSITES and rest[1] in _PLACED:
        return _Predicate(f"status {' '.join(rest[1:])}", State(rest[0], is_denied), len(rest) - 1)
    if is_denied:
        return None
    if rest[0] in DATED and (predicate := _dated(DATED[rest[0]], rest[1:])):
        return predicate
    if len(rest) > 2 and (holder := HELD_BY.get((rest[0], rest[1]))):
        name = name_in(words[2:])
        return _Predicate(holder, name) if name else None
    if name := name_in(words[int(rest[0] == "in") :]):
        return _Predicate("", name)
    if _may_count(rest[0]):
        return _measured(rest) or _dated("", rest)
    return _dated("", rest) if rest[-1].isdecimal() else None


def _measured(rest: Sequence[str]) -> _Predicate | None:
    """Return the number, or the measure, that all of the words are: `15 km long`, `388 pages long`."""
    amount = next(iter(amounts_in(rest)), None)
    if amount is None or amount.start != 0:
        return None
    tail = rest[amount.end :]
    if not tail:
        return _Predicate("", amount)
    if len(tail) == 1 and tail[0] in MEASURED:
        return _Predicate(MEASURED[tail[0]], amount) if amount.unit else None
    return _Predicate(tail[0], amount) if len(tail) == 2 and tail[1] == "long" else None


def _may_count(word: str) -> bool:
    """Return whether a number may begin with a word."""
    return not word.isalpha() or word in CARDINALS or word in CURRENCIES


def _dated(attribute: str, rest: Sequence[str]) -> _Predicate | None:
    date = next(dates_in(rest), None)
    if date is None or not all(word in _BEFORE_A_DATE for word in rest[: date.start]):
        return None
    if date.end < len(rest) and rest[date.end] not in _AFTER_A_DATE:
        return None
    return _Predicate(attribute, date.date)


def _counted(attribute: str, rest: Sequence[str]) -> _Predicate | None:
    """Return the number after a verb; the verb, or the noun after the number, names what is counted."""
    if rest[0] in ("a", "an") and "of" in rest[2:4]:  # has a height of
        at = rest.index("of")
        attribute, rest = canonical("_".join(rest[1:at])), rest[at + 1 :]
        if not rest:
            return None
    start = int(rest[0] == "for")
    if start == len(rest) or not _may_count(rest[start]):
        return None
    amount = next(iter(amounts_in(rest[: start + 8])), None)
    if amount is None or amount.start != start:
        return None
    tail = rest[amount.end :]
    if attribute:
        return _Predicate(attribute, amount) if not tail or (len(tail) == 1 and tail[0] in _PEOPLE) else None
    return _Predicate(canonical(tail[0]), amount) if len(tail) == 1 and tail[0].isalpha() else None


def _subject(words: Sequence[str], folded: Sequence[str], has_attribute: bool) -> _Subject | None:
    """Return the words before a verb as a subject and its attribute; None without a single subject.

    When the words after the verb name the attribute, all of the words are the subject.
    """
    if folded[0] in _BEFORE_A_CLAUSE or not NO_SINGLE_ROLE.isdisjoint(folded):
        return None
    if len(folded) == 1 and folded[0] in _PRONOUNS:
        return _Subject("", False, "")
    if has_attribute and (subject := _attribute_of(words, folded)):
        return subject
    if has_attribute and folded[0].endswith("est") and "in" in folded:
        return _Subject(" ".join(folded), True, "which")
    return _Subject(" ".join(folded), has_name(words) and "in" not in folded, "")


def _attribute_of(words: Sequence[str], folded: Sequence[str]) -> _Subject | None:
    """Return the attribute that the words name, and its owner: `the CEO of Corvane`, `Corvane's CEO`, `the CEO`."""
    for at, word in enumerate(folded[:-1]):
        if word.endswith("'s"):
            owner = " ".join((*folded[:at], word[:-2]))
            return _Subject(owner, has_name(words[: at + 1]), canonical("_".join(folded[at + 1 :])))
        if word in ("of", "for") and name_in(words[at + 1 :]) and not has_name(words[:at]):
            return _Subject(" ".join(folded[at + 1 :]), True, canonical("_".join(folded[:at])))
    if folded[-1] in ROLES and not has_name(words[:-1]):
        return _Subject("", False, canonical("_".join(folded)))
    return None
