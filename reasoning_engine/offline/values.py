"""The values of a briefing, searchable by name: from the results of tools, and from the step's input. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.text.numbers import CARDINALS, plain_number
from antiphon_shared.text.words import stem, stems_of_name, words_as_written

from reasoning_engine.offline.briefing_text import Notes
from reasoning_engine.offline.descriptors import is_described, schema_of
from reasoning_engine.offline.language import singular, stem_set, stems
from reasoning_engine.offline.question import Question

_DEPTH_MAX = 8
_NODES_MAX = 2_000
_TEXT_CHARACTERS_MAX = 20_000
_SAME = tuple(
    stem_set(group)
    for group in (
        "title name label heading headline",
        "count number quantity qty amount total size",
        "price cost fee",
        "id code key sku slug identifier",
        "text description summary body content",
        "email mail",
        "phone telephone",
        "date day",
    )
)
_COUNTS = stem_set("count number total quantity how many num no of")
_VERDICT = ("valid", "errors")


@dataclass(frozen=True, slots=True)
class Node:
    """An object of a result, and the objects around it, the innermost first."""

    fields: dict[str, Any]
    kinds: frozenset[str] = frozenset()
    """The stems of its kind, from the names of the lists around it and of its tool."""
    parents: tuple["Node", ...] = ()
    round: int = 0
    is_input: bool = False

    @property
    def text(self) -> str:
        """Return its values as text."""
        return " ".join(str(value) for value in self.fields.values())[:_TEXT_CHARACTERS_MAX]

    @property
    def title(self) -> str:
        """Return its name, as far as its keys show one."""
        named = (v for k, v in self.fields.items() if isinstance(v, str) and _SAME[0] & {*stems_of_name(k)})
        return next(named, "")


@dataclass(frozen=True, slots=True)
class Values:
    """All sources for filling a shape, the most relevant first."""

    question: Question
    nodes: tuple[Node, ...] = ()
    input: Any = None
    """The output of the step before."""
    instructions: str = ""
    has_results: bool = False
    """Whether some call has succeeded, so that missing values were searched for."""
    described: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = field(default=())
    """Settings that results describe, each with the arguments of the call that returned it."""


def values_of(question: Question, notes: Notes) -> Values:
    """Return the values of a briefing, without the verdicts of validating tools."""
    input = notes.step.input if notes.step else None
    given = tuple(_nodes(input, frozenset(), (), 0, 0, is_input=True))
    found: list[Node] = []
    described: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for fact in notes.facts:
        if is_described(fact.content):
            calls = [call for call in notes.tried if call.told(fact.ids)]
            described += [(call.arguments or {}, fact.content) for call in calls]
            continue
        if is_verdict(fact.content):
            continue
        kinds = frozenset(stems_of_name(fact.tool))
        above = (Node({"heading": fact.title}, kinds),) if fact.title else ()
        content = fact.content
        if not isinstance(content, dict | list):  # 14 of count_berths is the count of berths
            content = {fact.tool if plain_number(str(content)) is not None else "text": content}
        found += _nodes(content, kinds, above, fact.round, 0)
        if len(found) > _NODES_MAX:
            break

    def rank(node: Node) -> tuple[float, int, int]:
        return -question.names_alike(node.title), -len(question.terms & stems(node.text)), -node.round

    instructions = notes.step.instructions if notes.step else ""
    nodes = (*given, *sorted(found[:_NODES_MAX], key=rank))
    has_results = bool(nodes) or any(call.outcome == "ok" for call in notes.tried)
    return Values(question, nodes, input, instructions, has_results, tuple(described))


def is_verdict(content: Any) -> bool:
    """Return whether a result is the verdict of a validation."""
    return isinstance(content, dict) and isinstance(content.get(_VERDICT[0]), bool)


def values_named(node: Node, name: str, is_count: bool = False) -> Iterator[Any]:
    """Yield a node's values under a name, the closest first.

    With `is_count` a number is wanted: the 4 of `lesson 4` is no number of lessons.
    """
    ranked = [
        (closeness(name, key, node.kinds), value)
        for key, value in node.fields.items()
        if not (is_count and _is_plural(name) and not _is_plural(key) and _stems(name) == _stems(key))
    ]
    ranked = [(score, value) for score, value in ranked if score and value is not None]
    yield from (value for _, value in sorted(ranked, key=lambda one: -one[0]))


def _is_plural(name: str) -> bool:
    last = words_as_written(name.replace("_", " "))[-1:]
    return bool(last) and singular(last[0]) != last[0]


def closeness(name: str, key: str, kinds: frozenset[str]) -> int:
    """Return how well a key matches a name, 0 for no match: `id` matches `part_id` in a list of parts."""
    wanted, given = (_stems(one) for one in (name, key))
    if not wanted or not given:
        return 0
    if wanted == given:
        return 5
    if given < wanted and wanted - given <= kinds:
        return 4
    if wanted < given and given - wanted <= kinds:
        return 4
    left, right = (frozenset(map(_canonical, one)) for one in (wanted, given))
    if left == right:
        return 3
    return 2 if (right < left and wanted - given <= kinds | _all_same(given)) else 0


def counted(node: Node, name: str) -> Iterator[int]:
    """Yield counts of the named things: items of a list with that name, or a number before the noun in a text."""
    nouns = _stems(name) - _COUNTS
    if not nouns:
        return
    for key, value in node.fields.items():
        if isinstance(value, list) and _stems(key) == nouns:
            yield len(value)
    for value in node.fields.values():
        if isinstance(value, str):
            yield from _counted_in(value[:_TEXT_CHARACTERS_MAX], nouns)


def plain(value: Any) -> bool:
    """Return whether a value is no list and no object."""
    return not isinstance(value, dict | list)


def _counted_in(text: str, nouns: frozenset[str]) -> Iterator[int]:
    for number, noun in re.findall(r"\b(\d{1,9}|[A-Za-z]{3,9})(?=\s+([^\W\d_]{2,40}))", text):
        if stem(noun) in nouns:
            value = int(number) if number.isdecimal() else CARDINALS.get(number.lower())
            if value is not None:
                yield value


def _stems(name: str) -> frozenset[str]:
    return frozenset(stems_of_name(name[:200]))


def _canonical(part: str) -> str:
    return next((min(group) for group in _SAME if part in group), part)


def _all_same(parts: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(group for group in _SAME if group & parts))


def _nodes(
    value: Any,
    kinds: frozenset[str],
    parents: tuple[Node, ...],
    round: int,
    depth: int,
    is_input: bool = False,
) -> Iterator[Node]:
    if depth > _DEPTH_MAX:
        return
    if isinstance(value, list):
        for item in value if schema_of(value) is None else ():  # described settings are no things
            yield from _nodes(item, kinds, parents, round, depth + 1, is_input)
    elif isinstance(value, dict) and value:
        node = Node({str(key): inner for key, inner in value.items()}, kinds, parents, round, is_input)
        yield node
        for key, inner in node.fields.items():
            if isinstance(inner, dict | list):
                named = frozenset(stems_of_name(key[:200]))
                yield from _nodes(inner, named, (node, *parents), round, depth + 1, is_input)
