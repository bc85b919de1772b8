"""The delta of memory for one round's outcome."""

from typing import Any

from antiphon_shared.events import ToolsCompleted
from antiphon_shared.memory.briefing import ids_in
from antiphon_shared.memory.filing import KnownFacts, file_round
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.tools.calls import ToolResult
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memories import a_course_memory, a_memory, a_round, an_error, tool_output
from tests.shared.memory.filing.places import value_at

PROSE = "Ada Lovelace was born in London in 1815. She wrote the first program that was ever published."


def filed(*results: ToolResult) -> Memory:
    """Return the delta of the results of a round without reasoning, filed in an empty memory."""
    return Memory.of("Why?", (file_round(Memory(), None, ToolsCompleted.of(1, results)),))


def a_result(tool: str, data: Any, **fields: Any) -> ToolResult:
    return ToolResult(index=0, call_id="c1", tool=tool, status="ok", data=data, **fields)


def test_a_round_files_documents_facts_the_note_and_the_calls() -> None:
    reasoning, results = a_round(("search", {"query": "Ada"}, [{"title": "Ada", "text": PROSE}]))
    delta = file_round(Memory(), reasoning, results, untrusted={"toolu_10"}, entry="5-0")
    (document,) = delta.documents
    assert (document.id, document.call_id, document.title, document.is_untrusted) == (
        "D1",
        "toolu_10",
        "Ada",
        True,
    )
    assert [(one.id, one.document, one.is_json) for one in delta.facts] == [
        ("F1", "D1", False),
        ("F2", "D1", False),
    ]
    (use,) = delta.tool_usage
    assert (use.query, use.outcome, use.facts, use.is_untrusted, use.results) == (
        "Ada",
        "ok",
        ("F1", "F2"),
        True,
        "5-0",
    )
    assert [one.text for one in delta.reasoning] == ["I look it up."]


def test_a_round_already_in_memory_is_not_filed_twice() -> None:
    reasoning, results = a_round(("search", {}, PROSE), ("search", {}, an_error()))
    memory = a_memory((reasoning, results))
    assert file_round(memory, reasoning, results).is_empty
    assert file_round(memory, None, None) == MemoryDelta()


def test_a_batch_filed_in_part_is_completed() -> None:
    reasoning, results = a_round(("search", {}, PROSE), ("count", {}, 7))
    part = ToolsCompleted.of(1, results.results[:1])
    memory = a_memory((reasoning, part))
    delta = file_round(memory, reasoning, results)
    assert [use.call_id for use in delta.tool_usage] == ["toolu_11"]
    assert [(one.id, one.document) for one in delta.facts] == [("F3", "D2")]


def test_a_cached_index_gives_the_same_result_as_a_fresh_one() -> None:
    rounds = [
        a_round(("search", {}, [{"title": "Ada", "text": PROSE}, {"name": "Ada", "age": n}]), round=n)
        for n in range(1, 5)
    ]
    kept = a_memory(*rounds)
    fresh = Memory.of("Why?")
    for reasoning, results in rounds:
        fresh = fresh.plus(file_round(fresh, reasoning, results, filed_facts=KnownFacts.of(fresh)))
    assert kept == fresh


def test_filing_a_round_does_not_change_the_given_index() -> None:
    known = KnownFacts()
    reasoning, results = a_round(("search", {}, PROSE))
    assert file_round(Memory(), reasoning, results, filed_facts=known) == file_round(
        Memory(), reasoning, results, filed_facts=known
    )


def test_a_failure_is_filed_with_its_advice() -> None:
    (use,) = a_memory(a_round(("search", {}, an_error("timeout", "Too slow.")))).tool_usage
    assert (use.outcome, use.message, use.facts) == ("timeout", "Too slow. Ask for less at once.", ())


def test_a_failure_is_filed_with_valid_arguments_and_the_time_of_a_retry() -> None:
    fields = {"example_valid_call": {"q": "bread"}, "retry_after_s": 5.0}
    error = an_error("rate_limit", "Too many calls.").model_copy(update=fields)
    (use,) = a_memory(a_round(("search", {}, error))).tool_usage
    assert use.message == (
        'Too many calls. Valid arguments: {"q":"bread"}. Ask for less at once. It may work again in 5 s.'
    )


