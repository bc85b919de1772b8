"""The relevance of tools to a text: by their words, and by similarity of meaning. Pure.

The words are ranked by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond", 2009, equation 3.15; text/word_index.py), over names, descriptions, parameters, the values that these
take, and examples. The meaning is the cosine of word vectors (text/word_vectors.py): with the whole tool, and
with the one part of it that is closest. Equal scores are ordered by name, so that the same tools and texts
give the same order everywhere.

The coordinator uses it to choose the tools to offer, and `find_tools` to find tools. `python -m
benchmarks.routing` measures it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nlargest

from antiphon_shared.text.word_index import WordIndex
from antiphon_shared.text.word_vectors import Vector, closeness, sum_of_words, summed, text_vector, unit
from antiphon_shared.text.words import words
from antiphon_shared.tools.calls import REPEAT_CALL, ToolDefinition

FIND_TOOLS = "find_tools"
"""The tool that finds others; offered when not all are."""
READ_RESULT = "read_result"
"""The tool that reads more of a result shown in part, by its handle; offered once there is one."""
RECALL = "recall"
"""The tool that fetches omitted parts of a briefing, by a fact's or a call's id; offered once something is omitted."""
ASK_USER = "ask_user"
"""The tool that asks the user; offered if the session has a user who answers."""
PLAN = "_plan"
"""The tool that finds a workflow or recipe for a goal, or proposes one; offered if there are some."""

BUILT_INS = (ASK_USER, FIND_TOOLS, PLAN, READ_RESULT, RECALL, REPEAT_CALL)
"""The dispatchers' own tools: in the catalogue like others, but offered only when they are of use."""

_TEXT_CHARACTERS = 8_000
_SCHEMA_DEPTH = 8
_PARTS_MAX = 12
_REMEMBERED = 64
"""The number of tool sets whose index is cached: the same tools are ranked for every session."""
_PER_WORD, _PER_PART = 0.02, 0.3
"""The weights of BM25 and of the closest part, where the cosine with the whole tool has weight 1."""
_PARAMETERS_COUNT = (10, 2)
"""The weights of name and description, and of the parameters, in the vector of the whole tool."""
_COMMON = 2
"""A common meaning distinguishes no tool: half of all tools' mean vector is subtracted."""
_CLOSE = 0.4
"""The cosine from which on a tool fits a text without sharing a word with it."""
_COPY, _ALIKE = 0.8, 0.5
"""The cosine from which on a tool counts as a near copy of one chosen before, and its penalty per unit beyond that."""
_CANDIDATES = 2
_LOOKED_INTO = 48
"""The number of tools whose parts are compared one by one: the tools ranked first by the whole."""


def rank(definitions: Iterable[ToolDefinition], text: str, n: int) -> tuple[ToolDefinition, ...]:
    """Return at most `n` tools that fit `text`, the best first: they share a word with it, or are close in meaning."""
    tools = list(definitions)
    scores = scores_of(map(_parts_of, tools), text)
    fitting = [index for index, score in enumerate(scores) if score.is_fitting]
    best = sorted(fitting, key=lambda index: (-scores[index].total, tools[index].name))
    return tuple(tools[index] for index in best[:n])


def scores_of(described: Iterable[tuple[str, ...]], text: str) -> list["Score"]:
    """Return how well items fit a text, each given as its name, its description and further texts."""
    return _index_of(tuple(described)).scores(text)


def most_relevant(
    definitions: Iterable[ToolDefinition], texts: Sequence[str], n: int
) -> tuple[ToolDefinition, ...]:
    """Return all tools, the tool that fits any of the texts best first; near copies are moved back among the first `n`.

    Each next one of these is the tool with the best score after the penalty for being a copy of one before
    it. So a variant ranks behind tools that fit equally well, and a tool that only shares its field with
    others does not.
    """
    tools = list(definitions)
    index = _index_of(tuple(map(_parts_of, tools)))
    scored = [[score.total for score in index.scores(text)] for text in texts]
    totals = [max(scores) for scores in zip(*scored, strict=True)] if tools else []
    order = sorted(range(len(tools)), key=lambda at: (-totals[at], tools[at].name))
    candidates, chosen = order[: n * _CANDIDATES], list[int]()
    alike = dict.fromkeys(candidates, 0.0)
    while candidates and len(chosen) < n:
        best = max(candidates, key=lambda at: totals[at] - _ALIKE * alike[at])  # the first of equals
        candidates.remove(best)
        chosen.append(best)
        for at in candidates:
            alike[at] = max(alike[at], closeness(index.wholes[at], index.wholes[best]) - _COPY)
    rest = set(order).difference(chosen)
    return tuple(tools[at] for at in (*chosen, *(at for at in order if at in rest)))


