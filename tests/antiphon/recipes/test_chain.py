"""The calls of a recorded session that recipes learn from."""

from collections.abc import Iterable
from typing import Any

from antiphon.recipes.chain import Chain, chain_of
from antiphon.recording.files import read_lines
from antiphon.recording.lines import EventLine, Line
from tests.antiphon.conftest import ROOT


def the_chain(name: str) -> Chain:
    (path,) = (ROOT / "tests/recordings").glob(f"{name}.jsonl*")
    return chain_of(read_lines(path))


def test_an_answer_of_the_user_becomes_part_of_the_question() -> None:
    chain = the_chain("questions_to_the_user_answered_one_by_one")
    assert chain.question.splitlines()[1:] == ["The Aker.", "The Nes."]
    assert [call.tool for call in chain.calls] == ["open_page"]


def test_calls_that_failed_and_those_that_validate_answers_are_left_out() -> None:
    chain = the_chain("steps_that_are_taken_in_order")
    assert not {call.tool for call in chain.calls} & {"validate_minimal", "validate_full"}
    assert {("store_note", "it failed"), ("validate_full", "it validates answers")} <= {*chain.left_out}


def test_the_result_of_an_alternative_is_distinguished() -> None:
    (call,) = the_chain("another_tool_answers_for_one_that_fails").calls
    assert (call.tool, call.has_own_result) == ("forecast", False)


def test_an_answer_is_based_on_its_citations_or_else_on_the_last_round_with_calls() -> None:
    (path,) = (ROOT / "tests/recordings").glob("rounds_of_tools_2_of_2.jsonl*")
    lines = list(read_lines(path))
    assert [(call.round, call.is_cited) for call in chain_of(lines).calls] == [(1, True), (2, False)]
    silent = chain_of(without_numbers(lines))
    assert [(call.round, call.is_cited) for call in silent.calls] == [(1, False), (2, True)]


def without_numbers(lines: Iterable[Line]) -> list[Line]:
    """Return the same session with an answer that cites nothing."""

    def changed(line: Line) -> Line:
        sources: Any = getattr(getattr(line, "event", None), "data", None)
        if not isinstance(line, EventLine) or not getattr(sources, "sources", ()):
            return line
        plain = tuple(one.model_copy(update={"number": 0}) for one in sources.sources)
        data = sources.model_copy(update={"sources": plain, "result_sources": ()})
        return EventLine(line.n, line.entry, line.event.model_copy(update={"data": data}))

    return [changed(line) for line in lines]
