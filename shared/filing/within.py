"""What of a round's delta is kept where the session's memory is nearly full. Pure."""

from collections.abc import Collection

from shared.briefing import id_ranges, ids_in
from shared.memory import Fact, MemoryDelta, Sighting, ToolUse
from shared.values import Value


def keep_within(delta: MemoryDelta, bytes_max: int) -> MemoryDelta:
    """`delta` with as many of its facts, the first ones first, as fit; the usage says what was not kept.

    What the model said and which tools it used is kept whatever it takes.
    """
    documents = {one.id: one for one in delta.documents}
    left = bytes_max - _size(delta.model_copy(update={"documents": (), "facts": (), "sightings": ()}))
    facts: list[Fact] = []
    sightings: list[Sighting] = []
    kept_documents: set[str] = set()
    for fact in delta.facts:
        left -= _size(fact) + _size_of_new(fact.document, documents, kept_documents)
        if left < 0:
            break
        facts.append(fact)
        kept_documents.add(fact.document)
    lost = {fact.id for fact in delta.facts[len(facts) :]}
    for sighting in delta.sightings:
        if sighting.fact in lost:
            continue
        left -= _size(sighting) + _size_of_new(sighting.document, documents, kept_documents)
        if left < 0:
            break
        sightings.append(sighting)
        kept_documents.add(sighting.document)
    return delta.model_copy(
        update={
            "documents": tuple(one for one in delta.documents if one.id in kept_documents),
            "facts": tuple(facts),
            "sightings": tuple(sightings),
            "tool_usage": tuple(_use_without(use, lost) for use in delta.tool_usage),
        }
    )


def _size(value: Value) -> int:
    """Bytes as JSON, with the comma behind."""
    return len(value.model_dump_json().encode()) + 1


def _size_of_new(id: str, documents: dict[str, Value], kept: Collection[str]) -> int:
    return _size(documents[id]) if id in documents and id not in kept else 0


def _use_without(use: ToolUse, lost: Collection[str]) -> ToolUse:
    told = ids_in(use.facts)
    kept = tuple(id for id in told if id not in lost)
    missing = len(told) - len(kept)
    if not missing:
        return use
    said = f"{missing} of its {len(told)} facts not kept: the session's memory is full"
    return use.model_copy(update={"facts": id_ranges(kept), "facts_lost": missing, "message": said})
