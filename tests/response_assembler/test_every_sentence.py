"""An answer's gaps, sources and uncertainties, for every ending and failure: every_sentence.json.

After an intended change, run `python -m tests.response_assembler.test_every_sentence`, and review the output.
"""

from inspect import formatannotation
from pathlib import Path
from typing import Any, get_args

from antiphon_shared.events.session import TerminationReason
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.tools.calls import ErrorType

from response_assembler import fact_validity, missing, partial, quote, sources, uncertainty
from response_assembler.closeness import grouped
from response_assembler.missing import Gaps
from response_assembler.uncertainty import KINDS, uncertain
from tests.kept_forms import Reader, differences, write
from tests.memories import Call, a_course_memory, a_memory, a_round, an_error
from tests.rows import each_row
from tests.sampled import readers_of_samples

KEPT = Path(__file__).with_name("every_sentence.json")
_REASONS = get_args(TerminationReason)
_LONG = "a" * 299 + " b"


def _failing(error_type: str, count: int = 1, message: str = "It says so.") -> Memory:
    """Return a memory in which as many tools have failed."""
    calls: list[Call] = [
        (f"tool_{n}", {"query": f"lamp {n}"}, an_error(error_type, message)) for n in range(count)
    ]
    return a_memory(a_round(*calls), question="Who keeps the lamp?")


def _differing(*texts: str) -> Memory:
    """Return a memory of texts from several rounds."""
    rounds = [a_round(("read", {"page": n}, text), round=n) for n, text in enumerate(texts, 1)]
    return a_memory(
        *rounds, question="How many lamps has the Aker Mole? Who keeps it?", untrusted=("toolu_10",)
    )


_MEMORIES = (
    Memory.of("Who keeps the lamp?"),
    a_course_memory(),
    *map(_failing, get_args(ErrorType)),
    *(_failing("timeout", count) for count in (2, 3, 4, 7, 12)),
    _failing("api_failure", message=_LONG),
    _differing("The Aker Mole has 40 lamps.", "The Aker Mole has 41 lamps."),
    _differing(
        "In 2021 the Aker Mole has 40 lamps.", "In 2023 the Aker Mole has 41 lamps.", "Ada keeps the mole."
    ),
    _differing(*(f"Lamp {n} of the mole is lit at night." for n in range(14))),
    _differing(_LONG, f"# {_LONG}\n\n{_LONG}"),
)
_UNCERTAINTIES = (
    *map(uncertain, KINDS),
    uncertain("deadline_exceeded", _LONG),
    uncertain("tool_failed", "It is down.", "find"),
)
_SAMPLES: dict[str, tuple[Any, ...]] = {
    "str": ("F1", "F2", "tool_failed", "", _LONG),
    "int": (0, 1, 40),
    "bool": (False, True),
    "Memory": _MEMORIES,
    "Gaps": tuple(
        Gaps(memory, grouped(memory, ()), unfinished, uncertainties)
        for memory in _MEMORIES
        for uncertainties in ((), _UNCERTAINTIES)
        for unfinished in ((), (("c1", "find"),), tuple((f"c{n}", "find") for n in range(9)))
    ),
    formatannotation(TerminationReason): _REASONS,
    "Uncertainty": _UNCERTAINTIES,
    "Iterable[Uncertainty]": ((), _UNCERTAINTIES, _UNCERTAINTIES * 2),
    "Mapping[str, int]": ({}, {"F1": 1}, {"F2": 1, "F1": 2}),
    "Sequence[tuple[str, str]]": ((), (("c1", "find"),)),
    "Document": tuple(one for memory in _MEMORIES for one in memory.documents.values())[:20],
    "Fact": tuple(one for memory in _MEMORIES for one in memory.facts.values())[:40],
}
"""Samples by the annotation of a parameter."""
READERS = tuple(
    reader
    for module in (missing, partial, quote, sources, fact_validity, uncertainty)
    for reader in readers_of_samples(module, _SAMPLES)
)


@each_row("reader", READERS, ids=str)
def test_the_text_of_every_sentence_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
