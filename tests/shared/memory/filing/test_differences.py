"""Statements that supersede or contradict known facts."""

from typing import Any

import pytest
from antiphon_shared.memory.session_memory import Memory

from tests.memories import a_memory, a_round


def filed(*results: Any) -> Memory:
    """File one result per round."""
    return a_memory(*(a_round(("search", {"query": "q"}, one), round=n) for n, one in enumerate(results, 1)))


def passages(
    first: str, second: str, titles: tuple[str, str] = ("Harbour of Tessin", "Harbour of Tessin")
) -> Memory:
    return filed([{"title": titles[0], "text": first}], [{"title": titles[1], "text": second}])


def relations(memory: Memory) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    newest = list(memory.facts.values())[-1]
    return newest.supersedes, newest.superseded_by, newest.contradicts


NONE: tuple[Any, Any, Any] = ((), (), ())


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ("As of March 2024, the harbour has 12 cranes.", "As of May 2025, the harbour has 15 cranes."),
        ("Since 2021 the harbour employs 1,200 people.", "Since 2023 the harbour employs 950 people."),
        ("In 2021 the harbour currently holds 12 ships.", "In 2023 the harbour currently holds 15 ships."),
        ("The fee is 12 euros (as of March 2024).", "The fee is 15 euros (as of May 2025)."),
        ("The fee is 12 euros, updated March 2024.", "The fee is 15 euros, updated May 2025."),
        ("As of 2024-03-01 the fee is $49 per ship.", "As of 2024-03-02 the fee is $59 per ship."),
        (
            "As of 12 March 2024 the harbour had six cranes.",
            "As of April 1, 2024 the harbour had eight cranes.",
        ),
    ],
)
def test_a_later_date_supersedes_whichever_comes_first(early: str, late: str) -> None:
    assert relations(passages(early, late)) == (("F1",), (), ())
    assert relations(passages(late, early)) == ((), ("F1",), ())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The harbour has 12 cranes on its piers.", "The harbour has 15 cranes on its piers."),
        ("The harbour takes twelve ships a night.", "The harbour takes eleven ships a night."),
        ("The harbour supports ships of all sizes.", "The harbour does not support ships of all sizes."),
        ("The harbour is open to sailing boats.", "The harbour isn't open to sailing boats."),
        ("As of 2024 the harbour has 12 cranes.", "As of 2024 the harbour has 15 cranes."),
    ],
)
def test_another_value_without_a_deciding_date_contradicts(one: str, other: str) -> None:
    assert relations(passages(one, other)) == ((), (), ("F1",))
    assert relations(passages(other, one)) == ((), (), ("F1",))


def test_a_named_subject_needs_no_common_title() -> None:
    one, other = "The Tessin Bridge is 120 metres long.", "The Tessin Bridge is 140 metres long."
    assert relations(passages(one, other, ("Tessin Bridge", "The Tessin Bridge today"))) == (
        (),
        (),
        ("F1",),
    )
    assert relations(filed(f"{one} It is old and green.", f"{other} It is old and grey."))[2] == ("F1",)
    unnamed = "The bridge is 120 metres long and green.", "The bridge is 140 metres long and green."
    assert relations(filed(*unnamed)) == NONE
    newest = filed(one, other).facts["F2"]
    assert newest.contradicts == ("F1",)
    assert relations(passages(one, other, ("Bridges", "The river"))) == NONE


@pytest.mark.parametrize("titles", [("Acme", "Globex"), ("", ""), ("Revenue in Europe: Acme", "Globex")])
def test_a_capital_at_the_beginning_of_a_sentence_names_no_subject(titles: tuple[str, str]) -> None:
    one = "As of March 2020, revenue in Europe was 5 million dollars."
    other = "As of March 2021, revenue in Europe was 7 million dollars."
    assert relations(passages(one, other, titles)) == NONE
    one, other = "Revenue in Europe was 5 million dollars.", "Revenue in Europe was 7 million dollars."
    assert relations(passages(one, other, titles)) == NONE


