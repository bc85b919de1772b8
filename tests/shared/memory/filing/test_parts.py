"""The statements of a tool's result, and their positions."""

from typing import Any

import pytest
from antiphon_shared.memory.filing.parts import FACTS_PER_RESULT_MAX, parts_of
from antiphon_shared.text.storable import storable
from hypothesis import given, settings
from pydantic_core import from_json

from tests.memories import tool_output
from tests.shared.memory.filing.places import value_at

PROSE = "Ada Lovelace was born in London in 1815. She wrote the first program that was ever published."


def stated(data: Any) -> list[tuple[str, str, str]]:
    return [
        (part.title, statement.position, statement.text)
        for part in parts_of(data)
        for statement in part.statements
    ]


@settings(max_examples=200, deadline=None)
@given(tool_output)
def test_text_is_verbatim_and_json_is_part_of_the_value_at_its_position(data: Any) -> None:
    for part in parts_of(data):
        for statement in part.statements:
            value = value_at(data, statement.position)
            if not statement.is_json:
                assert value == statement.text
            elif isinstance(value, dict):
                assert from_json(statement.text).keys() <= value.keys()
            else:
                assert from_json(statement.text) == value or isinstance(value, list)


def test_passages_are_documents_whose_sentences_are_statements() -> None:
    results = [{"title": "Ada Lovelace", "text": PROSE}, {"title": "Tea", "text": "It is hot. " * 9}]
    assert stated({"results": results})[:2] == [
        ("Ada Lovelace", "$.results[0].text[0:40]", "Ada Lovelace was born in London in 1815."),
        ("Ada Lovelace", "$.results[0].text[41:93]", PROSE[41:]),
    ]
    assert [part.position for part in parts_of({"results": results})] == ["$.results[0]", "$.results[1]"]


def test_the_fields_next_to_the_prose_form_one_exact_record() -> None:
    record = {"title": "Ada", "id": 7_000_000_000_000_001, "born": "1815-12-10", "fee": 0.1, "text": PROSE}
    title, position, text = stated([record])[0]
    assert (title, position) == ("Ada", "$[0]")
    assert text == '{"title":"Ada","id":7000000000000001,"born":"1815-12-10","fee":0.1}'


def test_a_short_text_under_a_key_for_prose_is_prose() -> None:
    assert stated([{"title": "Tea", "text": "Tea is a drink of leaves."}]) == [
        ("Tea", "$[0].text[0:25]", "Tea is a drink of leaves.")
    ]
    assert stated([{"title": "Tea", "motto": "Tea is a drink of leaves."}])[0][1] == "$[0]"


def test_prose_is_found_in_nested_values() -> None:
    assert ("Ada", "$.page.body[0:40]", PROSE[:40]) in stated({"name": "Ada", "page": {"body": PROSE}})


def test_headings_in_a_record_are_titles_below_its_own() -> None:
    text = (
        "# Life\n\nShe was born in London in the year 1815.\n\n# Work\n\nShe wrote the first program of all."
    )
    titles = [(part.title, part.position) for part in parts_of([{"title": "Ada", "text": text}])]
    assert titles == [("Ada: Life", "$[0]"), ("Ada: Life: Work", "$[0]")]


def test_a_small_object_around_records_stays_whole() -> None:
    outline = {"course": "MCP", "lessons": [{"title": "Introduction"}]}
    assert stated(outline) == [("MCP", "$", '{"course":"MCP","lessons":[{"title":"Introduction"}]}')]


def test_a_large_object_is_split_into_its_records_and_the_remaining_fields() -> None:
    lessons = [{"title": "A", "code": "x" * 900}, {"title": "B", "code": "y" * 900}]
    found = [(title, position) for title, position, _ in stated({"course": "MCP", "all lessons": lessons})]
    assert found == [("MCP", "$"), ("MCP: A", '$["all lessons"][0]'), ("MCP: B", '$["all lessons"][1]')]


def test_a_large_record_is_split_into_its_members() -> None:
    record = {
        "name": "Ada",
        "tags": ["t" * 9] * 300,
        "inner": {"codes": ["c" * 9] * 300, "n": 1},
        "unit": "EUR",
    }
    parts = parts_of([record])
    assert {part.title for part in parts} == {"Ada"}
    statements = [one for part in parts for one in part.statements]
    assert all(one.is_json and len(one.text) <= 1500 for one in statements)
    whole = " ".join(one.text for one in statements)
    assert whole.count("ttttttttt") == whole.count("ccccccccc") == 300
    assert '"unit":"EUR"' in whole
    assert "$.inner.codes[" in " ".join(one.position for one in statements).replace("$[0]", "$")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (42, "42"),
        (True, "true"),
        ([1, "a"], '[1,"a"]'),
        ({"total": 3, "unit": "EUR"}, '{"total":3,"unit":"EUR"}'),
        (10**30, str(10**30)),
    ],
)
def test_a_plain_result_becomes_one_statement(data: Any, text: str) -> None:
    assert stated(data) == [("", "$", text)]


@pytest.mark.parametrize("nothing", [None, "", "  \n", "[]", " {} ", "null", [], {}, {"results": []}])
def test_an_empty_value_gives_no_statement(nothing: Any) -> None:
    assert stated(nothing) == []


@pytest.mark.parametrize(
    "data",
    [
        [{"n": n} for n in range(4_000)],
        "A line of words.\n\n" * 4_000,
        "## A\nwords\n" * 4_000,
        "# A\n" * 4_000,
        {f"key {n}": PROSE for n in range(1_500)},
        {f"k{n}": [{"text": PROSE}] for n in range(1_500)},
        [PROSE] * 2_000,
        [[n] for n in range(9_000)],
    ],
)
def test_a_very_large_result_is_cut_into_larger_statements(data: Any) -> None:
    statements = [text for *_, text in stated(data)]
    assert 10 < len(statements) <= FACTS_PER_RESULT_MAX
    assert max(map(len, statements)) < 300_000


def test_a_very_long_key_is_not_repeated_in_many_paths() -> None:
    key = "k" * 50_000
    parts = parts_of({key: [{"text": PROSE}] * 3, "n": {key: PROSE, "codes": ["c" * 9] * 900}})
    assert sum(len(statement.position) for part in parts for statement in part.statements) < 150_000


def test_values_outside_json_are_repaired_and_depth_is_bounded() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    assert stated(storable(deep))
    assert stated(storable({"a\ud800": "b\ud800"})) == [("", "$", '{"a?":"b?"}')]
    nested: Any = {"title": "deep"}
    for _ in range(50):
        nested = {"in": [nested], "text": PROSE}
    assert stated(storable(nested))
