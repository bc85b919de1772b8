"""The few facts about English words that the rules need. Pure."""

import re
from difflib import SequenceMatcher


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list written as text."""
    return frozenset(text.split())


STOP_WORDS = word_set(
    """a about above after again all also am an and another any anyone anything are as at be been before being
    below best between both but by can could did do does during each either else every few first for from had
    has have he her here him his how i if in into is it its just last like many may me might more most much
    my next no nor not of off on one only or other our out over own per please same she should similar so
    some such than that the their them then there these they this those through to too under until up us very
    was we were what when where whether which while who whom whose why will with within without would yes yet
    you your"""
)

CONNECTORS = word_set("a an and at by for from in into of on or the to with without your & : -")
"""Small words that occur inside titles."""

CLAUSE_WORDS = word_set(
    """about also and are be can could did do does had has have if is please should so that was were what when
    where which who whose why will would"""
)
"""Small words that end a name written without capitals."""

_REQUEST_WORDS = word_set(
    """answer ask begin compare concern contain cover deal describe detail discuss does exist explain explore
    feature find focus get give go got happen help hold include introduce involve know learn let list look made make
    mean mention
    name need present provide read recommend refer relate say search see show speak state study suggest talk
    teach tell touch treat try understand use want"""
)

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def stem(word: str) -> str:
    """Return a word without its English inflection, so that `queries` equals `query`, and `caching` equals `caches`."""
    word = word.lower().replace("’", "'").removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in ("ing", "ed"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            if word[-1] == word[-2] and word[-1] not in "sl":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def singular(word: str) -> str:
    """Return a noun without its plural ending, as it may occur in a name: `boxes` is `box`, `glass` stays."""
    lower = word.lower()
    if len(lower) > 4 and lower.endswith("ies"):
        return word[:-3] + "y"
    if len(lower) > 4 and lower.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(lower) > 2 and lower.endswith("s") and not lower.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


REQUEST_STEMS = frozenset(stem(word) for word in _REQUEST_WORDS)
"""Verbs that request something or say that a text has a subject; they carry no subject themselves."""


def words(text: str) -> list[str]:
    """Return the words of a text, in order, as written."""
    return _WORD.findall(text)


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning, in order, as written."""
    return [word for word in words(text) if not is_filler(word)]


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(stem(word) for word in content_words(text))


def is_filler(word: str) -> bool:
    """Return whether a word says nothing about the subject of a question."""
    return word.lower() in STOP_WORDS or stem(word) in REQUEST_STEMS


def identifier_stems(name: str) -> tuple[str, ...]:
    """Return `roomNumber` and `room_number` as stems: room, number."""
    return tuple(stem(word) for word in words(_CAMEL.sub(" ", name).replace("_", " ")))


def similarity(first: str, second: str) -> float:
    """Return the likeness of two names, from 0 to 1, ignoring case and punctuation."""
    left, right = (" ".join(word.lower() for word in words(text[:300])) for text in (first, second))
    return SequenceMatcher(None, left, right).ratio() if left and right else 0.0


def likeness(full: str, name: str) -> float:
    """Return how well a name matches a full one: 1 when the full one has all its words."""
    whole, part = ({word.lower() for word in content_words(text[:300])} for text in (full, name))
    return 1.0 if part and part <= whole else similarity(full, name)
