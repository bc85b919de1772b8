"""Filing: one round's outcome becomes facts, a reasoning note and tool usage. Pure.

The synthesizer files rounds into memory; the assembler files what was still on its way when the session
ended. How a result is cut into facts follows its structure alone:

    a list of records                     one fact per record                 at $[0], $[1], ...
    an object around one list of records  one fact, or when large one per     at $.lessons[0], ...
                                          record and one for what is beside   at $
    long text                             one fact per passage                at $[0:1180], ...
    anything else                         one fact                            at $

What an alternative answered is filed under the alternative's name. The tools that `find_tools` found are no
facts, since no answer can rest on them; the tool usage names them.
"""

import re
from collections.abc import Iterator
from typing import Any

from pydantic_core import to_json

from shared.events import ReasoningCompleted, ToolsCompleted
from shared.memory import Fact, Memory, MemoryDelta, ReasoningNote, ToolUse
from shared.relevance import FIND_TOOLS, found_tools
from shared.tools import ToolError, ToolResult

FACTS_PER_RESULT_MAX = 200
"""A result of more parts is cut into larger ones."""
_SMALL_CHARACTERS = 1500
_PASSAGE_CHARACTERS_MAX = 1200
_PASSAGE_CHARACTERS_MIN = 400
_TITLE_CHARACTERS_MAX = 100
_TITLE_KEYS = ("title", "name", "headline", "heading", "subject", "label", "topic", "course", "lesson")
_TITLE_ENDINGS = ("_title", "_name", " title", " name")
_LESS_TELLING_TITLE_KEYS = ("file", "filename", "path", "url", "key", "id")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_NOTHING = ("", "[]", "{}", "null", '""')

Part = tuple[str, str, Any]
"""Position, title and content of one fact to be."""


def file_round(
    memory: Memory, reasoning: ReasoningCompleted | None, results: ToolsCompleted | None
) -> MemoryDelta:
    """What one round adds to `memory`. What is in it already is not filed twice."""
    notes: tuple[ReasoningNote, ...] = ()
    if reasoning is not None and reasoning.text.strip():
        note = ReasoningNote(round=reasoning.round, text=reasoning.text)
        notes = () if note in memory.reasoning else (note,)
    if results is None:
        return MemoryDelta(reasoning=notes)
    arguments = {call.id: call.arguments for call in reasoning.tool_calls} if reasoning else {}
    filed = {(use.round, use.call_id) for use in memory.tool_usage}
    facts: list[Fact] = []
    uses: list[ToolUse] = []
    for result in results.results:
        if (results.round, result.call_id) in filed:
            continue
        first = len(memory.facts) + len(facts) + 1
        found = _facts_of(result, results.round, first)
        facts += found
        uses.append(_use_of(result, results.round, arguments.get(result.call_id, {}), found))
    return MemoryDelta(facts=tuple(facts), reasoning=notes, tool_usage=tuple(uses))


def keep_within(delta: MemoryDelta, bytes_max: int) -> MemoryDelta:
    """`delta` with as many of its facts, the first ones first, as fit; the usage says what was not kept."""
    kept: list[Fact] = []
    left = bytes_max
    for fact in delta.facts:
        left -= len(fact.model_dump_json())
        if left < 0:
            break
        kept.append(fact)
    ids = {fact.id for fact in kept}
    uses = tuple(_use_within(use, ids) for use in delta.tool_usage)
    return MemoryDelta(facts=tuple(kept), reasoning=delta.reasoning, tool_usage=uses)


def _facts_of(result: ToolResult, round: int, first: int) -> list[Fact]:
    if result.status == "error" or _is_nothing(result.data) or _tools_found_by(result) is not None:
        return []
    return [
        Fact(
            id=f"F{number}",
            round=round,
            tool=result.substitute or result.tool,
            call_id=result.call_id,
            position=position,
            title=title,
            content=content,
        )
        for number, (position, title, content) in enumerate(_parts(result.data), first)
    ]


def _use_of(result: ToolResult, round: int, arguments: dict[str, Any], found: list[Fact]) -> ToolUse:
    outcome, message = "ok", "" if found else "found nothing"
    if names := _tools_found_by(result):
        message = f"found {', '.join(names)}; they can be called now"
    if result.status == "error":
        outcome, message = "internal_error", "The tool failed and did not say why."
        if result.error is not None:
            outcome = result.error.error_type
            message = _told_of(result.error)
    return ToolUse(
        round=round,
        call_id=result.call_id,
        tool=result.tool,
        arguments=arguments,
        outcome=outcome,
        message=message,
        facts=tuple(fact.id for fact in found),
        substitute=result.substitute,
        substitute_because=_why_substituted(result),
        handle=result.handle,
    )


def _why_substituted(result: ToolResult) -> str:
    if not result.substitute or result.substitute_because:
        return result.substitute_because
    return f"{result.tool} could not answer; {result.substitute} was used in its place."


def _tools_found_by(result: ToolResult) -> tuple[str, ...] | None:
    is_search = result.tool == FIND_TOOLS and result.status == "ok"
    return found_tools(result.data) if is_search else None


