"""From the material to the one response."""

from datetime import timedelta
from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from response_assembler.compose import Material, compose
from response_assembler.uncertainty import KINDS
from shared.events import AssemblyRequested, ReasoningCompleted, ResponseReady
from shared.memory import Memory
from shared.session import Response, Status, TerminationReason, Uncertainty
from shared.tools import ToolCall
from shared.values import Usage
from tests.envelopes import START
from tests.memories import a_memory, a_round, hostile_text, memories


def a_request(
    status: Status = "complete", reason: TerminationReason = "natural_completion", **fields: Any
) -> AssemblyRequested:
    return AssemblyRequested(
        question="1-0",
        status=status,
        termination_reason=reason,
        rounds_used=2,
        tool_calls_used=3,
        usage=Usage(input_tokens=7),
        opened=START,
        **fields,
    )


def a_reply(text: str, calls: int = 0) -> ReasoningCompleted:
    asked = tuple(ToolCall(id=f"c{n}", name="t") for n in range(calls))
    return ReasoningCompleted(round=2, text=text, tool_calls=asked, stop_reason="end_turn", model="m")


def answer_to(
    request: AssemblyRequested, text: str | None = None, memory: Memory | None = None, calls: int = 0
) -> ResponseReady:
    known = memory or a_memory(a_round(("t", {}, "the fact")))
    reply = None if text is None else a_reply(text, calls)
    return compose(Material("s1", request, START + timedelta(seconds=2.5), known, reply))


def kinds(response: Response) -> list[str]:
    return [doubt.kind for doubt in response.uncertainty]


def test_a_complete_answer_is_the_models_text_as_it_is() -> None:
    response = answer_to(a_request(), "It is *so* [F1]. \n")
    assert response.answer == "It is *so* [F1]. \n"
    assert (response.status, response.uncertainty) == ("complete", ())
    assert [source.id for source in response.sources] == ["F1"]
    assert (response.rounds_used, response.tool_calls_used, response.usage.input_tokens) == (2, 3, 7)
    assert (response.session_id, response.duration_ms) == ("s1", 2500)


def test_a_limited_answer_is_the_models_text_and_what_limits_it() -> None:
    response = answer_to(a_request("partial", "max_rounds_reached"), "So far this [F1].")
    assert response.answer == (
        "So far this [F1].\n\n---\n\n*This answer may be incomplete: the limit of reasoning rounds was "
        "reached before everything was looked up.*"
    )
    assert kinds(response) == ["max_rounds_reached"]


def test_an_empty_reply_becomes_a_partial_answer_from_facts() -> None:
    response = answer_to(a_request(), " \n")
    assert response.status == "partial"
    assert "“the fact” [F1]" in response.answer
    assert kinds(response) == ["empty_reply", "composed_from_facts"]
    assert [source.id for source in response.sources] == ["F1"]


def test_words_beside_calls_that_never_ran_are_no_answer() -> None:
    request = a_request("partial", "token_budget_exhausted")
    assert "the fact" in answer_to(request, "Let me search.", calls=1).answer
    assert answer_to(request, "It is so [F1].", calls=1).answer.startswith("It is so [F1].")


def test_a_failed_session_without_facts_stays_failed() -> None:
    response = answer_to(a_request("failed", "internal_error"), memory=a_memory())
    assert response.status == "failed"
    assert response.answer.startswith(
        "You asked: “Why?”\n\nI have no answer, because a part of the pipeline failed"
    )


def test_the_coordinators_doubts_are_kept_and_repeats_said_once() -> None:
    doubt = Uncertainty(kind="model_failed", message="The model failed in round 1.", about="model")
    response = answer_to(a_request(uncertainty=(doubt, doubt)), "So [F1].")
    assert response.uncertainty == (doubt,)


def test_a_clock_that_ran_backwards_gives_no_negative_duration() -> None:
    request = a_request().model_copy(update={"opened": START + timedelta(days=1)})
    assert answer_to(request, "So.").duration_ms == 0


@settings(max_examples=80, deadline=None)
@given(
    memories(),
    st.sampled_from(get_args(Status)),
    st.sampled_from(get_args(TerminationReason)),
    st.one_of(st.none(), hostile_text, st.sampled_from(["[F1]", "[F1, F99]", "[F0-F3]"])),
    st.integers(0, 2),
)
def test_whatever_the_material_there_is_an_answer_with_sources_that_exist(
    memory: Memory, status: Status, reason: TerminationReason, text: str | None, calls: int
) -> None:
    response = answer_to(a_request(status, reason), text, memory, calls)
    assert response.answer.strip()
    assert {source.id for source in response.sources} <= {fact.id for fact in memory.facts}
    assert set(kinds(response)) <= set(KINDS)
    assert len(set(response.uncertainty)) == len(response.uncertainty)
    assert Response.model_validate_json(response.model_dump_json()).answer == response.answer
