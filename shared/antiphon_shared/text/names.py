"""Rules for which words are names in English. Pure.

A capital within a sentence makes a name. The first word always has one: it is a name where no other word can
be without an article, unlike a plural or an uncountable noun (`revenue`, `parking`).
"""

from collections.abc import Sequence

_NAME_WORDS_MAX = 6
JOINING = frozenset(
    ("of", "and", "&", "de", "la", "von", "van", "der", "da", "di", "du", "del", "al", "ibn", "the")
)
"""Words within a name."""
_AND = frozenset(("and", "&", "the"))
_CLASSES = frozenset((
    "lake", "mount", "river", "room", "port", "dr", "mr", "mrs", "ms", "sir", "prof", "professor", "king", "queen",
    "saint", "st", "city", "village", "town", "street", "university", "company", "inc", "ltd", "corp",
))  # fmt: skip  # a text, not a column
"""Words of a name for the kind of thing, which two names of that kind share."""
_UNCOUNTED_ENDINGS = (
    "ing", "tion", "sion", "ment", "ity", "ness", "ance", "ence", "ship", "age", "ism", "ure", "th", "hood", "ware",
    "one", "body", "thing",
)  # fmt: skip  # a text, not a column
_UNCOUNTED = frozenset((
    "revenue", "income", "profit", "turnover", "entry", "access", "lunch", "dinner", "breakfast", "supper", "staff",
    "delivery", "water", "air", "time", "work", "support", "rent", "traffic", "demand", "supply", "output", "weather",
    "speed", "memory", "storage", "data", "power", "energy", "gas", "oil", "electricity", "food", "beer", "wine",
    "coffee", "tea", "bread", "rice", "sugar", "salt", "milk", "gold", "silver", "steel", "paper", "money", "cash",
    "debt", "interest", "tax", "aid", "help", "care", "advice", "news", "research", "snow", "rain", "ice", "wind",
    "war", "life", "law", "art", "music", "history", "sport", "football", "today", "tomorrow", "yesterday", "tonight",
    "now", "each", "every", "any", "some", "all", "most", "many", "few", "none", "no", "other", "another", "both",
    "either", "neither", "which", "what", "who", "whoever", "this", "that", "these", "those", "there", "here", "it",
    "he", "she", "they", "we", "i", "you", "his", "her", "its", "their", "our", "your", "my", "one", "two", "three",
    "four", "five", "cost", "price", "size", "people", "men", "women", "children", "police", "space", "land", "stock",
    "equity", "total", "population", "inflation", "attendance", "wifi", "internet", "postage", "start", "end", "when",
    "where", "as", "if", "a", "an", "the", "in", "on", "at", "for", "to", "from", "by", "with", "after", "before",
    "since", "until", "only", "about", "over", "under", "up", "not", "never", "but", "and", "or", "so", "then",
    "also", "more", "less",
))  # fmt: skip  # a text, not a column


def name_in(words: Sequence[str]) -> frozenset[str]:
    """Return the words of the one name that all of the words make, in lower case; empty if they make none."""
    if not 0 < len(words) <= _NAME_WORDS_MAX or not words[0][:1].isupper() or words[-1] in JOINING:
        return frozenset()
    if not all(
        word[:1].isupper() or word.isdecimal() or (word in JOINING and word not in _AND) for word in words
    ):
        return frozenset()
    own = frozenset(word.lower().rstrip(".") for word in words if word not in JOINING)
    return own - _CLASSES or own


def has_name(words: Sequence[str]) -> bool:
    """Return whether a name is among words from `reading.read`, without the capital of a sentence's first word."""
    return any(word[:1].isupper() for word in words)


def is_bare_name(word: str) -> bool:
    """Return whether a sentence's first word, with its capital and without an article, is a name."""
    folded = word.lower()
    if (
        not word[:1].isupper()
        or not word.isalpha()
        or folded in _UNCOUNTED
        or folded.endswith(_UNCOUNTED_ENDINGS)
    ):
        return False
    return not folded.endswith("s") or folded.endswith(("us", "ss", "is"))