def test_a_month_names_no_subject() -> None:
    one, other = "In August 2010 the firm employed 65,900.", "In August 2015 the firm employed 65,000."
    assert relations(passages(one, other, ("Corwen & Sons", "Marlow & Sons"))) == NONE
    one, other = "Sales in August reached 12 million euros.", "Sales in August reached 15 million euros."
    assert relations(passages(one, other, ("Corwen & Sons", "Marlow & Sons"))) == NONE


def test_reports_of_two_dates_have_one_subject() -> None:
    one, other = "As of August 2010 the firm employed 65,900.", "As of August 2015 the firm employed 65,000."
    titles = ("Corwen & Sons: report of 16 August 2010", "Corwen & Sons: report of 2 August 2015")
    assert relations(passages(one, other, titles)) == (("F1",), (), ())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The harbour has 12 cranes on its piers.", "The harbour has 15 ships on its piers."),
        ("Lesson 3 is about harbours and piers.", "Lesson 4 is about harbours and piers."),
        ("In 1990 the captain won the regatta.", "In 1994 the captain won the regatta."),
        ("In 1990 the captain won 3 regattas.", "In 1994 the captain won 4 regattas."),
        ("In 2019 Acme's profit was 5 million euros.", "In 2020 Acme's profit was 7 million euros."),
        ("In 2019 the final was won by 3 goals to 2.", "In 2020 the final was won by 4 goals to 2."),
        ("In August 2010 the firm employed 65,900.", "In August 2015 the firm employed 65,000."),
        ("During 2021 the harbour had 12 cranes.", "During 2022 the harbour had 15 cranes."),
        ("Since 2010 the club has won 3 prizes.", "Since 2015 the club has won 5 prizes."),
        ("A Boeing 737 has one deck for all.", "A Boeing 747 has one deck for all."),
        ("The harbour uses C and has 5 cranes.", "The harbour uses C# and has 6 cranes."),
        ("I have 12 ships in the harbour today.", "I have 15 ships in the harbour today."),
        ("Ann: the harbour has 12 cranes.", "Ann: the harbour has 15 cranes."),
        ("Does the harbour have 12 cranes?", "Does the harbour have 15 cranes?"),
        ("From 1900 to 1910 it had 12 cranes.", "From 1910 to 1920 it had 15 cranes."),
        ("The harbour has 1,200 metres of pier.", "The harbour has 1200 metres of pier!"),
        ("As of 2024 the harbour has 12 cranes.", "As of March 2024 the fees are 12 euros."),
    ],
)
def test_statements_that_may_differ_in_subject_are_not_compared(one: str, other: str) -> None:
    assert relations(passages(one, other)) == NONE


def test_sentences_of_unlike_documents_are_not_compared() -> None:
    one, other = "The course takes 12 hours in all.", "The course takes 15 hours in all."
    assert relations(passages(one, other, ("MCP", "Agents"))) == NONE
    assert relations(passages(one, other, ("Introduction", "Introduction"))) == NONE


def test_a_list_within_one_document_does_not_contradict_itself() -> None:
    text = "The first room has 3 windows in it. The first room has 4 windows in it."
    assert relations(filed([{"title": "House", "text": text}])) == NONE


@pytest.mark.parametrize(
    ("early", "late"),
    [
        ({"name": "Tessin", "people": 9000, "as_of": "2020"}, {"name": "Tessin", "people": 9, "as_of": "2022-01-01"}),
        ({"id": "c-10", "fee": 4, "updated_at": "2024-01-01T10:00:00Z"},
         {"id": "c-10", "fee": 5, "updated_at": "2024-02-01T09:00:00Z"}),
        ({"id": 7, "fee": 49, "year": 2021}, {"id": 7, "fee": 59, "year": 2022}),
    ],
)  # fmt: skip  # one pair a line
def test_a_record_of_a_later_date_supersedes_whichever_comes_first(early: Any, late: Any) -> None:
    assert relations(filed([early], [late])) == (("F1",), (), ())
    assert relations(filed([late], [early])) == ((), ("F1",), ())


