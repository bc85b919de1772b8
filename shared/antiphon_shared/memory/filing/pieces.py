"""A JSON value as statements: whole if it is small, else split by its members. Pure."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic_core import to_json

from antiphon_shared.memory.filing.sentences import slices_at_words

DEPTH_MAX = 16
PATH_MAX = 300
"""Bound on a path, which every statement names; below a longer path, a value is not split."""
TEXT_KEYS = frozenset((
    "text", "content", "body", "passage", "snippet", "summary", "description", "abstract", "message",
    "answer", "extract", "page_content", "chunk", "paragraph", "transcript", "excerpt", "note", "comment",
))  # fmt: skip  # a text, not a column
"""Fields whose texts are prose."""
_KEYS_CACHED_MAX = 256
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class Statement(NamedTuple):
    """The content at a position of a result: a slice of text, or a value as compact JSON."""

    position: str
    text: str
    is_json: bool


class Part(NamedTuple):
    """A document to be filed, with its statements."""

    position: str
    title: str
    statements: tuple[Statement, ...]


def split_value(value: Any, path: str, longest: int, depth: int) -> Iterator[Statement]:
    """Yield the value as JSON, split by its members if it is long."""
    statement = as_json(path, value)
    is_bare = not isinstance(value, dict | list | str)
    if is_bare or len(statement.text) <= longest or depth > DEPTH_MAX or len(path) > PATH_MAX:
        yield statement
    elif isinstance(value, str):
        yield from text_statements(value, path, slices_at_words(value, 0, len(value), longest))
    elif isinstance(value, dict):
        held: dict[str, Any] = {}
        size = 1
        for key, inner in value.items():
            length = len(as_json("", inner).text) + len(key) + 4
            if length > longest:
                yield from split_value(inner, path + member(key), longest, depth + 1)
                continue
            if held and size + length > longest:
                yield as_json(path, held)
                held, size = {}, 1
            held[key] = inner
            size += length
        if held:
            yield as_json(path, held)
    else:
        yield from _pieces_of_list(value, path, longest, depth)


def _pieces_of_list(items: list[Any], path: str, longest: int, depth: int) -> Iterator[Statement]:
    first, size = 0, 1
    for number, inner in enumerate(items):
        length = len(as_json("", inner).text) + 1
        if first < number and size + length > longest:
            yield as_json(f"{path}[{first}:{number}]", items[first:number])
            first, size = number, 1
        size += length
        if length > longest:
            yield from split_value(inner, f"{path}[{number}]", longest, depth + 1)
            first, size = number + 1, 1
    if first < len(items):
        yield as_json(f"{path}[{first}:{len(items)}]", items[first:])


def text_statements(text: str, path: str, spans: Iterable[tuple[int, int]]) -> list[Statement]:
    """Return the spans of a text as statements, stripped and without empty ones."""
    statements = []
    for start, end in spans:
        if words := text[start:end].strip():
            first = text.index(words, start)
            statements.append(Statement(f"{path}[{first}:{first + len(words)}]", words, False))
    return statements


def as_json(position: str, value: object) -> Statement:
    """Return the value as a statement."""
    return Statement(position, to_json(value).decode(), True)


@lru_cache(_KEYS_CACHED_MAX)
def member(key: str) -> str:
    """Return the step of a path to the value of a key. Cached, as records repeat their keys."""
    return f".{key}" if _IDENTIFIER.fullmatch(key) else f"[{to_json(key).decode()}]"


def join_titles(*titles: str) -> str:
    """Return one title for titles from the outermost to the innermost."""
    return ": ".join(filter(None, titles))
