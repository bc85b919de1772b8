"""The conditions under which a statement is already known."""

import pytest
from antiphon_shared.memory.filing.sameness import KnownFacts, name_of
from antiphon_shared.memory.session_memory import Memory

from tests.memories import a_memory, a_round

LONG = "Ilsa Brandt built the bridge over the Aker in 1874, which was of steel from Tessin."


def a_search(*passages: tuple[str, str], round: int = 1, tool: str = "search") -> Memory:
    return a_memory(
        *(a_round((tool, {"query": "q"}, [_record(one)]), round=n) for n, one in enumerate(passages, 1))
    )


def _record(passage: tuple[str, str]) -> dict[str, str]:
    return {"title": passage[0], "text": passage[1]}


@pytest.mark.parametrize(
    "again",
    [
        LONG,
        LONG.replace(" ", "  ").removesuffix("."),
        "Ilsa Brandt built the bridge over Aker (in 1874), which also was of steel from “Tessin”!",
    ],
)
def test_the_same_words_in_another_document_are_a_sighting(again: str) -> None:
    memory = a_search(("Bridges", LONG), ("The Aker", again))
    assert list(memory.facts) == ["F1"]
    (sighting,) = memory.sightings
    assert sighting.fact == "F1"
    assert memory.documents[sighting.document].title == "The Aker"
    assert sighting.position == f"$[0].text[0:{len(again)}]"
    assert [use.facts for use in memory.tool_usage] == [("F1",), ("F1",)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1874", "1875"),
        ("which was", "which was not"),
        ("Ilsa", "Veda"),
        ("built", "burnt"),
        ("steel", "iron"),
    ],
)
def test_a_statement_with_one_other_word_is_another_fact(old: str, new: str) -> None:
    assert len(a_search(("Bridges", LONG), ("Bridges", LONG.replace(old, new))).facts) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Acme's net income was 5 million euros.", "Acme's net income was (5) million euros."),
        ("The night was at –5 degrees in the hills.", "The night was at 5 degrees in the hills."),
        ("The night was at – 5 degrees in the hills.", "The night was at 5 degrees in the hills."),
        ("Ilsa Brandt writes her programs in C#.", "Ilsa Brandt writes her programs in C."),
        ("The company gave US staff a day off.", "The company gave us staff a day off."),
        ("Ilsa Brandt joined the A team of Oslo.", "Ilsa Brandt joined the team of Oslo."),
        ("Acme pays staff; never managers of it.", "Acme pays staff never; managers of it."),
        ("Acme pays staff, never managers of it.", "Acme pays staff never, managers of it."),
        ("No. Managers are paid by Acme as well.", "No managers are paid by Acme as well."),
        ("Ilsa Brandt built the Aker bridge?", "Ilsa Brandt built the Aker bridge."),
        ("Ilsa Brandt lives in Bath these days.", "Ilsa Brandt lives in bath these days."),
        ("The rate of Tessin is .5 of all ships.", "The rate of Tessin is 5 of all ships."),
    ],
)
def test_a_statement_with_other_signs_or_capitals_that_change_its_meaning_is_another_fact(
    one: str, other: str
) -> None:
    assert len(a_search(("Acme", one), ("Acme", other)).facts) == 2
    assert len(a_search(("Acme", one), ("Acme", one)).facts) == 1


def test_a_trusted_statement_does_not_merge_into_an_untrusted_one() -> None:
    rounds = [a_round(("t", {}, [_record(("Bridges", LONG))]), round=number) for number in (1, 2, 3)]
    memory = a_memory(*rounds, untrusted={"toolu_10", "toolu_30"})
    assert [memory.document_of(fact).is_untrusted for fact in memory.facts.values()] == [True, False]
    assert [use.facts for use in memory.tool_usage] == [("F1",), ("F2",), ("F2",)]


def test_the_same_words_in_another_order_are_another_fact() -> None:
    first, second = (
        "In the final Alice of Oslo beat Bob of Rome.",
        "In the final Bob of Rome beat Alice of Oslo.",
    )
    assert len(a_search(("Chess", first), ("Chess", second)).facts) == 2


def test_a_sentence_that_depends_on_its_document_is_the_same_only_under_the_same_title() -> None:
    for words in ("He was born in the north of London in 1950.", "The course has five lessons on JSON-RPC."):
        assert len(a_search(("Ann", words), ("Bob", words)).facts) == 2
        assert len(a_search(("Ann", words), ("Ann", words)).facts) == 1
    words = "The Aker rises in the hills to the north of Oslo."
    assert len(a_search(("Ann", words), ("Bob", words)).facts) == 1


def test_a_document_returned_again_by_the_same_tool_adds_no_source() -> None:
    memory = a_search(("Bridges", LONG), ("Bridges", LONG))
    assert len(memory.documents) == len(memory.facts) == 1
    assert memory.sightings == ()
    assert memory.tool_usage[1].facts == ("F1",)


