"""Sessions that end as they should: short ones, long ones, and conversations."""

from tests.messages_server import Scripted, Use
from tests.recordings.scenario import Scenario, calls, says, use

_HEIGHT = use("look_up", what="lighthouse")
_PAUSED = [{"type": "text", "text": "Let me see. "}]

SCENARIOS = (
    Scenario("an_answer_without_any_tool", "What is two and two?", (says("Four."),)),
    Scenario(
        "an_answer_from_one_fact",
        "How high is the lighthouse?",
        (says("First the height.", _HEIGHT), says("It is 41 metres high [F1].")),
    ),
    Scenario(
        "three_rounds_of_two_calls",
        "Which is higher, the chapel or the mast, and by how much?",
        (
            says("<note>\nopen: the mast\n</note>", use("look_up", what="chapel"), _HEIGHT),
            says(
                "<note>\nconcluded: the chapel is 18 metres high [F1]\n</note>Now the mast.",
                use("look_up", what="mast"),
                use("measure", what="mast"),
            ),
            says("The mast [F3] is nine metres higher than the chapel [F1]."),
        ),
    ),
    Scenario(
        "strict_citations_mark_what_cites_nothing",
        "How high is the lighthouse, and who keeps it?",
        (calls(_HEIGHT), says("It is 41 metres high [F1]. It is kept by a man called Olaf.")),
        options={"citations": "strict"},
    ),
    Scenario(
        "a_citation_of_a_fact_that_is_not_there",
        "How high is the lighthouse, really?",
        (calls(_HEIGHT), says("It is 41 metres high [F1], and green [F9].")),
    ),
    Scenario(
        "a_reply_that_pauses_and_goes_on",
        "Take your time: what is three and three?",
        (Scripted(content=_PAUSED, stop_reason="pause_turn"), says("It is six.")),
    ),
    Scenario(
        "a_cost_that_is_known",
        "What does it cost to look up a lighthouse?",
        (calls(_HEIGHT), says("Not much [F1].")),
        options={"max_cost_usd": 1.0},
    ),
    Scenario(
        "the_first_question_of_a_conversation",
        "How high is the lighthouse of Holm?",
        (calls(_HEIGHT), says("It is 41 metres high [F1].")),
        options={"conversation_id": "about-the-lighthouse"},
    ),
    Scenario(
        "a_follow_up_that_builds_on_an_earlier_answer",
        "And in feet?",
        (says("About 135 feet, since it is 41 metres high [F1]."),),
        options={"conversation_id": "about-the-lighthouse"},
        after="the_first_question_of_a_conversation",
    ),
    Scenario(
        "words_of_many_scripts_and_odd_calls",
        "Wie hoch ist der Leuchtturm? 灯台の高さは? \u202eback\u202c \U0001f5fc",
        (
            calls(
                Use(name="look_up", input={"what": "灯台 \U0001f5fc"}),
                Use(name="look_up", input={"what": ""}),
            ),
            says("Das weiß ich nicht. \U0001f937"),
        ),
    ),
    Scenario(
        "the_offline_model_follows_a_topic_through_courses",
        'Find a course that discusses the same topic as lesson 4 of course "Designing Web APIs"',
        deployment="offline",
    ),
    Scenario(
        "the_offline_model_compares_two_topics",
        "Which courses discuss vector clocks, and which discuss idempotency keys?",
        deployment="offline",
    ),
    Scenario(
        "the_offline_model_finds_nothing",
        "Who won the snooker championship of the year 1712?",
        deployment="offline",
    ),
    Scenario(
        "the_offline_model_within_one_round",
        "For how long does the battery of the radio hold?",
        ends="max_rounds_reached",
        options={"max_rounds": 1},
        deployment="offline",
    ),
)