def tool_names_in(data: object) -> tuple[str, ...] | None:
    """Return the names in the result of `find_tools`, `{"tools": [{"name": ...}, ...]}`; None for another form."""
    listed = data.get("tools") if isinstance(data, Mapping) else None
    if not isinstance(listed, list):
        return None
    names = [tool.get("name") if isinstance(tool, Mapping) else None for tool in listed]
    return tuple(name for name in names if isinstance(name, str))


@dataclass(frozen=True, slots=True)
class Score:
    """The scores of one tool for a text."""

    words: float
    meaning: float
    """The cosine with the whole tool, without what all tools have in common."""
    total: float

    @property
    def is_fitting(self) -> bool:
        """Return whether the tool fits the text: by a word, or clearly by meaning."""
        return self.words > 0 or self.meaning >= _CLOSE


class _Index:
    """The index of a set of tools, by their words and by their meaning."""

    def __init__(self, tools: Sequence[tuple[str, ...]]) -> None:
        self._words = WordIndex()
        for parts in tools:
            self._words.add(words(" ".join(parts)))
        self._parts = [
            tuple(text_vector(part) for part in (parts[0], *parts[2:][:_PARTS_MAX])) for parts in tools
        ]
        self.wholes = [_joined(parts) for parts in tools]
        common, weight = summed([(vector, 1) for vector in self.wholes]), _COMMON * len(tools)
        self._telling = [unit(summed([(vector, weight), (common, -1)])) for vector in self.wholes]

    def scores(self, text: str) -> list[Score]:
        """Return how well each tool fits the text."""
        text = text[:_TEXT_CHARACTERS]
        by_words = [0.0] * len(self.wholes)
        for word in sorted(set(words(text))):  # the sum of floats depends on their order
            for index, score in self._words.scores_of(word):
                by_words[index] += score
        vector = text_vector(text)
        meanings = [closeness(telling, vector) for telling in self._telling]
        totals = [meaning + _PER_WORD * worded for meaning, worded in zip(meanings, by_words, strict=True)]
        for index in nlargest(_LOOKED_INTO, range(len(totals)), key=totals.__getitem__):
            closest = max(closeness(part, vector) for part in self._parts[index])
            totals[index] += _PER_PART * max(0.0, closest)
        return [
            Score(worded, meaning, round(total, 9))
            for worded, meaning, total in zip(by_words, meanings, totals, strict=True)
        ]


def _joined(parts: tuple[str, ...]) -> Vector:
    name_weight, other_weight = _PARAMETERS_COUNT
    name_and_description = [(sum_of_words(part), name_weight) for part in parts[:2]]
    return unit(summed([*name_and_description, *((sum_of_words(part), other_weight) for part in parts[2:])]))


@lru_cache(_REMEMBERED)
def _index_of(tools: tuple[tuple[str, ...], ...]) -> _Index:
    """Return a cached index, which callers must not change."""
    return _Index(tools)


def _parts_of(tool: ToolDefinition) -> tuple[str, ...]:
    """Return the name, the description, and the texts of each parameter and example."""
    return (tool.name, tool.description, *_texts_in(tool.input_schema, _SCHEMA_DEPTH))


def _texts_in(schema: object, depth: int) -> Iterator[str]:
    """Yield the texts of each property, those of nested objects and list items too: name, description, values."""
    if not isinstance(schema, Mapping) or not depth:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        texts = [str(name)]
        if isinstance(inner, Mapping):
            texts += [description] if isinstance(description := inner.get("description"), str) else []
            texts += _values(inner.get("enum")) + _values(inner.get("examples"))
        yield " ".join(texts)
        yield from _texts_in(inner, depth - 1)
    if depth == _SCHEMA_DEPTH and (examples := _values(schema.get("examples"))):
        yield " ".join(examples)
    yield from _texts_in(schema.get("items"), depth - 1)


def _values(listing: object) -> list[str]:
    """Return the texts in a list of values, and those in its objects."""
    listed = listing if isinstance(listing, list) else []
    entries = [value for one in listed for value in (one.values() if isinstance(one, Mapping) else (one,))]
    return [value for value in entries if isinstance(value, str)]