@pytest.mark.parametrize("untrusted", [1, 2])
def test_untrusted_content_supersedes_no_other(untrusted: int) -> None:
    early, late = ("As of 2024, the harbour has 12 cranes.", "As of 2030, the harbour has 99 cranes.")
    rounds = [(1, early), (2, late)] if untrusted == 2 else [(1, late), (2, early)]
    memory = a_memory(
        *(a_round(("t", {}, [{"title": "Tessin", "text": text}]), round=number) for number, text in rounds),
        untrusted={f"toolu_{untrusted}0"},
    )
    assert relations(memory) == ((), (), ("F1",))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"name": "Ada Lovelace", "age": 36}, {"name": "Ada Lovelace", "age": 37}),
        ({"id": "c-100200", "fee": 49, "teacher": "Ada"}, {"id": "c-100200", "fee": 49, "teacher": "Bob"}),
        ({"name": "Tessin", "people": 1, "as_of": "2020"}, {"name": "Tessin", "people": 2, "as_of": "2020"}),
    ],
)
def test_a_record_with_another_value_contradicts(one: Any, other: Any) -> None:
    assert relations(filed([one], [other])) == ((), (), ("F1",))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"course": "MCP", "lesson": 1, "minutes": 5}, {"course": "MCP", "lesson": 2, "minutes": 9}),
        ({"title": "MCP", "lesson": 1, "minutes": 5}, {"title": "MCP", "lesson": 2, "minutes": 9}),
        ({"title": "MCP", "page": 1, "words": 5}, {"title": "MCP", "page": 2, "words": 9}),
        ({"title": "MCP", "url": "https://a.example"}, {"title": "MCP", "url": "https://b.example"}),
        ({"title": "MCP", "score": 0.5}, {"title": "MCP", "score": 0.7}),
        ({"id": 1, "name": "Ada", "age": 3}, {"id": 1, "name": "Bob", "age": 4}),
        ({"name": "Jo", "age": 3, "pets": 1, "job": "a"}, {"name": "Jo", "age": 4, "pets": 2, "job": "b"}),
        ({"id": 1, "size": 3}, {"id": 1, "colour": "red", "size": 4, "weight": 2, "legs": 4}),
        ({"name": "Tessin", "people": 1}, {"name": "Tessin", "people": 1.0}),
    ],
)
def test_records_that_may_describe_different_things_are_not_compared(one: Any, other: Any) -> None:
    assert relations(filed([one], [other])) == NONE


def test_records_of_different_tools_are_the_same_only_by_a_unique_id() -> None:
    def relations_of(id: Any) -> Any:
        record = {"id": id, "status": "gold", "owner": "Ada Holm 1", "date": "2020-01-01"}
        later = record | {"status": "shipped", "date": "2024-05-01"}
        return relations(a_memory(a_round(("crm", {}, [record])), a_round(("orders", {}, [later]), round=2)))

    for count in (1, 4711, "gold", "AB"):
        assert relations_of(count) == NONE
    for code in ("c-100200", 100200, "123e4567-e89b-12d3-a456-426614174000"):
        assert relations_of(code) == (("F1",), (), ())


def test_records_of_one_name_in_one_result_are_a_list() -> None:
    records = [{"name": "Oslo", "degrees": degrees} for degrees in (3, 5, 8)]
    assert relations(filed(records)) == NONE


def test_a_claim_is_compared_with_several_similar_ones_and_not_only_the_newest() -> None:
    """Subjects whose reports come in turns."""
    early = [
        ("Tessin", "As of March 2024, the harbour has 12 cranes."),
        ("Calden", "As of March 2024, the harbour has 9 cranes."),
    ]
    memory = filed(
        *([{"title": f"Harbour of {town}", "text": text}] for town, text in early),
        [{"title": "Harbour of Tessin", "text": "As of May 2025, the harbour has 15 cranes."}],
    )
    assert relations(memory) == (("F1",), (), ())
