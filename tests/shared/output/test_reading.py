"""The one JSON value in a model's words."""

import json
from typing import Any

import orjson
import pytest
from antiphon_shared.events.session import Response
from antiphon_shared.output.reading import read_answer
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from tests.memories import hostile_text
from tests.rows import each_row


@each_row(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        (' [1, 2]\n', [1, 2]),
        ('"blue"', "blue"),
        ("null", None),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('Voici la réponse :\n\n```\n{"a": "é"}\n```\nBonne journée !', {"a": "é"}),
        ('Sure, see [1]: {"a": {"b": [1]}} is what I found.', {"a": {"b": [1]}}),
        ('{"a": 1} and once more {"a": 1}', {"a": 1}),
        ("{not this} but {\"a\": 1}", {"a": 1}),
        ("{not this} " * 1_000 + '{"a": 1}', {"a": 1}),
        ('{"a": 1}' + " {not this}" * 1_000 + ' {"a": 1}', {"a": 1}),
    ],
)  # fmt: skip  # one form for all rows
def test_one_value_is_read_from_any_surrounding_text(text: str, value: Any) -> None:
    given = read_answer(text)
    assert (given.value, given.problem) == (value, "")


@each_row(
    ("text", "problem"),
    [
        ("", "It holds no JSON"),
        ("It is the blue one.", "It holds no JSON"),
        ('{"a": 1} {"a": 2}', "It holds 2 JSON values"),
        ('{"a": 1} {"a": true}', "It holds 2 JSON values"),
        ('{"a": 1', "It is not complete JSON: expecting ',' delimiter at character 8"),
        ('{"a": NaN}', "NaN is not a number in JSON"),
        ('{"a": 1, "a": 2}', "an object has the same property twice"),
        ('{"a": {"b": 1}, "c": NaN}', "NaN is not a number"),
        ("[" * 100_000, "It is not complete JSON"),
        ("[" * 65 + "]" * 65, "it has more than 64 levels"),
        ('{"a": [{"b": 1}, {"c": 2', "It is not complete JSON"),
        ("{not this} " * 1_000 + '{"a": 1', "expecting ',' delimiter at character 11008"),
        ('{"a": 1}' + " {not this}" * 1_000 + ' {"a": 2}', "It holds 2 JSON values"),
        ('Here it is: {"a": [{"b": 1}], "c": "and', "It is not complete JSON: unterminated string"),
        ('{"a": [{"b": 1}], }', "It is not complete JSON"),
        (f'{{"a": {"9" * 5_000}}}', "needs more than 64 bits"),
        ('{"a": 18446744073709551616}', "needs more than 64 bits"),
        ('{"a": 1e999}', "the number 1e999 is too large"),
        (r'{"a": "\ud83d"}', "half a character"),
        (r'{"\ud83d": 1}', "half a character"),
    ],
)  # fmt: skip  # one form for all rows
def test_text_that_is_not_one_value_is_explained_for_the_model(text: str, problem: str) -> None:
    given = read_answer(text)
    assert given.value is None
    assert problem in given.problem


@pytest.mark.parametrize(
    "text",
    [
        "```" + "\n" * 200_000 + "x",
        "x " + '{"a":[' * 60 + '{"a":1},' * 30_000 + "x",
        "x " + "[" * 60 + "1," * 100_000 + "x",
        "[1, x " * 50_000,
        "{ " * 100_000,
    ],
)
def test_a_long_text_is_scanned_once_and_not_from_each_bracket(text: str) -> None:
    """Read from each on, some of these would take minutes."""
    assert read_answer(text).problem or read_answer(text).value


def test_an_answer_survives_every_reader_and_writer_of_the_pipeline() -> None:
    text = f'{{"a": [{2**64 - 1}, {-(2**63)}, 1.5e308, "\U0001f600"]}}'
    value = read_answer(text).value
    assert orjson.loads(to_json(value)) == value
    deepest = read_answer("[" * 64 + "]" * 64).value
    assert (
        Response.model_validate_json(
            Response(
                session_id="s1",
                status="complete",
                answer="",
                result=deepest,
                termination_reason="natural_completion",
                rounds_used=1,
                tool_calls_used=0,
                duration_ms=0,
            ).model_dump_json()
        ).result
        == deepest
    )


@given(hostile_text)
def test_no_text_is_too_strange(text: str) -> None:
    read_answer(text)
    read_answer("{" + text)


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text()


@given(st.recursive(SCALARS, lambda part: st.lists(part) | st.dictionaries(st.text(), part)))
def test_an_answer_written_as_json_is_read_unchanged(value: Any) -> None:
    assert read_answer(json.dumps(value)).value == value
