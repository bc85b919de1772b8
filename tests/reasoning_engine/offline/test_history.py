"""The offline model reads a history of calls and results in the same way as a briefing."""

from typing import Any

from reasoning_engine.offline.briefing_text import read_briefing
from reasoning_engine.offline.history import as_briefing

USE = {"type": "tool_use", "id": "t1", "name": "search", "input": {"query": "fugues"}}


def a_history(content: str) -> list[dict[str, Any]]:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    return [
        {"role": "user", "content": "What is a fugue?"},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, USE]},
        {"role": "user", "content": [result]},
    ]


def test_a_history_without_results_has_no_briefing() -> None:
    assert as_briefing([{"role": "user", "content": "What is a fugue?"}]) is None


def test_facts_with_ids_keep_them() -> None:
    fenced = '<result call="t1" tool="search" round="1" trust="tool">\nF7 Voices imitate.\n</result>'
    text = as_briefing(a_history(f"ok: F3, F7\n{fenced}"))
    assert text is not None
    notes = read_briefing(text)
    assert [fact.id for fact in notes.facts] == ["F7"]
    assert notes.tried[0].facts == {"F3", "F7"}


def test_an_error_is_a_call_that_failed_with_its_words() -> None:
    text = as_briefing(a_history('not_found\n<result call="t1">\n  There is none.\n</result>'))
    assert text is not None
    notes = read_briefing(text)
    assert notes.facts == ()
    (call,) = notes.tried
    assert (call.round, call.tool, call.arguments) == (1, "search", {"query": "fugues"})
    assert (call.outcome, call.message) == ("not_found", "There is none.")


def test_a_search_without_results_is_a_call_that_found_nothing() -> None:
    text = as_briefing(a_history("ok: found nothing"))
    assert text is not None
    notes = read_briefing(text)
    assert notes.facts == ()
    assert notes.tried[0].is_empty
