"""The structure of a tool's result: its documents, and their statements. Pure.

    a list of records, or of long texts    a document per record                  at $[0], $[1], ...
    a table (`tables`)                     a document per row, as a record        at $.rows[0], $.Oslo, ...
    a table in a text (`text_tables`)      likewise; the row's text is            at $[57:80]
    a text that is JSON                    its content                            at $(json)[0], ...
    an object around lists of records      a document per record, one for the     at $.results[0], ...
                                           rest; small and without prose: one     at $
    a record                               its prose sentence by sentence, and    at $.results[0].text[0:57]
                                           all else as one JSON statement         at $.results[0]
    text                                   a document per heading                 at $, its statements at $[0:57]
    anything else                          one JSON statement                     at $

A large piece of JSON is split by its members. A result of more than `FACTS_PER_RESULT_MAX` statements is split into
larger ones.
"""

import re
from collections.abc import Iterator
from typing import Any

from pydantic_core import from_json

from antiphon_shared.memory.filing.pieces import (
    DEPTH_MAX,
    PATH_MAX,
    Part,
    Statement,
    as_json,
    join_titles,
    member,
    split_value,
    text_statements,
)
from antiphon_shared.memory.filing.prose import PROSE_MIN, REMOVED, has_prose, without_prose
from antiphon_shared.memory.filing.sentences import COARSE, sections
from antiphon_shared.memory.filing.table_parts import (
    SMALL_CHARACTERS,
    SMALL_TABLE_CHARACTERS,
    large_table_in,
    rows_of,
    text_with_tables,
)
from antiphon_shared.memory.filing.tables import table_of
from antiphon_shared.memory.filing.text_tables import tables_in
from antiphon_shared.memory.filing.titles import title_of
from antiphon_shared.text.storable import storable
from antiphon_shared.values import JsonObject, members

FACTS_PER_RESULT_MAX = 1000
_GRAIN_MAX = 2**24
_SAMPLE = 500
_NEW_LINE = re.compile(r"\n[ \t]*(?:[^\w\s]|\d|\w[^:\n]{0,40}:\s|[\r\n](?=\w))")
"""A line break before a statement of its own, as far as its first characters show."""
_NOTHING = ("", "[]", "{}", "null", '""')
_NESTED = (dict, list)
IN_JSON = "(json)"
"""The step of a position into a text that is JSON."""
_JSON_OPENS = ("{", "[")
_JSON_CHARACTERS_MAX = 4_000_000
_JSON_DEPTH_MAX = 3


def parts_of(data: object, path: str = "$") -> tuple[Part, ...]:
    """Return the parts of `data` at `path`; an empty tuple when it has no content."""
    if is_nothing(data):
        return ()
    for grain in _grains(data):
        parts: list[Part] = []
        count = 0
        for part in _walk(data, path, "", grain, 0):
            parts.append(part)
            count += len(part.statements)
            if count > FACTS_PER_RESULT_MAX:
                break
        else:
            return tuple(parts)
    return (Part(path, title_of(data), (as_json(path, data),)),)


def _grains(data: object) -> Iterator[int]:
    """Yield how many neighbours to join: first by an estimate, then larger numbers if it was too low."""
    about = _pieces_about(data, 0)
    grain = 1
    while grain * FACTS_PER_RESULT_MAX < about:
        grain *= 2
    while grain <= _GRAIN_MAX:
        yield grain
        grain *= 2 if grain < COARSE else 4


