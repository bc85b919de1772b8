"""The facts kept when memory is nearly full."""

from antiphon_shared.memory.briefing import ids_in
from antiphon_shared.memory.filing import file_round, truncate_delta
from antiphon_shared.memory.layers import Document, Fact, MemoryDelta, Sighting
from antiphon_shared.memory.session_memory import Memory
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memories import a_memory, a_round

PASSAGES = [
    {
        "title": f"Bridge {n}",
        "text": f"Bridge {n} was built of steel. Its span measures {n}0 metres in all. It is red.",
    }
    for n in range(9)
]


def a_delta() -> tuple[Memory, MemoryDelta]:
    memory = a_memory(a_round(("search", {}, PASSAGES[:3])))
    again = {"title": "Steel", "text": PASSAGES[8]["text"]}
    reasoning, results = a_round(
        ("look_up", {}, PASSAGES[2:]), ("read", {}, again), ("count", {}, {"total": 7}), round=2
    )
    return memory, file_round(memory, reasoning, results)


def test_a_delta_that_fits_is_unchanged() -> None:
    _, delta = a_delta()
    assert truncate_delta(delta, 1_000_000) == delta


def test_a_truncated_delta_keeps_the_first_facts_and_counts_the_others() -> None:
    _, delta = a_delta()
    kept = truncate_delta(delta, len(delta.model_dump_json()) // 2)
    assert 0 < len(kept.facts) < len(delta.facts)
    assert kept.facts == delta.facts[: len(kept.facts)]
    lost = len(delta.facts) - len(kept.facts)
    look_up, _, count = kept.tool_usage
    assert (count.facts, count.facts_lost) == ((), 1)
    assert count.message == "1 of its 1 facts not kept: the session's memory is full"
    named = len(ids_in(delta.tool_usage[0].facts))
    assert len(ids_in(look_up.facts)) == named - look_up.facts_lost
    assert look_up.message.startswith(f"{look_up.facts_lost} of its {named} facts not kept")
    assert 0 < look_up.facts_lost < lost
    assert kept.reasoning == delta.reasoning


def test_a_truncated_fact_has_no_sightings() -> None:
    document = Document(id="D1", round=1, call_id="c", tool="t", position="$")
    facts = [
        Fact(id=id, document="D1", position="$", statement=text)
        for id, text in (("F1", "a"), ("F2", "b" * 900))
    ]
    sightings = [Sighting(fact=fact.id, document="D1", position="$[0:1]") for fact in facts]
    delta = MemoryDelta(documents=(document,), facts=tuple(facts), sightings=tuple(sightings))
    kept = truncate_delta(delta, 900)
    assert (kept.facts, kept.sightings) == ((facts[0],), (sightings[0],))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 6_000))
def test_a_truncated_delta_fits_has_no_dangling_ids_and_keeps_ids_consecutive(bytes_max: int) -> None:
    memory, delta = a_delta()
    kept = truncate_delta(delta, bytes_max)
    bare = delta.model_copy(update={"documents": (), "facts": (), "sightings": ()})
    usage_bytes = 200  # what the usage says of what was lost
    assert len(kept.model_dump_json().encode()) <= max(bytes_max, len(bare.model_dump_json())) + usage_bytes
    after = memory.plus(kept)
    assert list(after.facts) == [f"F{n}" for n in range(1, len(after.facts) + 1)]
    assert list(after.documents) == [f"D{n}" for n in range(1, len(after.documents) + 1)]
    for use in kept.tool_usage:
        assert set(ids_in(use.facts)) <= after.facts.keys()
    assert {one.document for one in kept.facts} <= after.documents.keys()
    assert {one.document for one in kept.sightings} <= after.documents.keys()
    assert all(sighting.fact in after.facts for sighting in kept.sightings)
