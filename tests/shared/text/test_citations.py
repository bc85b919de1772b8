"""Citations as the model writes them, and bounds on the ids they name."""

import pytest
from antiphon_shared.memory.layers import MemoryDelta, ReasoningNote
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.citations import cited_ids

from tests.response_assembler.builders import some_facts

_IDS_MAX = 2_100
"""A little more than two runs of the longest kind."""


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("It is so [F3].", ("F3",)),
        ("[F1, F2] and [ F2 ; 7 ]", ("F1", "F2", "F7")),
        ("[F4-F6] [F8–9] [F1 and F2]", ("F4", "F5", "F6", "F8", "F9", "F1", "F2")),
        ("[3] [x F3] F3 [F]", ()),
    ],
)
def test_a_citation_names_its_facts_in_the_order_of_the_text(text: str, ids: tuple[str, ...]) -> None:
    assert cited_ids(text) == ids


@pytest.mark.parametrize(
    "text",
    [
        "[F1-F50000]",
        f"[{','.join(f'F{n * 1000}-F{n * 1000 + 999}' for n in range(50))}]",
        "".join(f"[F{n * 1000}-F{n * 1000 + 999}]" for n in range(50)),
        f"[{','.join(f'F{n}' for n in range(10_000))}]",
    ],
    ids=["one run", "runs in one citation", "runs in many", "single ids"],
)
def test_a_bounded_number_of_cited_ids_is_read(text: str) -> None:
    assert 1_000 <= len(cited_ids(text)) <= _IDS_MAX


def test_a_range_that_is_too_long_cites_its_ends() -> None:
    assert {"F1", "F50000"} <= {*cited_ids("[F1-F50000]")}


def test_a_memory_cites_only_existing_facts_named_in_its_notes() -> None:
    memory: Memory = some_facts(3).plus(
        MemoryDelta(reasoning=(ReasoningNote(round=1, text="So it is [F2, F9]."),))
    )
    assert memory.cited == {"F2"}
    later = memory.plus(MemoryDelta(reasoning=(ReasoningNote(round=2, text="And [F3]."),)))
    assert later.cited == {"F2", "F3"}
