"""The one object with the form of a reply, in any surrounding text of a model."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasoning_engine.prompted.form import OBJECTS_MAX, read_form
from tests.memories import hostile_text
from tests.rows import each_row

CALL = '{"tool_calls": [{"name": "search", "arguments": {"q": "x"}}]}'
END = '{"success": true, "result": "Blue."}'
CALLED, ENDED = json.loads(CALL), json.loads(END)


@each_row(
    ("text", "value", "prose"),
    [
        (END, ENDED, ""),
        (f"```json\n{CALL}\n```", CALLED, ""),
        (f"I look it up.\n```\n{CALL}\n```\nThat is all.", CALLED, "I look it up.\n\nThat is all."),
        (f"Voici la réponse : {END} Bonne journée !", ENDED, "Voici la réponse :\n\nBonne journée !"),
        (f"答えです。\n{END}\n以上。", ENDED, "答えです。\n\n以上。"),
        (f"Вот ответ:\n```JSON\n{END}\n```", ENDED, "Вот ответ:"),
        ('{"success": true, "result": "Blue.",}', ENDED, ""),
        ('{"tool_calls": [{"name": "search", "arguments": {"q": "x",},},],}', CALLED, ""),
        ('{"success": true, "result": "a, }"}', {"success": True, "result": "a, }"}, ""),
        ('{"success": true, "result": "two\nlines"}', {"success": True, "result": "two\nlines"}, ""),
        (f"{CALL}\n{END}", CALLED, END),
        (f"{END}\n{CALL}", ENDED, CALL),
        (f'{{"plan": "first"}} {CALL}', CALLED, '{"plan": "first"}'),
        (f"The set {{x}} and {{1, 2}}: {END}", ENDED, "The set {x} and {1, 2}:"),
        (f'{{"a": oops}} {END}', ENDED, '{"a": oops}'),
        (f"[{CALL}]", CALLED, "[\n\n]"),
        (f"<think>Perhaps {CALL}?</think>{END}", ENDED, ""),
        ('{"success": true, "result": {"tool_calls": []}}', {"success": True, "result": {"tool_calls": []}}, ""),
        ('{"success": true, "result": "}{\\"}"}', {"success": True, "result": '}{"}'}, ""),
    ],
)  # fmt: skip  # one form for all rows
def test_the_first_object_with_a_form_is_read(text: str, value: Any, prose: str) -> None:
    form = read_form(text)
    assert (form.value, form.prose, form.problem) == (value, prose, "")


@each_row(
    ("text", "problem"),
    [
        (END[:-3], "at character 1 is cut off"),
        (f"So: {CALL[:-2]}", "at character 5 is cut off"),
        ('{"success": true, "result": "and', "is cut off"),
        ('{"success": true, "result": "and\\', "is cut off"),
        (f'{{"success": yes}} {END}', "It is not complete JSON: expecting value at character 13"),
        (f'{{"tool_calls": [{{"name": oops, "arguments": {END}}}]}}', "It is not complete JSON"),
        ('{"success": true, "success": false}', "the same property twice"),
        ('{"success": true, "result": NaN}', "NaN is not a number"),
        ('{"success": true, "result": ' + '{"a":' * 64 + "1" + "}" * 65, "more than 64 levels"),
        ('{"success": true, "result": ' + "[" * 50_000 + "]" * 50_000 + "}", "more than 64 levels"),
        ('{"answer": "Blue."}', "no object with `tool_calls` or `success`"),
        ('{"response": {"tool_calls": []}}', "no object with `tool_calls` or `success`"),
        ("{}", "no object with `tool_calls` or `success`"),
        ('{"a": oops}', "It is not complete JSON"),
        (r'{"success": true, "result": "\ud83d"}', "half a character"),
    ],
)  # fmt: skip  # one form for all rows
def test_an_invalid_form_is_explained_in_words_for_the_model(text: str, problem: str) -> None:
    form = read_form(text)
    assert form.value is None
    assert problem in form.problem


@pytest.mark.parametrize("text", ["", "It is blue.", "Es ist [1, 2].", "The set {x}.", "a } b { c"])
def test_words_without_an_object_are_prose(text: str) -> None:
    assert read_form(text) == read_form(f"<think>Or {END}</think> {text}")
    assert (read_form(text).value, read_form(text).problem, read_form(text).prose) == (None, "", text)


def test_a_value_inside_a_broken_object_is_not_used_in_its_place() -> None:
    """An answer may quote text of unknown authors, also a call."""
    assert read_form(f'{{"a": oops, "b": {CALL}}}').value is None
    assert read_form(f'{{"success": true, "result": oops "{CALL}"}}').value is None
    assert read_form(f'{{"success": true, "result": [{CALL}').value is None


@each_row(
    "text",
    [
        "{" + " " * 400_000,
        '{"a" ' * 80_000,
        '{"a":1}' * 60_000,
        '{"a":[' * 60_000,
        r'{"a": "' + r"\"" * 200_000,
        '{"' + '"' * 400_001,
        '{"a": 1' + ", " * 150_000 + "}",
        ',\n' * 200_000 + END,
        "{ " * 200_000,
        "{'" * 200_000,
        "<think>" * 60_000,
        "```" + "\n" * 400_000 + END,
        (" " * 1_000 + "`") * 400 + END,
    ],
)  # fmt: skip  # one form for all rows
def test_a_long_text_is_scanned_once_and_not_from_each_brace(text: str) -> None:
    """Read from each on, some of these would take minutes."""
    read_form(text)


def test_no_form_is_searched_for_after_very_many_objects() -> None:
    assert read_form('{"a": 1}' * (OBJECTS_MAX - 1) + END).value == ENDED
    assert "no object with" in read_form('{"a": 1}' * OBJECTS_MAX + END).problem


@given(hostile_text)
def test_no_text_is_too_strange(text: str) -> None:
    read_form(text)
    read_form("{" + text)
    read_form('{"tool_calls": [' + text)
    read_form('{"success": "' + text)


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text()
VALUES = st.recursive(SCALARS, lambda part: st.lists(part) | st.dictionaries(st.text(), part))
PROSE = st.text(st.characters(codec="utf-8", exclude_characters="{}<`"))


@given(VALUES, PROSE, PROSE, st.booleans())
def test_an_answer_in_the_form_is_read_unchanged(
    result: Any, before: str, behind: str, is_fenced: bool
) -> None:
    value = {"success": True, "result": result}
    written = json.dumps(value, ensure_ascii=False)
    around = (f"```json\n{written}\n```",) if is_fenced else (written,)
    form = read_form("\n".join((before, *around, behind)))
    assert form.value == value
    assert form.prose == "\n\n".join(filter(None, (before.strip(), behind.strip())))


@given(VALUES, st.data())
def test_a_truncated_answer_is_never_read_as_another_value(result: Any, data: st.DataObject) -> None:
    written = json.dumps({"success": True, "result": result}, ensure_ascii=False)
    cut = data.draw(st.integers(1, len(written) - 1))
    assert read_form(written[:cut]).value is None