def test_the_code_of_a_tool_error_is_kept_next_to_the_error_type() -> None:
    error = an_error("not_found", "No such city.").model_copy(update={"code": "NOT_FOUND"})
    (use,) = a_memory(a_round(("look", {}, error))).tool_usage
    assert use.outcome == "not_found"
    assert use.message.startswith("NOT_FOUND: No such city.")


def test_the_code_of_an_item_within_a_result_is_a_fact() -> None:
    data = {"results": [{"city": "Oslo", "celsius": 4}, {"city": "Atlantis", "error": {"code": "NOT_FOUND"}}]}
    assert any("NOT_FOUND" in fact.statement for fact in filed(a_result("look", data)).facts.values())


def test_an_empty_result_is_filed_as_found_nothing() -> None:
    (use,) = a_memory(a_round(("search", {"q": "tea pots"}, {"results": []}))).tool_usage
    assert (use.outcome, use.message, use.arguments, use.query) == (
        "ok",
        "found nothing",
        {"q": "tea pots"},
        "tea pots",
    )


def test_a_result_of_an_alternative_is_filed_under_its_name_with_the_reason() -> None:
    why = "search failed (timeout: No answer.); outline answered instead."
    memory = filed(a_result("search", "found", substitute="outline", substitute_because=why))
    assert [document.tool for document in memory.documents.values()] == ["outline"]
    (use,) = memory.tool_usage
    assert (use.tool, use.outcome, use.substitute, use.substitute_because) == ("search", "ok", "outline", why)


def test_a_substitution_without_a_reason_is_still_reported() -> None:
    (use,) = filed(a_result("search", "found", substitute="outline")).tool_usage
    assert use.substitute_because == "search could not answer; outline was used in its place."


def test_a_result_shown_in_part_is_filed_with_its_handle() -> None:
    (use,) = filed(a_result("search", "found", handle="r1c0")).tool_usage
    assert (use.handle, use.facts) == ("r1c0", ("F1",))


def test_tools_found_by_find_tools_are_named_and_not_filed_as_facts() -> None:
    memory = filed(a_result("find_tools", {"tools": [{"name": "mail"}, {"name": "fax"}], "note": "Soon."}))
    assert not memory.facts
    assert memory.tool_usage[0].message == "found mail, fax; they can be called now"
    assert filed(a_result("find_tools", {"tools": []})).tool_usage[0].message == "found nothing"
    assert filed(a_result("find_tools", "something else")).facts


def recalled(*parts: dict[str, Any]) -> tuple[str, dict[str, Any], Any]:
    return "recall", {"id": "F1"}, {"id": "F1", "parts": list(parts)}


def a_part(content: Any, position: str = "$[0]", **fields: Any) -> dict[str, Any]:
    return {
        "tool": "search",
        "call_id": "toolu_10",
        "round": 1,
        "position": position,
        "content": content,
    } | fields


def test_a_recalled_passage_still_in_memory_is_named_and_not_filed_again() -> None:
    passage = {"title": "Ada", "text": PROSE}
    memory = a_memory(a_round(("search", {}, [passage])), a_round(recalled(a_part(passage)), round=2))
    assert (len(memory.documents), len(memory.facts), memory.sightings) == (1, 2, ())
    assert (memory.tool_usage[1].facts, memory.tool_usage[1].query) == (("F1", "F2"), "")


def test_a_recalled_passage_is_recognized_by_position_when_its_title_was_inherited() -> None:
    lessons = [
        {"title": "A", "text": "It has three parts, and each of them is short."},
        {"title": "B", "n": "x" * 1500},
    ]
    course = a_round(("search", {}, {"course": "MCP", "lessons": lessons}))
    memory = a_memory(course, a_round(recalled(a_part(lessons[0], position="$.lessons[0]")), round=2))
    assert "MCP: A" in {document.title for document in memory.documents.values()}
    assert memory.tool_usage[1].facts == ("F2",)


