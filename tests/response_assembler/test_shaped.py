"""Answers with a schema, and the facts that support their fields."""

from datetime import timedelta

from antiphon_shared.events import ResponseReady
from antiphon_shared.memory.findings import Findings
from antiphon_shared.memory.session_memory import Memory

from response_assembler.compose import compose
from tests.envelopes import START
from tests.response_assembler.builders import a_document, a_memory, a_reply, a_request

MEMORY = a_memory(
    a_document("", "Skagen harbour closes at 18:30.", tool="harbours"),
    a_document("", "It has 14 berths, of which 4 are free.", tool="berths", first=2),
)


def answer_to(text: str, has_result: bool = True, memory: Memory = MEMORY) -> ResponseReady:
    request = a_request(has_result=has_result)
    return compose("s1", request, START + timedelta(seconds=1), Findings(memory, a_reply(text)))


def test_the_result_is_returned_with_an_answer_that_shows_it() -> None:
    response = answer_to('Here: {"harbour": "Skagen", "berths": 14}')
    assert response.result == {"harbour": "Skagen", "berths": 14}
    assert response.answer.startswith('```json\n{\n  "harbour": "Skagen",')
    assert response.uncertainty == ()


def test_each_field_names_the_facts_that_hold_its_value() -> None:
    response = answer_to('{"harbour": "skagen", "closes": "18:30", "of": [{"berths": 14}], "open": true}')
    assert {one.at: one.sources for one in response.result_sources} == {
        "/harbour": ("F1",),
        "/closes": ("F1",),
        "/of/0/berths": ("F2",),
    }
    assert [(one.id, one.number) for one in response.sources] == [("F1", 1), ("F2", 2)]


def test_a_value_that_is_only_a_part_of_a_number_or_word_has_no_source() -> None:
    response = answer_to('{"berths": 1, "name": "Ska", "closes": 18, "free": 4, "price": 14.5}')
    assert response.result_sources == ()
    assert [one.kind for one in response.uncertainty] == ["uncited"]


def test_a_value_in_a_structured_fact_is_found() -> None:
    memory = a_memory(a_document("", {"berths": 14, "harbour": "Skagen"}))
    response = answer_to('{"free": 14}', memory=memory)
    assert [one.sources for one in response.result_sources] == [("F1",)]


def test_the_answer_without_a_result_is_the_text_of_the_model() -> None:
    response = answer_to('{"harbour": 1} [F1]', has_result=False)
    assert (response.result, response.result_sources) == (None, ())
    assert response.answer.startswith('{"harbour": 1} [1]')
