"""The fallback steps across real processes: a model, or every tool, fails, and the session is still answered."""

from typing import Any

from antiphon_shared.events import FallbackTaken

from tests.flows.pipeline import ANSWER, ANSWERED, FORMS, Pipeline, pipeline, script
from tests.messages_server import Scripted, Use

IMPATIENT: dict[str, Any] = {
    "ANTIPHON_REASONING_ENGINE_MAX_ATTEMPTS": "1",
    "ANTIPHON_MODEL": "model-a",
    "ANTIPHON_MODELS": "model-b",
}


def failing(model: str, status: int) -> Scripted:
    return Scripted(when=f'"model": "{model}"', status=status, error="api_error", repeat=True)


def fallback_steps(five: Pipeline, session_id: str) -> list[str]:
    return [data["rung"] for data in five.events(session_id, FallbackTaken)]


def kinds(response: Any) -> list[str]:
    return [uncertainty.kind for uncertainty in response.uncertainty]


@FORMS
def test_another_model_answers_for_one_that_fails(processes: int) -> None:
    with pipeline(scripted=[failing("model-a", 529), *script()], processes=processes, **IMPATIENT) as five:
        five.submit("How high is it?", session_id="s1")
        response = five.response_to("s1")
        assert response.status == "complete"
        assert response.answer.startswith(ANSWERED)
        assert {"model_failed", "other_model"} <= set(kinds(response))
        assert fallback_steps(five, "s1")[:3] == ["simplified_briefing", "minimal_briefing", "other_model"]


def test_another_model_answers_at_once_in_place_of_an_unknown_one() -> None:
    with pipeline(scripted=[failing("model-a", 404), *script()], **IMPATIENT) as five:
        five.submit("How high is it?", session_id="s1")
        response = five.response_to("s1")
        assert response.status == "complete"
        assert fallback_steps(five, "s1") == ["other_model"]
        assert "model_failed" in kinds(response), "the reader learns why"


def test_when_no_model_replies_any_more_the_facts_are_the_answer() -> None:
    """It has called tools before, and their results are not lost."""
    both = (Use(name="look_up", input={"what": "height"}), Use(name="write_down", input={"what": "width"}))
    scripted = [Scripted(when="Round 1 of", uses=both), failing("model-a", 500), failing("model-b", 500)]
    with pipeline(scripted=scripted, **IMPATIENT) as five:
        five.submit("How high is it?", session_id="s1")
        response = five.response_to("s1")
        assert (response.status, response.termination_reason) == ("partial", "model_unavailable")
        assert response.sources
        assert "composed_from_facts" in kinds(response)
        assert fallback_steps(five, "s1")[-1] == "facts_without_model"
        five.wait_until_idle()


def test_the_model_receives_the_errors_when_every_call_failed_and_then_answers() -> None:
    unknown = Use(name="look_up", input={"what": 7})
    scripted = [
        Scripted(when="Round 1 of", uses=(unknown,)),
        Scripted(when="Every tool call of the last round failed", uses=(unknown,)),
        Scripted(when="This is the last round", text=ANSWER),
    ]
    with pipeline(scripted=scripted, **IMPATIENT) as five:
        five.submit("How high is it?", session_id="s1")
        response = five.response_to("s1")
        assert (response.status, response.termination_reason) == ("partial", "all_tools_failed")
        assert fallback_steps(five, "s1") == ["tools_failed", "answer_without_tools"]
