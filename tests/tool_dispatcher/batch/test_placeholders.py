"""The values of placeholders among arguments, and the errors of those without a value."""

from typing import Any

import pytest
from antiphon_shared.tools.calls import ToolError, ToolResult

from tests.rows import each_row
from tests.tool_dispatcher.batch.builders import a_call, a_failure, a_plan, error_in, ok
from tool_dispatcher.batch import failed, resolve, start
from tool_dispatcher.batch.placeholders import VALUES_BYTES_MAX, outlined

FOUND = {
    "documents": [{"id": "d1", "n": 1}, {"id": "d2", "n": 2.5}],
    "odd key": [None, True, "x"],
    "secret": "hunter2-hunter2",
}


def _resolved(
    arguments: dict[str, Any], *results: ToolResult | None, **more: Any
) -> dict[str, Any] | ToolError:
    return resolve(a_call("fetch", arguments=arguments), results or (ok(0, FOUND, "search"),), **more)


def _error(arguments: dict[str, Any], *results: ToolResult | None, **more: Any) -> ToolError:
    error = _resolved(arguments, *results, **more)
    assert isinstance(error, ToolError)
    assert error.error_type == "validation_error"
    return error


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${calls[0].documents[1].id}", "d2"),
        ("${calls[0].documents[0].n}", 1),
        ("${calls[0].documents[1].n}", 2.5),
        ("${calls[0].documents[0]}", {"id": "d1", "n": 1}),
        ('${calls[0]["odd key"]}', [None, True, "x"]),
        ('${calls[0]["odd key"][0]}', None),
        ("${calls[0]}", FOUND),
    ],
)
def test_a_placeholder_becomes_the_value_with_its_type(text: str, value: Any) -> None:
    resolved = _resolved({"a": text, "deep": [{"b": text}], "c": 1})
    assert resolved == {"a": value, "deep": [{"b": value}], "c": 1}
    assert isinstance(resolved, dict)
    assert type(resolved["a"]) is type(value)


def test_text_around_placeholders_is_kept_and_escapes_lose_their_dollar() -> None:
    arguments = {"a": "see ${calls[0]}", "b": "$${calls[0]}", "c": ["$${calls[9].x}"], "d": "$$"}
    assert _resolved(arguments) == {
        "a": "see ${calls[0]}",
        "b": "${calls[0]}",
        "c": ["${calls[9].x}"],
        "d": "$$",
    }


def test_text_in_a_result_is_never_read_as_a_placeholder() -> None:
    """A tool's text must not reach into the results of other calls."""
    assert _resolved({"a": "${calls[0].x}"}, ok(0, {"x": "${calls[1]}"})) == {"a": "${calls[1]}"}


def test_values_are_copies_that_a_tool_may_change() -> None:
    result = ok(0, {"list": [1]})
    resolved = _resolved({"a": "${calls[0].list}", "b": "${calls[0].list}"}, result)
    assert isinstance(resolved, dict)
    resolved["a"].append(2)
    assert resolved["b"] == [1]
    assert result.data == {"list": [1]}


@each_row(
    ("text", "message"),
    [
        ("${calls[0].title}", "calls[0] is an object with 'documents', 'odd key', 'secret'"),
        ("${calls[0].documents[2].id}", "calls[0].documents is a list of 2, from [0] to [1]"),
        ("${calls[0].documents.id}", "calls[0].documents is a list of 2, from [0] to [1]"),
        ("${calls[0][0]}", "calls[0] is an object with 'documents', 'odd key', 'secret'"),
        ("${calls[0].secret.x}", "calls[0].secret is text of 15 characters"),
        ("${calls[0].secret[0]}", "calls[0].secret is text of 15 characters"),
        ('${calls[0]["odd key"][0].x}', 'calls[0]["odd key"][0] is null'),
        ("${calls[0].documents[0].n.x}", "calls[0].documents[0].n is a number"),
    ],
)
def test_a_missing_path_names_the_argument_and_the_available_fields(text: str, message: str) -> None:
    error = _error({"filters": [{"id": text}]})
    assert "filters[0].id" in error.fields
    assert f"{text} does not exist" in error.message
    assert message in error.message
    assert "hunter2" not in error.model_dump_json(), "only the outline of the result is shown"
    assert error.suggested_action.startswith("Call fetch again with the value itself")


def test_every_argument_at_fault_is_named() -> None:
    error = _error({"a": "${calls[0].x}", "b": {"c": "${calls[0].y}"}, "d": "${calls[0].documents}"})
    assert set(error.fields) == {"a", "b.c"}


def test_very_many_faults_are_reported_in_part() -> None:
    error = _error({"a": ["${calls[0].x}"] * 10_000})
    assert len(error.model_dump_json()) < 20_000
    (refused,) = start(a_plan(a_call(arguments={"a": ["${calls[0].x}"] * 10_000}))).answered
    assert len(refused.model_dump_json()) < 20_000


def test_a_result_shown_in_part_is_used_whole_or_refused() -> None:
    cut = ok(0, '{"documents": [', "search", handle="h1")
    error = _error({"a": "${calls[0].documents}"}, cut)
    assert "only shown in part" in error.message
    assert "'h1'" in error.message
    assert _resolved({"a": "${calls[0].documents[0].id}"}, cut, complete_results={0: FOUND}) == {"a": "d1"}


def test_values_may_not_grow_without_bound() -> None:
    text = "x" * (VALUES_BYTES_MAX // 10)
    error = _error({"a": ["${calls[0]}"] * 11}, ok(0, text))
    assert str(VALUES_BYTES_MAX) in error.message
    assert "a[9]" in error.fields


def test_the_example_is_shown() -> None:
    assert _error({"a": "${calls[0].x}"}, example={"id": "d1"}).example_valid_call == {"id": "d1"}


def test_resolving_before_the_other_call_has_succeeded_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match=r"before calls\[0\] has succeeded"):
        _resolved({"a": "${calls[0]}"}, None)
    with pytest.raises(ValueError, match=r"before calls\[0\] has succeeded"):
        _resolved({"a": "${calls[0]}"}, failed(0, a_call(), a_failure()))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${calls[1].id}", "a.b[0]: ${calls[1].id} names this call itself"),
        (
            "${calls[2]}",
            "a.b[0]: ${calls[2]} names a call that does not exist: this reply has calls[0] to calls[1]",
        ),
        ("${calls[0].documents.0}", "it begins like a placeholder, but it can be read up to"),
        ("${calls[0", "it begins like a placeholder, but after ${calls["),
    ],
)
def test_an_invalid_placeholder_is_refused_before_anything_runs(text: str, message: str) -> None:
    plan = a_plan(
        a_call(), a_call("fetch", arguments={"a": {"b": [text]}}), example_of=lambda name: {"example": name}
    )
    (refused,) = start(plan).answered
    error = error_in(refused)
    assert refused.index == 1
    assert error.error_type == "validation_error"
    assert message in error.message
    assert list(error.fields) == ["a.b[0]"]
    assert "write one more $ before it" in error.suggested_action
    assert error.example_valid_call == {"example": "fetch"}


@pytest.mark.parametrize(
    ("value", "outline"),
    [
        ([], "an empty list"),
        ({}, "an empty object"),
        (False, "true or false"),
        ("abc", "text of 3 characters"),
        ({str(n): n for n in range(30)}, "and 10 more"),
        ({"k" * 1_000: 1}, "…"),
    ],
)
def test_an_outline_is_short_for_any_value(value: Any, outline: str) -> None:
    assert outline in outlined(value)
    assert len(outlined(value)) < 2_000