def _pieces_about(value: object, depth: int) -> int:
    """Return an estimate of the number of statements in a value; it may be too low, but hardly ever too high."""
    if isinstance(value, str):
        if len(value) > SMALL_CHARACTERS and (tables := tables_in(value)):
            return sum(len(table.rows) for table in tables)
        ends = value.count(". ") + value.count("! ") + value.count("? ") + value.count("。")
        return max(1, min(ends, len(value) // PROSE_MIN), len(_NEW_LINE.findall(value)))
    if not isinstance(value, _NESTED) or depth > DEPTH_MAX:
        return 0
    step = 1 + len(value) // _SAMPLE
    sample = list(members(value))[::step]
    inside = step * sum(
        [_pieces_about(one, depth + 1) for one in sample if isinstance(one, _NESTED) or _is_long(one)]
    )
    if inside >= len(value) > 0:
        return inside
    return max(inside, len(value) if _is_records(value) else 1)


def _is_long(value: object) -> bool:
    return isinstance(value, str) and len(value) >= PROSE_MIN


def is_nothing(data: object) -> bool:
    """Return whether a result has no content: null, an empty text or structure, or one of these under one key."""
    for _ in range(DEPTH_MAX):
        if not isinstance(data, dict) or len(data) != 1:
            break
        data = next(iter(data.values()))
    if isinstance(data, str):
        return data.strip() in _NOTHING
    return data is None or data in ([], {})


def _walk(value: object, path: str, context: str, grain: int, depth: int) -> Iterator[Part]:
    match value:
        case str():
            yield from _text(value, path, context, grain)
        case list() if _is_records(value):
            yield from _records(value, path, context, grain)
        case list() | dict() if grain < COARSE and (table := large_table_in(value, path)):
            members = value.items() if isinstance(value, dict) else ()
            other_fields = {key: inner for key, inner in members if key not in table.keys}
            if not is_nothing(other_fields):
                yield from _record(other_fields, path, context, grain)
            yield from rows_of(table, path, join_titles(context, title_of(other_fields)), grain)
        case dict() if grain < COARSE and depth < DEPTH_MAX and (keys := _keys_of_records(value, depth)):
            if not has_prose(value, path):
                statement = as_json(path, value)
                is_table = any(table_of(value[key], "") for key in keys)
                if len(statement.text) <= (SMALL_TABLE_CHARACTERS if is_table else SMALL_CHARACTERS):
                    yield Part(path, join_titles(context, title_of(value)), (statement,))
                    return
            other_fields = {key: inner for key, inner in value.items() if key not in keys}
            title = join_titles(context, title_of(other_fields))
            if not is_nothing(other_fields):
                yield from _record(other_fields, path, context, grain)
            for key in keys:
                yield from _walk(value[key], path + member(key), title, grain, depth + 1)
        case _:
            yield from _record(value, path, context, grain)


def _records(records: list[Any], path: str, context: str, grain: int) -> Iterator[Part]:
    """Yield a document per record, or per group of neighbours where there are very many."""
    for start in range(0, len(records), grain):
        group = records[start : start + grain]
        if len(group) > 1:
            position = f"{path}[{start}:{start + len(group)}]"
            yield Part(position, join_titles(context, title_of(group[0])), (as_json(position, group),))
        elif isinstance(group[0], str):
            yield from _text(group[0], f"{path}[{start}]", context, grain)
        else:
            yield from _record(group[0], f"{path}[{start}]", context, grain)


def _record(value: object, path: str, context: str, grain: int) -> Iterator[Part]:
    """Yield the parts of one value: its other fields, then its prose, which may have headings of its own."""
    own = title_of(value)
    title = join_titles(context, own)
    rest, prose = without_prose(value, path) if grain < COARSE else (value, [])
    statements: list[Statement] = []
    if rest is not REMOVED and not (prose and _repeats(rest, own)):
        statements = list(split_value(rest, path, SMALL_CHARACTERS * max(1, grain // COARSE), 0))
    for position, text in prose:
        for part in _text(text, position, title, grain):
            if part.title == title:
                statements += part.statements
                continue
            if statements:
                yield Part(path, title, tuple(statements))
                statements = []
            yield Part(path, part.title, part.statements)
    if statements:
        yield Part(path, title, tuple(statements))


def _text(text: str, path: str, context: str, grain: int) -> Iterator[Part]:
    """Yield the parts of a text, or of its content where it is JSON or has tables."""
    if grain < COARSE and (value := _json_in(text, path)) is not REMOVED:
        yield from _walk(value, path + IN_JSON, context, grain, path.count("[") + path.count("."))
    elif grain < COARSE and (tables := tables_in(text)):
        yield from text_with_tables(text, tables, path, context, grain)
    else:
        yield from _plain_text(text, path, context, grain)


def _json_in(text: str, path: str) -> Any:
    """Return the object or the list that a text is; `REMOVED` for every other text."""
    if text[:1] not in _JSON_OPENS and text.lstrip()[:1] not in _JSON_OPENS:
        return REMOVED
    if (
        len(text) > _JSON_CHARACTERS_MAX
        or text.rstrip()[-1:] not in "]}"
        or path.count(IN_JSON) >= _JSON_DEPTH_MAX
    ):
        return REMOVED
    try:
        value = storable(from_json(text, allow_inf_nan=False))
    except (ValueError, RecursionError):
        return REMOVED
    return value if isinstance(value, _NESTED) and not is_nothing(value) else REMOVED


def _plain_text(text: str, path: str, context: str, grain: int) -> Iterator[Part]:
    has_sections = False
    for heading, spans in sections(text, grain):
        has_sections = True
        statements = tuple([Statement(f"{path}[{a}:{b}]", text[a:b], False) for a, b in spans])
        yield Part(path, join_titles(context, heading), statements)
    if not has_sections and (whole := text_statements(text, path, [(0, len(text))])):
        yield Part(path, context, tuple(whole))


def _repeats(rest: object, title: str) -> bool:
    """Return whether the rest only repeats the title."""
    while isinstance(rest, dict) and len(rest) == 1:
        rest = next(iter(rest.values()))
    return bool(title) and str(rest) == title


def _is_records(value: object) -> bool:
    """Return whether a value is a list of objects, or of long texts."""
    if not isinstance(value, list) or not value:
        return False
    if all(isinstance(item, dict) for item in value):
        return True
    return all(isinstance(item, str) for item in value) and sum(map(len, value)) > SMALL_CHARACTERS


def _keys_of_records(data: JsonObject, depth: int) -> tuple[str, ...]:
    """Return the keys with records below them, at any depth."""
    if depth > DEPTH_MAX:
        return ()
    return tuple(
        key
        for key, value in data.items()
        if len(key) <= PATH_MAX
        and (
            _is_records(value)
            or (isinstance(value, dict | list) and table_of(value, "") is not None)
            or (isinstance(value, dict) and _keys_of_records(value, depth + 1))
        )
    )
