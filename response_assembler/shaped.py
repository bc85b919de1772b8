"""A shaped answer: the value that the model gave, and the facts that contain the values of its fields. Pure."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from antiphon_shared.events.session import FieldSources
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.output.schema import pointer

from response_assembler.cited import Answer
from response_assembler.fact_validity import outdated_facts
from response_assembler.sources import cited_sources, newest_sources, sources_section
from response_assembler.uncertainty import uncertain

_FIELDS_MAX = 200
"""Bound on the fields whose values are searched in the facts."""
_INDENTED_MAX = 4
"""Bound on the length of indented JSON, as a multiple of its length on one line."""
_SOURCES_MAX = 3
"""Bound on the sources of one field, newest first."""
_VALUE_CHARACTERS_MIN = 2
"""The minimum length of a value, as shorter ones occur in too many facts."""

Path = tuple[str | int, ...]


def shaped_answer(
    value: object, memory: Memory, closing: str = ""
) -> tuple[Answer, tuple[FieldSources, ...]]:
    """Return the answer in Markdown, and the facts that hold the value of each of its fields."""
    # Lowered once, as a text search is far faster than a pattern search.
    statements = [
        (id, fact.statement, fact.statement.lower())
        for id, fact in reversed(tuple(memory.facts.items()))
        if id not in memory.superseded
    ]
    ids_by_path = {path: ids for path, one in _leaves(value) if (ids := _facts_with(one, statements))}
    numbers = {id: number for number, id in enumerate(dict.fromkeys(sum(ids_by_path.values(), ())), 1)}
    sources = cited_sources(memory, numbers)
    text = f"```json\n{value_as_json(value)}\n```"
    answer = Answer(
        text="\n\n".join(filter(None, [text, closing, sources_section(memory, sources)])),
        sources=sources or newest_sources(memory),
        uncertainties=(
            *([] if numbers or not memory.facts else [uncertain("uncited")]),
            *outdated_facts(memory, numbers),
        ),
    )
    return answer, tuple(FieldSources(at=pointer(path), sources=ids) for path, ids in ids_by_path.items())


def value_as_json(value: object) -> str:
    """Return the value as JSON, indented unless that makes it several times longer."""
    short, wide = (json.dumps(value, ensure_ascii=False, indent=indent) for indent in (None, 2))
    return wide if len(wide) < _INDENTED_MAX * len(short) else short


def _leaves(value: object) -> list[tuple[Path, Any]]:
    """Return the texts and numbers in a value, with their paths."""
    return [one for one, _ in zip(_walk(value, ()), range(_FIELDS_MAX), strict=False)]


def _walk(value: object, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _walk(part, (*path, name))
    elif isinstance(value, list):
        for n, part in enumerate(value):
            yield from _walk(part, (*path, n))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield path, value


def _facts_with(value: str | float, statements: Iterable[tuple[str, str, str]]) -> tuple[str, ...]:
    """Return the ids of the facts that contain a value.

    `statements` are (id, statement, lowered statement), newest first.
    """
    text = value.strip() if isinstance(value, str) else json.dumps(value)
    if len(text) < _VALUE_CHARACTERS_MIN:
        return ()
    lowered = text.lower()
    pattern = re.compile(rf"(?<!\w)(?<!\d[.,:]){re.escape(text)}(?!\w|[.,:]\d)", re.IGNORECASE)
    ids = []
    for id, statement, statement_lowered in statements:
        if lowered in statement_lowered and pattern.search(statement):
            ids.append(id)
            if len(ids) == _SOURCES_MAX:
                break
    return tuple(ids)
