"""The calls that a step's instructions request, with the values of the briefing. Pure.

Instructions request a tool by its name, by its verb at the beginning of a clause (`deploy it once`), or,
where its verb only fetches, by the fetched thing (`Look up the details`). Reads are called together, up to
the next write; a write is called alone, and once.
"""

import re
from typing import Any

from antiphon_shared.text.words import stem, words_as_written

from reasoning_engine.offline.briefing_text import Notes
from reasoning_engine.offline.filling import NOTHING, fill_property
from reasoning_engine.offline.forms import is_portable
from reasoning_engine.offline.language import content_words, stem_set
from reasoning_engine.offline.plan import Call
from reasoning_engine.offline.question import read_question
from reasoning_engine.offline.question_values import option
from reasoning_engine.offline.schema import Parameter, Tool
from reasoning_engine.offline.shapes import fits
from reasoning_engine.offline.tried import TriedCall
from reasoning_engine.offline.values import Values, is_verdict, values_under

CALLS_MAX = 8
"""The limit of calls in one round."""
_CALLS_PER_TOOL_MAX = 30
_FETCHING = stem_set("get find list look fetch show read lookup load")
_QUERY_CHARACTERS_MAX = 300
_FAR = 1_000_000


def calls_of_step(tools: tuple[Tool, ...], values: Values, notes: Notes) -> tuple[Call, ...]:
    """Return the requested calls that are possible now; an empty tuple when all are made.

    A write waits for the calls before it: after a failure, or an invalid verdict, no write is called.
    """
    mentioned = [(at, tool) for tool in tools if (at := mentioned_at(tool, values.instructions)) < _FAR]
    calls: list[Call] = []
    is_clear = True
    for _, tool in sorted(mentioned, key=lambda one: one[0]):
        if not (tool.writes and (not is_clear or _is_done(tool, notes))):
            if tool.writes and calls:
                break
            calls += _fresh_calls(tool, values, notes.tried)[: 1 if tool.writes else None]
            if tool.writes and calls:
                break
        is_clear = is_clear and not _has_failed(tool, notes)
    return tuple(calls[:CALLS_MAX])


def _fresh_calls(tool: Tool, values: Values, tried: tuple[TriedCall, ...]) -> list[Call]:
    """Return the possible calls of a tool that were not made yet."""
    made = [call for call in tried if call.tool == tool.name]
    if len(made) > _CALLS_PER_TOOL_MAX:
        return []
    return [
        Call(tool.name, arguments, "follow the instructions")
        for arguments in arguments_for(tool, values)
        if not any(call.was(tool.name, arguments) for call in made)
    ]


def mentioned_at(tool: Tool, instructions: str) -> int:
    """Return the position of a tool's request in the instructions, in words; a large number without a request."""
    match = re.search(rf"(?<!\w){re.escape(tool.name)}(?!\w)", instructions)
    if match:
        return len(words_as_written(instructions[: match.start()]))
    stems = [stem(word) for word in words_as_written(instructions)]
    nouns = tool.name_stems - {tool.verb}
    is_imperative = tool.verb in read_question(instructions, frozenset()).imperatives
    if tool.verb in _FETCHING and nouns and not tool.writes:
        return max(stems.index(noun) for noun in nouns) if nouns <= {*stems} else _FAR
    return stems.index(tool.verb) if is_imperative and (tool.writes or nouns <= {*stems}) else _FAR


def arguments_for(tool: Tool, values: Values) -> list[dict[str, Any]]:
    """Return the possible arguments of a tool; several where a list holds several values for it."""
    variants: list[dict[str, Any]] = [{}]
    for parameter in tool.parameters:
        if not parameter.required or "default" in parameter.schema:
            continue
        candidates = _values_for(tool, parameter, values)[: 1 if len(variants) > 1 else CALLS_MAX]
        variants = [{**arguments, parameter.name: value} for arguments in variants for value in candidates]
    return variants


def _values_for(tool: Tool, parameter: Parameter, values: Values) -> list[Any]:
    """Return the distinct values for a parameter, from the step's input, else from the question and the results."""
    schema, text = parameter.schema, values.question.text
    is_container = "object" in parameter.types or "array" in parameter.types
    if parameter.is_query:
        most = schema.get("maxLength")
        choices = [" ".join(content_words(text))[: most if isinstance(most, int) else _QUERY_CHARACTERS_MAX]]
    elif parameter.options:
        choices = [option(text, parameter.options)]
    else:
        records = [record for record in values.records if not record.fact.id]
        choices = [value for record in records for value in values_under(record, parameter.name)]
        if is_container:
            choices = [values.input, *choices]
        else:
            choices = [one for value in choices for one in (value if isinstance(value, list) else [value])]
        choices = [value for value in choices if value and fits(schema, value, tool.schema)]
        choices = choices or [fill_property("" if is_container else parameter.name, schema, values)]
    fitting = [
        one for one in choices if one not in (NOTHING, None, "", {}, []) and fits(schema, one, tool.schema)
    ]
    distinct = [one for at, one in enumerate(fitting) if one not in fitting[:at] and is_portable(one)]
    return distinct[:1] if is_container else distinct


def _is_done(tool: Tool, notes: Notes) -> bool:
    """Return whether a write was called: it is not called twice, whatever its outcome."""
    return any(call.tool == tool.name for call in notes.tried) or any(
        fact.tool == tool.name for fact in notes.facts
    )


def _has_failed(tool: Tool, notes: Notes) -> bool:
    """Return whether the newest call of a tool has failed, or has returned an invalid verdict."""
    newest = next((call for call in reversed(notes.tried) if call.tool == tool.name), None)
    if newest is None:
        return False
    contents = [fact.content for fact in notes.facts if newest.has_returned_any(fact.ids)]
    return newest.outcome != "ok" or any(is_verdict(one) and not one["valid"] for one in contents)
