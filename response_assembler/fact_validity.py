"""Uncertainties about cited facts that are superseded or contradicted. Pure."""

from collections.abc import Iterator, Mapping
from itertools import islice

from antiphon_shared.events.session import Uncertainty
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import one_line

from response_assembler.uncertainty import uncertain

UNCERTAINTIES_MAX = 5
_QUOTE_CHARACTERS = 120


def outdated_facts(memory: Memory, numbers: Mapping[str, int]) -> Iterator[Uncertainty]:
    """Yield at most UNCERTAINTIES_MAX of each kind; a superseded fact is not reported if the later one is cited."""
    yield from islice(_superseded(memory, numbers), UNCERTAINTIES_MAX)
    yield from islice(_contradicted(memory, numbers), UNCERTAINTIES_MAX)


def latest(memory: Memory, id: str) -> str:
    """Return the newest fact that supersedes `id`, or `id` itself."""
    seen = {id}
    while (later := memory.superseded.get(id, id)) not in seen and later in memory.facts:
        seen.add(later)
        id = later
    return id


def _superseded(memory: Memory, numbers: Mapping[str, int]) -> Iterator[Uncertainty]:
    for id, number in numbers.items():
        later = latest(memory, id)
        if later == id or later in numbers:
            continue
        message = f"The answer cites [{number}], {_quoted(memory, id)}; a later source says {_quoted(memory, later)}."
        yield uncertain("superseded_cited", message, f"{id}, {later}")


def _contradicted(memory: Memory, numbers: Mapping[str, int]) -> Iterator[Uncertainty]:
    reported: set[frozenset[str]] = set()
    for id, number in numbers.items():
        for other in memory.contradicted.get(id, ()):
            if other not in memory.facts or frozenset((id, other)) in reported:
                continue
            reported.add(frozenset((id, other)))
            if other in numbers:
                message = (
                    f"[{number}] and [{numbers[other]}] contradict each other, and no date decides between them:"
                    f" {_quoted(memory, id)}, {_quoted(memory, other)}."
                )
            else:
                message = (
                    f"The answer cites [{number}], {_quoted(memory, id)}; another source, which it does not"
                    f" cite, says {_quoted(memory, other)}."
                )
            yield uncertain("contradicted", message, f"{id}, {other}")


def _quoted(memory: Memory, id: str) -> str:
    return f"“{one_line(memory.facts[id].statement, _QUOTE_CHARACTERS).rstrip('.')}”"
