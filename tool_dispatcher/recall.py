"""The tool `recall`: it returns whole results of earlier calls of the session.

The session's memory maps an id to the call that returned it. The content is read by its handle or from the session's
log. If it is no longer stored, the facts in memory replace it.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.handling import MEMORY
from antiphon_shared.events import ToolsCompleted
from antiphon_shared.memory.layers import MEMORY_DELTA, Document, Fact, ToolUse
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.text.citations import cited_ids
from antiphon_shared.tools.calls import ToolOutcome
from antiphon_shared.values import Json, JsonObject, ToolArguments
from pydantic_core import from_json, to_json

from tool_dispatcher.authoring.failures import readable, tool_error
from tool_dispatcher.results.position import value_at
from tool_dispatcher.running.batch_run import BatchRun

_CALLS_LISTED_MAX = 8
_ALL = "$"

Part = JsonObject
"""`{"tool", "call_id", "round", "position", "content"}`."""


async def recall(arguments: ToolArguments, batch: BatchRun, call_id: str) -> ToolOutcome:
    """Return `{"id": ..., "parts": [...]}`, or a `not_found` error if the session has no such id.

    The argument `id` names facts (`F12`, `F3-F9`), whose documents are returned, a document (`D2`), or a call. If the
    documents exceed the size of a result, the facts come before them.
    """
    id = arguments["id"]
    items = await retry_while_unavailable("read memory", lambda: batch.session.items(MEMORY))
    memory = Memory.of("", (MEMORY_DELTA.read(item) for item in items))
    facts = _facts_with_id(memory, id)
    ids = [fact.document for fact in facts] or [id.strip(" []").upper()]
    requested = _documents(memory, ids) or _calls(memory, id)
    if not requested:
        message = f"There is no {readable(repr(id), 100)} in this session."
        return tool_error("not_found", message, _existing_ids(memory))
    uses = {(one.use.round, one.use.call_id): one.use for one in requested if one.use}
    results = {call: await _stored_result(use, batch) for call, use in uses.items()}
    parts: list[Json] = [{**one.part, "content": _content(one, results)} for one in requested]
    answer: JsonObject = {"id": id, "parts": parts}
    if facts and len(to_json(answer)) > batch.result_bytes_max:
        answer["parts"] = [*(_fact_part(fact, memory) for fact in facts), *parts]
    return answer


@dataclass(frozen=True, slots=True)
class _Requested:
    """A part to fetch: a document, or the whole result of a call."""

    part: Part
    """The part without its content."""
    use: ToolUse | None
    """The call that returned the document, if memory knows it."""
    facts: tuple[Fact, ...]
    """The facts from this part in memory."""


def _content(requested: _Requested, results: Mapping[tuple[int, str], tuple[Json, ...]]) -> Json:
    """Return the content of a part; if it is no longer stored, the statements of its facts."""
    use = requested.use
    result = results[use.round, use.call_id] if use else ()
    with suppress(LookupError):
        return value_at(result[0], str(requested.part["position"]))
    return "\n".join(fact.statement for fact in requested.facts)


async def _stored_result(use: ToolUse, batch: BatchRun) -> tuple[Json, ...]:
    """Return the whole result of a call, as a tuple of one; an empty tuple if it is no longer stored."""
    if use.handle and (content := await batch.journal.load_complete(use.handle)) is not None:
        return (from_json(content),)
    if (entry := use.results) is None:
        return ()
    try:
        event = await retry_while_unavailable("read a result", lambda: batch.session.event(entry))
    except UnreadableEvent:
        return ()
    results = event.data.results if isinstance(event.data, ToolsCompleted) else ()
    for result in results:
        if result.call_id == use.call_id:
            error = result.error
            return (error.model_dump(mode="json", exclude_none=True) if error else result.data,)
    return ()


def _facts_with_id(memory: Memory, id: str) -> tuple[Fact, ...]:
    ids = cited_ids(f"[{id.strip(' []').upper()}]")
    facts = (memory.facts[one] for one in ids if one in memory.facts)
    return tuple(fact for fact in facts if fact.document in memory.documents)


def _documents(memory: Memory, ids: Iterable[str]) -> tuple[_Requested, ...]:
    """Return the documents with these ids, each once; unknown ids are skipped."""
    uses = {(use.round, use.call_id): use for use in memory.tool_usage}
    facts_by_document: dict[str, list[Fact]] = {id: [] for id in ids if id in memory.documents}
    for fact in memory.facts.values():
        if fact.document in facts_by_document:
            facts_by_document[fact.document].append(fact)
    documents = ((memory.documents[id], facts) for id, facts in facts_by_document.items())
    return tuple(
        _Requested(_document_part(document), uses.get((document.round, document.call_id)), tuple(facts))
        for document, facts in documents
    )


def _calls(memory: Memory, id: str) -> tuple[_Requested, ...]:
    """Return the results of the calls with this id; a model may have used an id in more than one round."""
    requested = []
    for use in memory.tool_usage:
        if use.call_id == id.strip():
            document_ids = {
                document.id
                for document in memory.documents.values()
                if (document.round, document.call_id) == (use.round, use.call_id)
            }
            facts = tuple(fact for fact in memory.facts.values() if fact.document in document_ids)
            tool = use.substitute or use.tool
            part: Part = {"tool": tool, "call_id": use.call_id, "round": use.round, "position": _ALL}
            requested.append(_Requested(part, use, facts))
    return tuple(requested)


def _document_part(document: Document) -> Part:
    return document.model_dump(include={"tool", "call_id", "round", "position"})


def _fact_part(fact: Fact, memory: Memory) -> Part:
    """Return one fact as a part, without its context."""
    part = {**_document_part(memory.document_of(fact)), "position": fact.position}
    return {**part, "content": from_json(fact.statement) if fact.is_json else fact.statement}


def _existing_ids(memory: Memory) -> str:
    """Return a hint that names existing ids."""
    if not memory.tool_usage:
        return "No result has been stored yet."
    ranges = [f"{ids[0]} to {ids[-1]}" for ids in (list(memory.facts), list(memory.documents)) if ids]
    calls = ", ".join(use.call_id for use in memory.tool_usage[-_CALLS_LISTED_MAX:])
    return f"Give one of these: {', '.join([*ranges, 'or a call such as'])} {calls}."
