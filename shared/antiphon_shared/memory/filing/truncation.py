"""The part of a round's delta that is stored when the session's memory is nearly full. Pure."""

from collections.abc import Collection
from itertools import takewhile

from antiphon_shared.memory.briefing import id_ranges, ids_in
from antiphon_shared.memory.layers import Fact, MemoryDelta, Sighting, ToolUse
from antiphon_shared.values import Value


def truncate_delta(delta: MemoryDelta, bytes_max: int) -> MemoryDelta:
    """Return `delta` with as many of its first facts as fit; the tool usage counts the others.

    Reasoning and tool usage are always stored. Documents stay up to the last one of a stored fact or
    sighting, so that ids have no gaps.
    """
    stored = _Stored(delta, bytes_max)
    facts = list(takewhile(lambda fact: stored.take(fact), delta.facts))
    lost = {fact.id for fact in delta.facts[len(facts) :]}
    sightings_of_stored = (one for one in delta.sightings if one.fact not in lost)
    sightings = list(takewhile(lambda sighting: stored.take(sighting), sightings_of_stored))
    return delta.model_copy(
        update={
            "documents": delta.documents[: stored.documents],
            "facts": tuple(facts),
            "sightings": tuple(sightings),
            "tool_usage": tuple(_use_without(use, lost) for use in delta.tool_usage),
        }
    )


class _Stored:
    """The remaining bytes, and the number of stored documents."""

    def __init__(self, delta: MemoryDelta, bytes_max: int) -> None:
        self.documents = 0
        self._sizes = [_size(one) for one in delta.documents]
        self._numbers = {one.id: number for number, one in enumerate(delta.documents, 1)}
        self._left = bytes_max - _size(delta.model_copy(update=_NO_FACTS))

    def take(self, one: Fact | Sighting) -> bool:
        """Take the space of a fact or sighting and of the documents up to its own; return whether it fits."""
        documents = max(self.documents, self._numbers.get(one.document, 0))
        size = _size(one) + sum(self._sizes[self.documents : documents])
        if size > self._left:
            return False
        self._left -= size
        self.documents = documents
        return True


_NO_FACTS = {"documents": (), "facts": (), "sightings": ()}


def _size(value: Value) -> int:
    """Return the bytes of a value as JSON, with the comma after it."""
    return len(value.model_dump_json().encode()) + 1


def _use_without(use: ToolUse, lost: Collection[str]) -> ToolUse:
    ids = ids_in(use.facts)
    stored = tuple(id for id in ids if id not in lost)
    missing = len(ids) - len(stored)
    if not missing:
        return use
    message = f"{missing} of its {len(ids)} facts not kept: the session's memory is full"
    return use.model_copy(update={"facts": id_ranges(stored), "facts_lost": missing, "message": message})
