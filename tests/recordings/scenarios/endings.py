"""Sessions that meet a bound, or are stopped."""

from typing import Any

from tests.recordings.scenario import Meanwhile, Scenario, calls, says, use

_HEIGHT = use("look_up", what="lighthouse")
_SLOWLY = 20.0


async def _cancel_the_model(one: Meanwhile) -> Any:
    await one.until_asked(2)
    return await one.antiphon.cancel(one.session_id, "I know it by now.")


async def _cancel_the_tool(one: Meanwhile) -> Any:
    await one.until_slow_tool()
    return await one.antiphon.cancel(one.session_id)


async def _cancel_the_question(one: Meanwhile) -> Any:
    await one.until_event("approval.requested")
    return await one.antiphon.cancel(one.session_id)


SCENARIOS = (
    Scenario(
        "the_last_round_has_no_tools",
        "How high is everything, in two rounds?",
        (calls(_HEIGHT), says("The lighthouse is 41 metres high [F1].")),
        ends="max_rounds_reached",
        options={"max_rounds": 2},
    ),
    Scenario(
        "tools_are_asked_for_beyond_the_rounds_with_tools",
        "How high is the lighthouse, in one round of calls?",
        (calls(_HEIGHT), calls(_HEIGHT)),
        ends="max_tool_rounds_reached",
        options={"max_tool_rounds": 1},
    ),
    Scenario(
        "a_single_round",
        "How high is the lighthouse, at once?",
        (says("I cannot know."),),
        ends="max_rounds_reached",
        options={"max_rounds": 1},
    ),
    Scenario(
        "no_rounds_with_tools_are_left",
        "How high are the lighthouse and the mast, in one round?",
        (
            calls(_HEIGHT),
            calls(use("look_up", what="mast")),
        ),
        ends="max_tool_rounds_reached",
        options={"max_tool_rounds": 1},
    ),
    Scenario(
        "no_calls_are_left",
        "How high are the lighthouse, the mast and the chapel, in two calls?",
        (
            calls(_HEIGHT, use("look_up", what="mast"), use("look_up", what="chapel")),
            says("The lighthouse 41 metres [F1], the mast 27 [F2]."),
        ),
        ends="max_tool_calls_reached",
        options={"max_tool_calls": 2},
    ),
    Scenario(
        "tokens_run_out_and_the_model_concludes",
        "How high is the lighthouse, for few tokens?",
        (
            calls(_HEIGHT, usage={"input_tokens": 1_500, "output_tokens": 300}),
            says("41 metres [F1]."),
        ),
        ends="token_budget_exhausted",
        options={"max_tokens": 4_000},
    ),
    Scenario(
        "tokens_are_gone_before_the_model_can_conclude",
        "How high is the lighthouse, for hardly any tokens?",
        (calls(_HEIGHT, usage={"input_tokens": 9_000, "output_tokens": 900}),),
        ends="token_budget_exhausted",
        options={"max_tokens": 5_000},
    ),
    Scenario(
        "a_budget_of_a_tenth_of_a_cent",
        "How high is the lighthouse, for a tenth of a cent?",
        (calls(_HEIGHT), says("41 metres [F1].")),
        ends="cost_budget_exhausted",
        options={"max_cost_usd": 0.001},
    ),
    Scenario(
        "a_cost_that_nobody_knows",
        "How high is the lighthouse, for a dollar?",
        (calls(_HEIGHT), says("41 metres [F1].")),
        options={"max_cost_usd": 1.0},
    ),
    Scenario(
        "the_deadline_comes_while_the_model_thinks",
        "How high is the lighthouse, within three seconds?",
        (calls(_HEIGHT), says("41 metres [F1].", wait_s=_SLOWLY)),
        ends="deadline_exceeded",
        options={"deadline_s": 3.0},
    ),
    Scenario(
        "the_deadline_comes_while_a_tool_runs",
        "What comes within three seconds?",
        (calls(_HEIGHT, use("wait_long", what="a ship")),),
        ends="deadline_exceeded",
        options={"deadline_s": 3.0},
    ),
    Scenario(
        "the_deadline_comes_while_a_write_is_under_way",
        "Send a parcel within three seconds.",
        (calls(_HEIGHT, use("send_slowly", to="Anna")),),
        ends="deadline_exceeded",
        options={"deadline_s": 3.0},
    ),
    Scenario(
        "cancelled_while_the_model_thinks",
        "How high is the lighthouse? No, wait.",
        (calls(_HEIGHT), says("41 metres [F1].", wait_s=_SLOWLY)),
        ends="cancelled",
        meanwhile=_cancel_the_model,
    ),
    Scenario(
        "cancelled_while_a_tool_runs",
        "Wait for the ship. No, do not.",
        (calls(_HEIGHT, use("wait_long", what="a ship")),),
        ends="cancelled",
        meanwhile=_cancel_the_tool,
    ),
    Scenario(
        "cancelled_while_a_write_is_under_way",
        "Send a parcel. No, do not.",
        (calls(_HEIGHT, use("send_slowly", to="Anna")),),
        ends="cancelled",
        meanwhile=_cancel_the_tool,
    ),
    Scenario(
        "cancelled_while_a_person_is_waited_for",
        "Delete record 7. No, do not.",
        (calls(use("delete_record", id=7)),),
        ends="cancelled",
        meanwhile=_cancel_the_question,
    ),
    Scenario(
        "two_rounds_of_nothing_but_failures",
        "What is nowhere to be found?",
        (
            calls(use("look_up", what="a unicorn")),
            calls(use("look_up", what="a dragon"), use("look_into", what="it")),
            says("I have found nothing."),
        ),
        ends="all_tools_failed",
    ),
    Scenario(
        "one_round_of_failures_and_then_another_way",
        "What is nowhere to be found, at first?",
        (calls(use("look_up", what="a unicorn")), calls(_HEIGHT), says("A lighthouse of 41 metres [F1].")),
    ),
    Scenario(
        "the_model_refuses",
        "How do I put the lighthouse out?",
        (
            says(
                "",
                stop_reason="refusal",
                stop_details={
                    "type": "refusal",
                    "category": "harm",
                    "explanation": "I will not help with that.",
                },
            ),
        ),
        ends="model_refused",
    ),
    Scenario(
        "a_reply_that_is_cut_off",
        "Tell me everything about lighthouses.",
        (calls(_HEIGHT), says("A lighthouse of 41 metres [F1] is", stop_reason="max_tokens")),
        ends="reply_truncated",
    ),
    Scenario(
        "a_call_that_is_cut_off",
        "Look everything up.",
        (says("First", use("look_up", what="mast"), stop_reason="max_tokens"),),
        ends="reply_truncated",
    ),
)
