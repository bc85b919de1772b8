"""The validity of an answer's cited facts: superseded or contradicted ones are reported. Pure."""

from collections.abc import Iterator, Mapping
from itertools import islice

from antiphon_shared.events.session import Uncertainty
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import one_line

from response_assembler.uncertainty import uncertain

DOUBTS_MAX = 5
_SHOWN_CHARACTERS = 120


def outdated_facts(memory: Memory, numbers: Mapping[str, int]) -> Iterator[Uncertainty]:
    """Yield at most DOUBTS_MAX uncertainties of each kind; none for a fact if the later one is cited too."""
    yield from islice(_superseded(memory, numbers), DOUBTS_MAX)
    yield from islice(_contradicted(memory, numbers), DOUBTS_MAX)


def latest(memory: Memory, id: str) -> str:
    """Return the fact that has replaced `id`: itself when none supersedes it."""
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
    return f"“{one_line(memory.facts[id].statement, _SHOWN_CHARACTERS).rstrip('.')}”"