def test_a_text_without_a_title_is_identified_by_its_tool_and_beginning() -> None:
    text = f"{LONG} He was proud of it until the end."
    other = "Veda Marlow was a sailor all her life. He was proud of it until the end."
    memory = a_memory(
        a_round(("read_page", {}, text)),
        a_round(("read_page", {}, text), round=2),
        a_round(("read_page", {}, other), round=3),
    )
    assert [use.facts for use in memory.tool_usage] == [("F1", "F2"), ("F1", "F2"), ("F3", "F4")]


@pytest.mark.parametrize("first_tool", ["read_page", "search"])
def test_a_text_read_again_is_known_even_if_its_first_sentence_came_from_another_source(
    first_tool: str,
) -> None:
    first = "The Aker plant stands in the town of Norwick."
    page = f"{first} It was closed for a year after the flood."
    memory = a_memory(
        a_round((first_tool, {}, f"{first} It employs 300 people in all.")),
        *(a_round(("read_page", {}, page), round=number) for number in range(2, 6)),
    )
    assert [use.facts for use in memory.tool_usage[1:]] == [("F1", "F3")] * 4
    assert (len(memory.documents), len(memory.sightings)) == (2, 1)


def test_a_document_returned_by_another_tool_is_a_separate_source() -> None:
    memory = a_memory(
        a_round(("search", {}, [_record(("Bridges", LONG))])),
        a_round(("read_page", {}, [_record(("Bridges", LONG))]), round=2),
    )
    assert [memory.documents[one.document].tool for one in memory.sightings] == ["read_page"]


def test_a_document_with_one_new_sentence_lists_the_known_ones_as_sightings() -> None:
    memory = a_search(("Bridges", LONG), ("Bridges", f"{LONG} It was torn down in the great war."))
    assert list(memory.facts) == ["F1", "F2"]
    assert [(one.fact, one.document) for one in memory.sightings] == [("F1", "D2")]


def test_a_repeated_sentence_in_one_document_is_one_fact() -> None:
    memory = a_search(("Bridges", f"{LONG} {LONG}"))
    assert (list(memory.facts), memory.sightings) == (["F1"], ())


def test_equal_records_are_the_same_in_any_order_of_keys() -> None:
    memory = a_memory(
        a_round(("t", {}, [{"name": "Ada", "born": 1815}])),
        a_round(("u", {}, [{"born": 1815, "name": "Ada"}]), round=2),
        a_round(("u", {}, [{"born": 1816, "name": "Ada"}]), round=3),
    )
    assert list(memory.facts) == ["F1", "F2"]
    assert [use.facts for use in memory.tool_usage] == [("F1",), ("F1",), ("F2",)]


def test_single_values_of_two_calls_are_two_facts() -> None:
    memory = a_memory(a_round(("count_users", {}, 42), ("count_orders", {}, 42)))
    assert len(memory.facts) == 2


@pytest.mark.parametrize(
    ("title", "tool", "beginning", "is_json", "name"),
    [
        ("  The  Old\nBridge ", "search", LONG, False, "the old bridge"),
        ("The Old Bridge", "read", "{}", True, "the old bridge"),
        ("", "read", "{}", True, ""),
    ],
)
def test_a_document_is_identified_by_its_title_ignoring_case_and_spacing(
    title: str, tool: str, beginning: str, is_json: bool, name: str
) -> None:
    assert name_of(title, tool, beginning, is_json) == name


def test_a_text_without_a_title_is_named_only_by_its_tool_and_its_first_words() -> None:
    named = name_of("", "read", LONG, False)
    assert named == name_of("", "read", LONG.replace(" ", "  "), False)
    assert named != name_of("", "search", LONG, False)
    assert named != name_of("", "read", LONG.replace("1874", "1875"), False)


def test_a_fact_is_found_by_its_origin() -> None:
    memory = a_search(("Bridges", LONG), ("Acme", LONG.replace("1874", "1875")))
    known = KnownFacts.of(memory)
    position = memory.facts["F2"].position
    assert known.fact_at(2, "toolu_20", position) == "F2"
    assert known.fact_at(1, "toolu_20", position) is None
    assert known.fact_at(2, "toolu_10", position) is None
    assert known.fact_at(2, "toolu_20", "$") is None


def test_a_fact_counts_as_seen_only_for_its_tool_and_title() -> None:
    known = KnownFacts.of(a_search(("Bridges", LONG), ("The Aker", LONG)))
    assert known.has_seen("F1", "search", "Bridges")
    assert known.has_seen("F1", "search", "The Aker")
    assert not known.has_seen("F1", "read", "Bridges")
    assert not known.has_seen("F1", "search", "Acme")
    assert not known.has_seen("F2", "search", "Bridges")
