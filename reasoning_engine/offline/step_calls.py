"""The calls that a step's instructions request, with the values of the briefing. Pure.

Instructions request a tool by its name, by its verb at the beginning of a clause (`deploy it once`), or,
where its verb only fetches, by the fetched thing (`Look up the details`). Reads are called together, up to
the next write; a write is called alone, and once.
"""

import re
from collections.abc import Iterator
from typing import Any

from antiphon_shared.text.words import stem, words_as_written

from reasoning_engine.offline.briefing_text import Notes
from reasoning_engine.offline.filling import NOTHING, fill_property
from reasoning_engine.offline.forms import is_portable
from reasoning_engine.offline.language import content_words, stem_set
from reasoning_engine.offline.plan import Call
from reasoning_engine.offline.question import read_question
from reasoning_engine.offline.question_values import option
from reasoning_engine.offline.records import is_plain
from reasoning_engine.offline.schema import Parameter, Tool
from reasoning_engine.offline.shapes import fits
from reasoning_engine.offline.step_text import step_begun
from reasoning_engine.offline.tried import TriedCall
from reasoning_engine.offline.values import Values, is_verdict, values_named

CALLS_MAX = 8
"""The limit of calls in one round."""
_CALLS_PER_TOOL_MAX = 30
_FETCHING = stem_set("get find list look fetch show read lookup load")
_FAR = 1_000_000


def calls_of_step(tools: tuple[Tool, ...], values: Values, notes: Notes) -> tuple[Call, ...]:
    """Return the requested calls that are possible now; an empty tuple when all are made.

    A write waits for the calls before it: after a failure, or an invalid verdict, no write is called.
    """
    mentioned = [(at, tool) for tool in tools if (at := mentioned_at(tool, values.instructions)) < _FAR]
    calls: list[Call] = []
    is_clear, begun = True, step_begun(notes.now)
    for _, tool in sorted(mentioned, key=lambda one: one[0]):
        if not tool.writes:
            calls += fresh_calls(tool, values, notes.tried, "follow the instructions")
            is_clear = is_clear and not _has_failed(tool, notes)
        elif is_clear and not _is_done(tool, notes, begun):
            if calls:
                break
            calls += fresh_calls(tool, values, notes.tried, "follow the instructions")[:1]
            if calls:
                break
    return tuple(calls[:CALLS_MAX])


def calls_for_more(tools: tuple[Tool, ...], values: Values, tried: tuple[TriedCall, ...]) -> tuple[Call, ...]:
    """Return calls of reads that the instructions do not name, but that may hold missing values."""
    calls = [
        call
        for tool in tools
        if not tool.writes and tool.search_parameter is None
        for call in fresh_calls(tool, values, tried, "look for what is missing")
    ]
    return tuple(calls[:CALLS_MAX])


def fresh_calls(tool: Tool, values: Values, tried: tuple[TriedCall, ...], reason: str) -> list[Call]:
    """Return the possible calls of a tool that were not made yet."""
    made = [call for call in tried if call.tool == tool.name]
    if len(made) > _CALLS_PER_TOOL_MAX:
        return []
    return [
        Call(tool.name, arguments, reason)
        for arguments in arguments_for(tool, values)
        if not any(call.was(tool.name, arguments) for call in made)
    ]


def mentioned_at(tool: Tool, instructions: str) -> int:
    """Return the position of a tool's request in the instructions, in words; a large number without a request."""
    found = re.search(rf"(?<!\w){re.escape(tool.name)}(?!\w)", instructions)
    if found:
        return len(words_as_written(instructions[: found.start()]))
    stems = [stem(word) for word in words_as_written(instructions)]
    nouns = tool.name_stems - {tool.verb}
    is_asked = tool.verb in read_question(instructions, frozenset()).imperatives
    if tool.verb in _FETCHING and nouns and not tool.writes:
        return max(stems.index(noun) for noun in nouns) if nouns <= {*stems} else _FAR
    return stems.index(tool.verb) if is_asked and (tool.writes or nouns <= {*stems}) else _FAR


def arguments_for(tool: Tool, values: Values) -> list[dict[str, Any]]:
    """Return the possible arguments of a tool; several where a list holds several values for it."""
    whole: list[dict[str, Any]] = [{}]
    for parameter in tool.parameters:
        if not parameter.required or "default" in parameter.schema:
            continue
        found = _distinct(_values_for(tool, parameter, values))
        if not found:
            return []
        if len(found) > 1 and len(whole) > 1:
            found = found[:1]
        whole = [{**arguments, parameter.name: value} for arguments in whole for value in found]
    return whole


def _values_for(tool: Tool, parameter: Parameter, values: Values) -> Iterator[Any]:
    schema, root = parameter.schema, tool.schema
    if parameter.is_query:
        text = " ".join(content_words(values.question.text))
        yield from [text[: _length_max(schema)]] if text else ()
        return
    if parameter.options:
        named = option(values.question.text, parameter.options)
        yield from [named] if named is not None else ()
        return
    is_whole = "object" in parameter.types or "array" in parameter.types
    given = [record for record in values.records if not record.fact.id]
    sources = (*given, *values.records) if is_whole else given
    held = [value for record in sources for value in values_named(record, parameter.name)]
    if is_whole:
        found = [value for value in (values.input, *held) if value and not is_plain(value)]
    else:
        listed = (value if isinstance(value, list) else [value] for value in held)
        found = [value for values in listed for value in values if is_plain(value)]
    fitting = [value for value in found if fits(schema, value, root)]
    if not fitting:
        name = "" if is_whole else parameter.name
        filled = fill_property(name, _with_definitions(schema, root), values)
        fitting = [filled] if filled not in (NOTHING, None, {}, []) and fits(schema, filled, root) else []
    yield from fitting[: 1 if is_whole else None]


def _with_definitions(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    return {**{name: root[name] for name in ("$defs", "definitions") if name in root}, **schema}


def _is_done(tool: Tool, notes: Notes, begun: int) -> bool:
    """Return whether a write was called in the step: it is not called twice, whatever its outcome."""
    written = (fact.tool == tool.name and (fact.round >= begun or not fact.round) for fact in notes.facts)
    return any(call.tool == tool.name for call in notes.tried) or any(written)


def _has_failed(tool: Tool, notes: Notes) -> bool:
    """Return whether the newest call of a tool has failed, or has returned an invalid verdict."""
    newest = next((call for call in reversed(notes.tried) if call.tool == tool.name), None)
    if newest is None:
        return False
    contents = [fact.content for fact in notes.facts if newest.told(fact.ids)]
    return newest.outcome != "ok" or any(is_verdict(one) and not one["valid"] for one in contents)


def _length_max(schema: dict[str, Any]) -> int:
    most = schema.get("maxLength")
    return most if isinstance(most, int) and most > 0 else 300


def _distinct(found: Iterator[Any]) -> list[Any]:
    kept: list[Any] = []
    for one in found:
        if one not in kept and is_portable(one):
            kept.append(one)
    return kept[:CALLS_MAX]
