"""The words that a call searched for, from its arguments. Pure."""

import re
from functools import lru_cache

from antiphon_shared.values import JsonObject

_QUERY_CHARACTERS_MAX = 400
_KEYS_CACHED_MAX = 256
_SEARCH_KEYS = frozenset((
    "query", "queries", "q", "search", "searches", "search_query", "search_term", "search_terms", "search_text",
    "question", "questions", "text", "keyword", "keywords", "term", "terms", "phrase", "topic", "topics",
    "subject", "name", "names", "title", "titles", "prompt", "need", "needs", "about", "describe", "description",
    "find", "course", "entity", "entities", "person", "place", "what",
))  # fmt: skip  # a text, not a column
_SEARCH_ENDINGS = ("_query", "_name", "_title", "_question", "_text", "_topic", "_keywords", "_terms")
_APART = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-\s]+")
_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u30ff\u3400-\u9fff]")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,10}://\S*|www\.\S+|\S+@\S+\.\S+", re.IGNORECASE)
_CODE = re.compile(r"(?=\S*\d)[\w.:/#-]+|[a-z0-9]+(?:[_/.][\w./]+)+")
_WORDS = re.compile(r"\S+\s+\S+")


def search_query(arguments: JsonObject) -> str:
    """Return the words of search-like arguments, joined by `; `: no ids, dates, numbers, addresses, codes or flags.

    Without an argument named like a search, the only text argument counts if it has several words.
    """
    searched = [words for key, value in arguments.items() if _is_search(key[:60]) for words in _texts(value)]
    if not searched:
        texts = [value for value in arguments.values() if isinstance(value, str)]
        if len(texts) == 1 and _WORDS.search(texts[0][: 4 * _QUERY_CHARACTERS_MAX]):
            searched = _texts(texts[0])
    return "; ".join(dict.fromkeys(searched))[:_QUERY_CHARACTERS_MAX].rstrip()


@lru_cache(_KEYS_CACHED_MAX)
def _is_search(key: str) -> bool:
    """Return whether an argument's name is that of a search. Cached, as few names occur."""
    name = _APART.sub("_", key).lower()
    return name in _SEARCH_KEYS or name.endswith(_SEARCH_ENDINGS)


def _texts(value: object) -> list[str]:
    values = value[:20] if isinstance(value, list) else [value]
    lines = [" ".join(one[: 4 * _QUERY_CHARACTERS_MAX].split()) for one in values if isinstance(one, str)]
    return [line for line in lines if _says_something(line)]


def _says_something(line: str) -> bool:
    """Return whether a line has words, and is not a single address or code."""
    if not _LETTERS.search(line):
        return False
    return not (_ADDRESS.fullmatch(line) or _CODE.fullmatch(line))
