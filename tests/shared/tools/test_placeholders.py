"""The strings that are placeholders for another call's result, and those that are text."""

import pytest
from antiphon_shared.tools.placeholders import (
    PLACEHOLDER_HELP,
    Malformed,
    Reference,
    find,
    has_placeholder,
    parse_placeholder,
    spelled,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("${calls[0]}", Reference(0)),
        ("${calls[12].documents[0].id}", Reference(12, ("documents", 0, "id"))),
        ('${calls[1]["odd key"][2]}', Reference(1, ("odd key", 2))),
        ("${calls[1]['odd key']}", Reference(1, ("odd key",))),
        ('${calls[1]["a \\"quoted\\" \\u00e9 key}"]}', Reference(1, ('a "quoted" é key}',))),
        ("${calls[0].größe.snake_case.kebab-case}", Reference(0, ("größe", "snake_case", "kebab-case"))),
        ('${calls[0]["0"][0]}', Reference(0, ("0", 0))),
    ],
)
def test_a_string_that_is_a_placeholder_as_a_whole_names_a_call_and_a_path(
    text: str, reference: Reference
) -> None:
    assert parse_placeholder(text) == reference


@each_row(
    "text",
    [
        "",
        "$",
        "calls[0]",
        "see ${calls[0]}",
        " ${calls[0]}",
        "${calls[0]} ",
        "${calls[0].first} ${calls[0].last}",
        "$${calls[0]} costs",
        "${call[0]}",
        "${ calls[0]}",
        "${HOME}",
        "${callsign}",
        "$1 {calls[0]}",
    ],
)
def test_text_that_is_not_a_whole_placeholder_is_unchanged(text: str) -> None:
    assert parse_placeholder(text) == text
    assert not has_placeholder({"text": text})


@each_row(
    ("text", "problem"),
    [
        ("${calls[", "the place of a call, counted from 0"),
        ("${calls[]}", "the place of a call, counted from 0"),
        ("${calls[-1]}", "the place of a call, counted from 0"),
        ("${calls[first]}", "the place of a call, counted from 0"),
        ("${calls[01]}", "the place of a call, counted from 0"),
        ("${calls[99999999999]}", "the place of a call, counted from 0"),
        ("${calls[0]", "the } at its end is missing"),
        ("${calls[0].id", "the } at its end is missing"),
        ("${calls[0].documents.0.id}", "up to ${calls[0].documents, but not .0.id}"),
        ("${calls[0].documents[-1]}", "up to ${calls[0].documents, but not [-1]}"),
        ("${calls[0].documents[*].id}", "but not [*].id}"),
        ("${calls[0].}", "but not .}"),
        ("${calls[0] | first}", "but not  | first}"),
        ('${calls[0]["\\q"]}', '["\\q"] is not a quoted key'),
        ("${calls[0]" + "!" * 500, "…"),
    ],
)
def test_a_malformed_placeholder_reports_its_problem(text: str, problem: str) -> None:
    found = parse_placeholder(text)
    assert isinstance(found, Malformed)
    assert problem in found.problem
    assert len(found.problem) < 250
    assert has_placeholder([text]), "it must not travel as text"


@pytest.mark.parametrize(
    "text", ["${calls[0]}", "${calls[0].a.b}", "${calls[x]}", "$${calls[0]}", "$$${calls[0]}"]
)
def test_a_second_dollar_escapes_a_placeholder(text: str) -> None:
    assert parse_placeholder(f"${text}") == text
    assert not has_placeholder(f"${text}")


keys = st.text(max_size=8) | st.from_regex(r"[a-z_][a-z0-9_-]*", fullmatch=True)


@given(st.integers(0, 999), st.lists(keys | st.integers(0, 999), max_size=5))
def test_a_written_reference_is_read_back(call: int, path: list[str | int]) -> None:
    reference = Reference(call, tuple(path))
    assert parse_placeholder(str(reference)) == reference


@given(st.text(alphabet="${}[]calls0.\"'\\ ", max_size=30) | st.text())
def test_any_text_can_be_given(text: str) -> None:
    """A text in the form of a placeholder, or of an escaped one, needs one more dollar."""
    if parse_placeholder(text) == text:
        return
    assert parse_placeholder(f"${text}") == text


def test_placeholders_are_found_at_any_depth_in_order() -> None:
    arguments = {
        "ids": ["${calls[0].id}", {"deep": ["x", "${calls[2]}"]}],
        "odd key": "${calls[",
        "${calls[7]}": "a key is never one",
        "n": 3,
        "escaped": "$${calls[0]}",
    }
    found = [(spelled(path), placeholder) for path, placeholder in find(arguments)]
    assert found[:2] == [
        (".ids[0]", Reference(0, ("id",))),
        (".ids[1].deep[1]", Reference(2)),
    ]
    assert [where for where, _ in found[2:]] == ['["odd key"]']
    assert has_placeholder(arguments)


def test_arguments_nested_beyond_any_stack_can_be_searched() -> None:
    nested: object = "${calls[0]}"
    for _ in range(5_000):
        nested = [nested]
    assert has_placeholder(nested)


def test_the_help_for_the_model_shows_valid_placeholders() -> None:
    assert "${calls[0].documents[0].id}" in PLACEHOLDER_HELP
    assert parse_placeholder("${calls[0].documents[0].id}") == Reference(0, ("documents", 0, "id"))
    assert '${calls[1]["odd key"]}' in PLACEHOLDER_HELP
    assert parse_placeholder('${calls[1]["odd key"]}') == Reference(1, ("odd key",))
    assert "$${calls[0]}" in PLACEHOLDER_HELP
