"""Which tools a text speaks of: BM25 over names, descriptions and parameters. Pure.

The ranking is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
equation 3.15 (text/word_index.py). A tool is a document; a text's words count once each. Equal scores
are ordered by name, so that the same tools and the same text give the same answer everywhere.

The coordinator chooses by it what to offer, and the tool `find_tools` finds by it.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from antiphon_shared.text.word_index import WordIndex
from antiphon_shared.text.words import words
from antiphon_shared.tools.calls import REPEAT_CALL, ToolDefinition

FIND_TOOLS = "find_tools"
"""The tool that finds others; offered when not all are."""
READ_RESULT = "read_result"
"""The tool that reads on in a result that was shown in part, by its handle; offered once there is one."""
RECALL = "recall"
"""The tool that fetches what a briefing left out, by a fact's or a call's id; offered once something is left out."""
ASK_USER = "ask_user"
"""The tool that asks the user back; offered where the session has a user who answers."""

BUILT_INS = (ASK_USER, FIND_TOOLS, READ_RESULT, RECALL, REPEAT_CALL)
"""Tools of the dispatchers' own: in the catalogue like others, but offered when there is a use for them."""

_TEXT_CHARACTERS = 8_000
_SCHEMA_DEPTH = 8
_REMEMBERED = 64
"""Sets of tools whose index is kept: the same tools are ranked for every session."""


def rank(definitions: Iterable[ToolDefinition], text: str, n: int) -> tuple[ToolDefinition, ...]:
    """The tools that `text` speaks of, at most `n`, the most fitting first; none that shares no word with it."""
    tools = list(definitions)
    index = _index_of(tuple(map(_text_of, tools)))
    scores = [0.0] * len(tools)
    for word in sorted(set(words(text[:_TEXT_CHARACTERS]))):  # the sum of floats depends on their order
        for place, score in index.scores_of(word):
            scores[place] += score
    scored = zip(scores, tools, strict=True)
    best = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: (-pair[0], pair[1].name))
    return tuple(tool for _, tool in best[:n])


def found_tools(data: Any) -> tuple[str, ...] | None:
    """The names in what `find_tools` returned: `{"tools": [{"name": ...}, ...]}`; None when it is not that."""
    found = data.get("tools") if isinstance(data, Mapping) else None
    if not isinstance(found, list):
        return None
    names = [tool.get("name") if isinstance(tool, Mapping) else None for tool in found]
    return tuple(name for name in names if isinstance(name, str))


def _text_of(tool: ToolDefinition) -> str:
    return " ".join((tool.name, tool.description, *_said_in(tool.input_schema, _SCHEMA_DEPTH)))


@lru_cache(_REMEMBERED)
def _index_of(texts: tuple[str, ...]) -> WordIndex:
    """Not to be changed by whoever gets it."""
    index = WordIndex()
    for text in texts:
        index.add(words(text))
    return index


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
