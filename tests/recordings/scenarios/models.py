"""Sessions whose model fails, and how they get on all the same: every fallback step."""

from tests.messages_server import Scripted
from tests.recordings.scenario import Scenario, calls, fails, says, use

_HEIGHT = use("look_up", what="lighthouse")
_OVERLOADED = fails(529, "overloaded_error")
_FAILS = fails(500)

SCENARIOS = (
    Scenario(
        "a_model_that_overloads_once_then_answers",
        "Is anybody there?",
        (_OVERLOADED, says("Yes.")),
    ),
    Scenario(
        "a_model_that_overloads_twice_then_answers",
        "How high is the lighthouse, when you have time?",
        (_OVERLOADED, _OVERLOADED, calls(_HEIGHT), says("It is 41 metres high [F1].")),
    ),
    Scenario(
        "a_model_that_breaks_off_and_is_asked_again",
        "What is one and one?",
        (Scripted(text="It is two.", break_after=4), says("Two.")),
    ),
    Scenario(
        "a_model_that_asks_for_a_second_of_patience",
        "What is the hurry?",
        (fails(429, "rate_limit_error", retry_after="1"), says("None.")),
        options={"model": None},
        deployment="impatient",
        apart="patience",
    ),
    Scenario(
        "a_model_that_says_nothing_then_answers",
        "Say something.",
        (says(""), says(""), says("Something.")),
    ),
    Scenario(
        "a_briefing_that_is_too_long_for_the_model",
        "How high is the lighthouse, in short?",
        (
            calls(_HEIGHT),
            fails(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            says("It is 41 metres high [F1]."),
        ),
    ),
    Scenario(
        "a_request_that_the_model_does_not_take",
        "How high is the lighthouse, if you take that?",
        # Neither of the two models; the last call of the second is made without tools.
        (*(fails(400, "invalid_request_error", "tools: not like this"),) * 2, says("I cannot tell.")),
        ends="model_failing",
    ),
    Scenario(
        "the_last_call_answers_after_three_failures",
        "How high is the lighthouse, in the end?",
        (calls(_HEIGHT), _FAILS, _FAILS, _FAILS, says("It is 41 metres high [F1].")),
        ends="model_failing",
        deployment="impatient",
    ),
    Scenario(
        "no_model_answers_any_more_and_the_facts_are_the_answer",
        "How high is the lighthouse, with or without a model?",
        (calls(_HEIGHT), _FAILS, _FAILS, _FAILS, _FAILS),
        ends="model_unavailable",
        deployment="impatient",
    ),
    Scenario(
        "a_key_that_is_refused",
        "Do you know me?",
        (fails(401, "authentication_error", "invalid x-api-key"),),
        ends="model_unavailable",
    ),
    Scenario(
        "a_model_that_nobody_knows_and_no_other",
        "Who are you?",
        (fails(404, "not_found_error"),),
        ends="model_unavailable",
    ),
    Scenario(
        "another_model_answers_for_one_that_fails",
        "How high is the lighthouse, by whatever model?",
        (_FAILS, _FAILS, calls(_HEIGHT), says("It is 41 metres high [F1].")),
        deployment="impatient",
    ),
    Scenario(
        "another_model_answers_for_one_that_nobody_knows",
        "How high is the lighthouse, by another model?",
        (fails(404, "not_found_error"), calls(_HEIGHT), says("It is 41 metres high [F1].")),
        deployment="impatient",
    ),
)
