"""The few facts about English words that the rules need. Pure."""

from antiphon_shared.text.words import similarity, stem, words_as_written


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list written as text."""
    return frozenset(text.split())


def stem_set(text: str) -> frozenset[str]:
    """Return the stems of a list of words written as text."""
    return frozenset(map(stem, text.split()))


STOP_WORDS = word_set(
    """a about above after again all also am an and another any anyone anything are as at be been before being
    below best between both but by can could did do does during each either else every few first for from had
    has have he her here him his how i if in into is it its just last like many may me might more most much
    my next no nor not of off on one only or other our out over own per please same she should similar so
    some such than that the their them then there these they this those through to too under until up us very
    was we were what when where whether which while who whom whose why will with within without would yes yet
    you your"""
)

ALIKE_MIN = 0.6
"""The least likeness of two names that may name the same."""
_REQUEST_STEMS = stem_set(
    """answer ask begin compare concern contain cover deal describe detail discuss does exist explain explore feature
    find focus get give go got happen help hold include introduce involve know learn let list look made make mean
    mention name need present provide read recommend refer relate say search see show speak state study suggest talk
    teach tell touch treat try understand use want"""
)
"""Verbs that request something or say that a text has a subject; they carry no subject themselves."""


def singular(word: str) -> str:
    """Return a noun without its plural ending, as it may occur in a name: `boxes` is `box`, `glass` stays."""
    lower = word.lower()
    if len(lower) > 4 and lower.endswith("ies"):
        return word[:-3] + "y"
    if lower.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(lower) > 2 and lower.endswith("s") and not lower.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning, in order, as written."""
    return [word for word in words_as_written(text) if not is_filler(word)]


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning."""
    return frozenset(stem(word) for word in content_words(text))


def is_filler(word: str) -> bool:
    """Return whether a word says nothing about the subject of a question."""
    return word.lower() in STOP_WORDS or stem(word) in _REQUEST_STEMS


def likeness(full: str, name: str) -> float:
    """Return how well a name matches a full name, up to 1, when the full name has all its words."""
    full_words, name_words = ({word.lower() for word in content_words(text[:300])} for text in (full, name))
    return 1.0 if name_words and name_words <= full_words else similarity(full, name)
