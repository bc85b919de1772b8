"""Sessions of a pipeline in which something breaks; see shared/antiphon_shared/faults."""

from tests.recordings.scenario import Scenario, calls, says, use

_HEIGHT = use("look_up", what="lighthouse")
_ANSWERS = (calls(_HEIGHT), says("It is 41 metres high [F1]."))
_ALWAYS = "@1-1000"

SCENARIOS = (
    Scenario(
        "a_batch_is_run_again_and_its_journal_knows_half_of_it",
        "How high are the lighthouse and the mast, after a crash?",
        (
            calls(_HEIGHT, use("measure", what="mast"), use("send_letter", to="Anna")),
            says("41 metres [F1] and four [F2]."),
        ),
        fault="journal.noted:raise@2",
    ),
    Scenario(
        "a_plain_write_that_a_crash_left_unknown",
        "Write to Anna, through a crash.",
        (calls(_HEIGHT, use("send_letter", to="Anna")), says("It may have been sent.")),
        fault="write.settle.before:raise@1",
    ),
    Scenario(
        "an_idempotent_write_is_run_again_after_a_crash",
        "Note something, through a crash.",
        (calls(use("store_note", text="Something.")), says("It is noted [F1].")),
        fault="write.settle.before:raise@1",
    ),
    Scenario(
        "a_write_is_asked_what_came_of_it_after_a_crash",
        "Pay invoice 13, through a crash.",
        (calls(use("pay", invoice="13")), says("It is paid [F1].")),
        deployment="all_tools",
        fault="write.settle.before:raise@1",
    ),
    Scenario(
        "a_dispatcher_that_cannot_run_a_batch",
        "How high is the lighthouse, without tools that run?",
        (calls(_HEIGHT), says("I cannot know."), says("I cannot.")),
        fault=f"tool.before:raise{_ALWAYS}",
    ),
    Scenario(
        "an_engine_that_loses_a_request",
        "How high is the lighthouse, if a request is lost?",
        (*_ANSWERS,),
        fault="model.before:raise@1-5",
    ),
    Scenario(
        "a_synthesizer_that_cannot_file_a_round",
        "How high is the lighthouse, without a briefing?",
        _ANSWERS,
        ends="internal_error",
        fault="briefing.filed:raise@2-1000",
    ),
    Scenario(
        "a_synthesizer_that_fails_at_once",
        "How high is the lighthouse, without any briefing?",
        ends="internal_error",
        fault=f"briefing.filed:raise{_ALWAYS}",
    ),
    Scenario(
        "an_assembler_that_cannot_answer",
        "How high is the lighthouse, without an assembler?",
        _ANSWERS,
        fault=f"answer.composed:raise{_ALWAYS}",
    ),
    Scenario(
        "a_coordinator_that_fails_at_a_decision",
        "How high is the lighthouse, without a decision?",
        _ANSWERS,
        ends="internal_error",
        fault="decision.made:raise@4-8",
    ),
    Scenario(
        "a_redis_that_is_out_of_reach_for_a_moment",
        "How high is the lighthouse, with a pause?",
        _ANSWERS,
        fault="commit.before:unavailable@3-4",
    ),
)