def test_untrusted_content_stays_untrusted_when_it_is_recalled() -> None:
    memory = a_memory(
        a_round(("search", {}, [{"title": "Ada", "text": PROSE}])),
        a_round(
            recalled(a_part({"title": "Tea", "text": PROSE.replace("Ada", "Tea")}, position="$[1]")), round=2
        ),
        untrusted={"toolu_10"},
    )
    assert [document.is_untrusted for document in memory.documents.values()] == [True, True]


def test_a_recalled_passage_lost_from_memory_is_filed_under_its_original_source() -> None:
    passage = {"title": "Ada", "text": PROSE}
    memory = a_memory(a_round(recalled(a_part(passage, position="$.results[4]")), round=3))
    (document,) = memory.documents.values()
    assert (document.round, document.call_id, document.tool, document.position) == (
        1,
        "toolu_10",
        "search",
        "$.results[4]",
    )
    assert memory.facts["F1"].position == "$.results[4].text[0:40]"


def test_a_recalled_result_of_another_shape_is_filed_as_any_other() -> None:
    shapes: list[Any] = [
        {"id": "F1", "parts": [{"content": 3}]},
        {"parts": []},
        "The text of it.",
        {"parts": [a_part(1, round=0)]},
    ]
    for data in shapes:
        memory = a_memory(a_round(("recall", {"id": "F1"}, data)))
        assert all(document.tool == "recall" for document in memory.documents.values())
        assert memory.tool_usage[0].tool == "recall"


def test_reasoning_without_words_files_nothing() -> None:
    reasoning, _ = a_round(text=" \n")
    assert file_round(Memory(), reasoning, None).reasoning == ()


def test_lone_surrogates_do_not_reach_memory() -> None:
    reasoning, results = a_round(("t", {"q": "a\ud800"}, {"text\ud800": "b\ud800 " * 40}), text="c\ud800")
    delta = file_round(Memory(), reasoning, results)
    assert MemoryDelta.model_validate_json(delta.model_dump_json()) == delta


def test_infinite_numbers_are_filed_by_name_and_survive_encoding() -> None:
    reasoning, results = a_round(("t", {"q": [float("inf"), {"a": float("-inf")}]}, "Found it."))
    delta = file_round(Memory(), reasoning, results)
    assert delta.tool_usage[0].arguments == {"q": ["Infinity", {"a": "-Infinity"}]}
    assert MemoryDelta.model_validate_json(delta.model_dump_json()) == delta


def test_statements_are_found_at_their_positions() -> None:
    data: list[Any] = [{"title": "Ada", "text": PROSE, "tags": {"a b": ["x" * 70 + " y. z"]}}]
    memory = a_memory(a_round(("search", {}, data)))
    assert [value_at(data, one.position) for one in memory.facts.values()] == [
        one.statement for one in memory.facts.values()
    ]


def test_the_course_memory_has_every_layer() -> None:
    memory = a_course_memory()
    assert len(memory.documents) >= 4
    assert {use.outcome for use in memory.tool_usage} == {"ok", "not_found", "outcome_unknown", "timeout"}


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(tool_output, max_size=4), max_size=3))
def test_any_tool_results_are_filed_under_consecutive_ids_and_survive_encoding(
    rounds: list[list[Any]],
) -> None:
    memory = a_memory(
        *(a_round(*(("t", {}, one) for one in outputs), round=n) for n, outputs in enumerate(rounds, 1))
    )
    assert list(memory.facts) == [f"F{n}" for n in range(1, len(memory.facts) + 1)]
    assert list(memory.documents) == [f"D{n}" for n in range(1, len(memory.documents) + 1)]
    named = {id for use in memory.tool_usage for id in ids_in(use.facts)}
    assert named == set(memory.facts)
    for fact in memory.facts.values():
        assert fact.document in memory.documents
        assert type(fact).model_validate_json(fact.model_dump_json()) == fact