def _told_of(error: ToolError) -> str:
    """What the model reads of a failure: what happened, how it is done right, and what to do next."""
    parts = [error.message]
    if error.example_valid_call is not None:
        parts.append(f"Valid arguments: {to_json(error.example_valid_call).decode()}.")
    parts.append(error.suggested_action)
    if error.retry_after_s is not None:
        parts.append(f"It may work again in {error.retry_after_s:g} s.")
    return " ".join(filter(None, parts))


def _use_within(use: ToolUse, kept: set[str]) -> ToolUse:
    ids = tuple(id for id in use.facts if id in kept)
    if len(ids) == len(use.facts):
        return use
    lost = f"{len(use.facts) - len(ids)} of its {len(use.facts)} facts not kept: the session's memory is full"
    return use.model_copy(update={"facts": ids, "message": lost})


def _is_nothing(data: Any) -> bool:
    """Whether a result holds no statement: nothing, an empty text or structure, or one such under one key."""
    if isinstance(data, str):
        return data.strip() in _NOTHING
    if isinstance(data, dict):
        return not data or (len(data) == 1 and _is_nothing(next(iter(data.values()))))
    return data is None or data == []


def _parts(data: Any) -> Iterator[Part]:
    match data:
        case str():
            yield from _passages(data)
        case list() if _is_records(data):
            yield from _records("$", "", data)
        case dict() if (key := _key_of_records(data)) is not None and len(to_json(data)) > _SMALL_CHARACTERS:
            beside = {name: value for name, value in data.items() if name != key}
            title = _title_of(beside)
            if not _is_nothing(beside):
                yield "$", title, beside
            yield from _records(_member(key), title, data[key])
        case _:
            yield "$", _title_of(data), data


def _records(path: str, context: str, records: list[Any]) -> Iterator[Part]:
    """One part per record, or per group of neighbours when there are very many."""
    size = -(-len(records) // FACTS_PER_RESULT_MAX)
    for start in range(0, len(records), size):
        group = records[start : start + size]
        position = f"{path}[{start}]" if size == 1 else f"{path}[{start}:{start + len(group)}]"
        titles = [context, _title_of(group[0])]
        yield position, ": ".join(filter(None, titles)), group[0] if size == 1 else group


def _passages(text: str) -> Iterator[Part]:
    """Text in passages that end where a paragraph does, else a line, a sentence, or a word."""
    heading = _heading_of(text)
    if len(text) <= _SMALL_CHARACTERS:
        yield "$", heading, text
        return
    longest = max(_PASSAGE_CHARACTERS_MAX, 2 * len(text) // FACTS_PER_RESULT_MAX)
    start = 0
    while start < len(text):
        end = _end_of_passage(text, start, longest)
        passage = text[start:end].strip()
        if passage:
            begin = text.index(passage[0], start)
            own = _heading_of(passage) if passage.startswith("#") else heading
            yield f"$[{begin}:{begin + len(passage)}]", own, passage
        start = end


def _end_of_passage(text: str, start: int, longest: int) -> int:
    if len(text) - start <= longest:
        return len(text)
    for separator in ("\n\n", "\n", ". ", " "):
        end = text.rfind(separator, start + _PASSAGE_CHARACTERS_MIN, start + longest)
        if end != -1:
            return end + len(separator)
    return start + longest


def _is_records(value: Any) -> bool:
    """A list of objects; a list of long texts is one too."""
    if not isinstance(value, list) or not value:
        return False
    if all(isinstance(item, dict) for item in value):
        return True
    return all(isinstance(item, str) for item in value) and sum(map(len, value)) > _SMALL_CHARACTERS


def _key_of_records(data: dict[str, Any]) -> str | None:
    keys = [key for key, value in data.items() if _is_records(value)]
    return keys[0] if len(keys) == 1 else None


def _member(key: str) -> str:
    return f"$.{key}" if _IDENTIFIER.fullmatch(key) else f"$[{to_json(key).decode()}]"


def _title_of(content: Any) -> str:
    """What a record calls itself, by its most telling key; empty when it does not."""
    if isinstance(content, str):
        return _heading_of(content)
    if not isinstance(content, dict):
        return ""
    named = {str(key).lower(): value for key, value in content.items() if _can_be_title(value)}
    for key in _TITLE_KEYS:
        if key in named:
            return _one_line(named[key])
    for key, value in named.items():
        if key.endswith(_TITLE_ENDINGS):
            return _one_line(value)
    for key in _LESS_TELLING_TITLE_KEYS:
        if key in named:
            return _one_line(named[key])
    return ""


def _can_be_title(value: Any) -> bool:
    return (isinstance(value, str) and bool(value.strip())) or type(value) is int


def _heading_of(text: str) -> str:
    """A text's first line, if it stands as a heading above the rest."""
    line, newline, rest = text.strip().partition("\n")
    if not newline or not rest.strip() or len(line) > _TITLE_CHARACTERS_MAX:
        return ""
    return _one_line(line.strip().strip("#*[] ").rstrip(":"))


def _one_line(value: Any) -> str:
    return " ".join(str(value).split())[:_TITLE_CHARACTERS_MAX]
