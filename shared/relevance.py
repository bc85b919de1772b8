"""Which tools a text speaks of: BM25 over names, descriptions and parameters. Pure.

The ranking is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
equation 3.15, with k1 = 1.2 and b = 0.75. A tool is a document; a text's words count once each. Equal scores
are ordered by name, so that the same tools and the same text give the same answer everywhere.

The coordinator chooses by it what to offer, and the tool `find_tools` finds by it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import log
from typing import Any

from shared.tools import ToolDefinition

FIND_TOOLS = "find_tools"
"""The tool that finds others; offered when not all are."""
READ_RESULT = "read_result"
"""The tool that reads on in a result that was shown in part, by its handle; offered once there is one."""
RECALL = "recall"
"""The tool that fetches what a briefing left out, by a fact's or a call's id; offered once something is left out."""

_K1, _B = 1.2, 0.75
_TEXT_CHARACTERS = 8_000
_SCHEMA_DEPTH = 8
_REMEMBERED = 4_096
"""Descriptions whose words are kept: the same tools are ranked for every session."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]{2,}")
_SAY_LITTLE = frozenset((
    "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does",
    "for", "from", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "no",
    "not", "of", "on", "or", "our", "should", "so", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "up", "us", "was", "we", "were", "what", "when", "where",
    "which", "who", "whose", "why", "will", "with", "would", "you", "your",
))  # fmt: skip  # a text, not a column


def rank(definitions: Iterable[ToolDefinition], text: str, n: int) -> tuple[ToolDefinition, ...]:
    """The tools that `text` speaks of, at most `n`, the most fitting first; none that shares no word with it."""
    documents = [(tool, _words_of(tool)) for tool in definitions]
    wanted = set(words(text[:_TEXT_CHARACTERS]))
    if not documents or not wanted:
        return ()
    mean_length = sum(document.total() for _, document in documents) / len(documents)
    weights = _weights(wanted, [document for _, document in documents])
    scored = [(_score(document, weights, mean_length), tool) for tool, document in documents]
    best = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: (-pair[0], pair[1].name))
    return tuple(tool for _, tool in best[:n])


def words(text: str) -> tuple[str, ...]:
    """The words of a text as they are compared: lower case, names taken apart, plurals folded (crudely)."""
    apart = _HUMP.sub(" ", text).lower()
    return tuple(_singular(word) for word in _WORD.findall(apart) if word not in _SAY_LITTLE)


def found_tools(data: Any) -> tuple[str, ...] | None:
    """The names in what `find_tools` returned: `{"tools": [{"name": ...}, ...]}`; None when it is not that."""
    found = data.get("tools") if isinstance(data, Mapping) else None
    if not isinstance(found, list):
        return None
    names = [tool.get("name") if isinstance(tool, Mapping) else None for tool in found]
    return tuple(name for name in names if isinstance(name, str))


def _score(document: "Counter[str]", weights: Mapping[str, float], mean_length: float) -> float:
    norm = _K1 * (1 - _B + _B * document.total() / mean_length)
    return sum(
        weight * count * (_K1 + 1) / (count + norm)
        for word, weight in weights.items()
        if (count := document.get(word, 0))
    )


def _weights(wanted: Iterable[str], documents: list["Counter[str]"]) -> dict[str, float]:
    """What each word is worth: the rarer, the more. Sorted, because the sum of floats depends on its order."""
    weights = {}
    for word in sorted(wanted):
        held = sum(word in document for document in documents)
        weights[word] = log(1 + (len(documents) - held + 0.5) / (held + 0.5))
    return weights


def _words_of(tool: ToolDefinition) -> "Counter[str]":
    return _counted(" ".join((tool.name, tool.description, *_said_in(tool.input_schema, _SCHEMA_DEPTH))))


@lru_cache(_REMEMBERED)
def _counted(text: str) -> "Counter[str]":
    """Not to be changed by whoever gets it."""
    return Counter(words(text))


def _said_in(schema: Any, depth: int) -> Iterator[str]:
    """Names and descriptions of the properties, those of nested objects and list items too."""
    if not isinstance(schema, Mapping) or not depth:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        yield str(name)
        if isinstance(inner, Mapping):
            if isinstance(said := inner.get("description"), str):
                yield said
            yield from _said_in(inner, depth - 1)
    yield from _said_in(schema.get("items"), depth - 1)


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
