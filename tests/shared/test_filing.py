"""How one round's outcome becomes facts."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.events import ToolsCompleted
from shared.filing import FACTS_PER_RESULT_MAX, file_round
from shared.memory import Fact, Memory, MemoryDelta
from shared.tools import ToolResult
from tests.memories import a_memory, a_round, an_error, tool_output


def facts_of(data: Any) -> list[tuple[str, str, Any]]:
    return [(fact.position, fact.title, fact.content) for fact in a_memory(a_round(("t", {}, data))).facts]


def test_a_list_of_records_becomes_a_fact_per_record() -> None:
    records = [{"name": "Ada", "born": 1815}, {"course_title": "B"}, {"id": 7}, {"x": {}}]
    titles = ["Ada", "B", "7", ""]
    expected = [
        (f"$[{n}]", title, record) for n, (title, record) in enumerate(zip(titles, records, strict=True))
    ]
    assert facts_of(records) == expected


def test_a_small_object_around_records_stays_whole() -> None:
    outline = {"course": "MCP", "lessons": [{"title": "Introduction"}]}
    assert facts_of(outline) == [("$", "MCP", outline)]


def test_a_large_object_around_records_is_cut_into_them_and_what_is_beside() -> None:
    lessons = [{"title": "A", "text": "x" * 900}, {"title": "B", "text": "y" * 900}]
    assert facts_of({"course": "MCP", "all lessons": lessons}) == [
        ("$", "MCP", {"course": "MCP"}),
        ('$["all lessons"][0]', "MCP: A", lessons[0]),
        ('$["all lessons"][1]', "MCP: B", lessons[1]),
    ]


def test_long_text_becomes_passages_that_lie_where_they_say() -> None:
    text = "# The sea\n\n" + "\n\n".join(f"Paragraph {n}. " + "Water. " * 40 for n in range(12))
    passages = facts_of(text)
    assert len(passages) > 2
    assert passages[0][1] == "The sea"
    for position, _, content in passages:
        first, last = position.strip("$[]").split(":")
        assert text[int(first) : int(last)] == content
    assert "".join("".join(content.split()) for *_, content in passages) == "".join(text.split())


@pytest.mark.parametrize("scalar", [3, 2.5, True, False, 0, "yes", [1, 2, 3], 10**30])
def test_a_scalar_is_one_fact(scalar: Any) -> None:
    assert facts_of(scalar) == [("$", "", scalar)]


@pytest.mark.parametrize("nothing", [None, "", "  \n", "[]", " {} ", "null", [], {}, {"results": []}])
def test_an_empty_result_is_used_as_such(nothing: Any) -> None:
    memory = a_memory(a_round(("search", {"q": "x"}, nothing)))
    (use,) = memory.tool_usage
    assert not memory.facts
    assert not use.facts
    assert (use.outcome, use.message, use.arguments) == ("ok", "found nothing", {"q": "x"})


def test_a_failure_is_filed_with_what_to_do_next() -> None:
    (use,) = a_memory(a_round(("search", {}, an_error("timeout", "Too slow.")))).tool_usage
    assert (use.outcome, use.message, use.facts) == ("timeout", "Too slow. Ask for less at once.", ())


def test_a_failure_is_filed_with_valid_arguments_and_when_to_come_again() -> None:
    fields = {"example_valid_call": {"q": "bread"}, "retry_after_s": 5.0}
    error = an_error("rate_limit", "Too many calls.").model_copy(update=fields)
    (use,) = a_memory(a_round(("search", {}, error))).tool_usage
    assert use.message == (
        'Too many calls. Valid arguments: {"q":"bread"}. Ask for less at once. It may work again in 5 s.'
    )


def filed(*results: ToolResult) -> Memory:
    """What results of a round with no reasoning add to an empty memory."""
    return Memory.fold("Why?", (file_round(Memory(), None, ToolsCompleted.of(1, results)),))


def a_result(tool: str, data: Any, **fields: Any) -> ToolResult:
    return ToolResult(index=0, call_id="c1", tool=tool, status="ok", data=data, **fields)


def test_what_an_alternative_answered_is_filed_under_its_name_and_the_use_says_why() -> None:
    why = "search failed (timeout: No answer.); outline answered instead."
    memory = filed(a_result("search", "found", substitute="outline", substitute_because=why))
    assert [fact.tool for fact in memory.facts] == ["outline"]
    (use,) = memory.tool_usage
    assert (use.tool, use.outcome, use.substitute, use.substitute_because) == ("search", "ok", "outline", why)


def test_a_substitution_that_does_not_say_why_is_told_all_the_same() -> None:
    (use,) = filed(a_result("search", "found", substitute="outline")).tool_usage
    assert use.substitute_because == "search could not answer; outline was used in its place."


def test_a_result_shown_in_part_is_filed_with_its_handle() -> None:
    (use,) = filed(a_result("search", "found", handle="r1c0")).tool_usage
    assert (use.handle, use.facts) == ("r1c0", ("F1",))


def test_the_tools_that_find_tools_found_are_named_and_are_no_facts() -> None:
    memory = filed(a_result("find_tools", {"tools": [{"name": "mail"}, {"name": "fax"}], "note": "Soon."}))
    assert memory.facts == ()
    assert memory.tool_usage[0].message == "found mail, fax; they can be called now"
    assert filed(a_result("find_tools", {"tools": []})).tool_usage[0].message == "found nothing"
    assert filed(a_result("find_tools", "something else")).facts


def test_a_memory_of_before_there_were_substitutes_still_loads() -> None:
    old = """{"tool_usage": [{"round": 1, "call_id": "c", "tool": "t", "arguments": {}, "outcome": "ok",
        "message": "", "facts": []}]}"""
    assert MemoryDelta.model_validate_json(old).tool_usage[0].substitute == ""


def test_ids_go_on_from_round_to_round() -> None:
    memory = a_memory(
        a_round(("t", {}, [{"a": 1}, {"a": 2}]), ("u", {}, "x")), a_round(("t", {}, "y"), round=2)
    )
    assert [fact.id for fact in memory.facts] == ["F1", "F2", "F3", "F4"]
    assert [use.facts for use in memory.tool_usage] == [("F1", "F2"), ("F3",), ("F4",)]


def test_very_many_records_are_grouped() -> None:
    facts = facts_of([{"n": n} for n in range(10_000)])
    assert len(facts) <= FACTS_PER_RESULT_MAX
    assert facts[1][0] == "$[50:100]"
    assert len(facts[1][2]) == 50


def test_reasoning_without_words_and_a_round_without_anything_file_nothing() -> None:
    memory = Memory()
    reasoning, _ = a_round(text=" \n")
    assert file_round(memory, reasoning, None) == file_round(memory, None, None)
    assert file_round(memory, None, None).reasoning == ()


@settings(max_examples=80, deadline=None)
@given(st.lists(tool_output, max_size=5))
def test_whatever_tools_return_is_filed_and_survives_the_wire(outputs: list[Any]) -> None:
    memory = a_memory(a_round(*(("t", {}, output) for output in outputs)))
    assert len(memory.tool_usage) == len(outputs)
    assert [fact.id for fact in memory.facts] == [f"F{n}" for n in range(1, len(memory.facts) + 1)]
    for fact in memory.facts:
        assert Fact.model_validate_json(fact.model_dump_json()).content == fact.content
