"""Sessions about reads: every mode, and everything that can happen to a call."""

from functools import partial

from tests.messages_server import Use
from tests.recordings.scenario import Scenario, calls, says, use

_read = partial(Scenario, deployment="all_tools")

SCENARIOS = (
    _read(
        "parallel_reads_and_one_that_fails",
        "How high are the chapel, the mast and the castle?",
        (
            calls(*(use("look_up", what=what) for what in ("chapel", "mast", "castle"))),
            says("18 metres [F1] and 27 metres [F2]; of the castle nothing is known."),
        ),
    ),
    _read(
        "one_instrument_measures_three_things_in_turn",
        "How long are the pier, the mole and the quay?",
        (
            calls(*(use("measure", what=what) for what in ("pier", "mole", "quay"))),
            says("Four metres each [F1] [F2] [F3]."),
        ),
    ),
    _read(
        "two_boats_survey_five_harbours",
        "How many berths are there in five towns?",
        (
            calls(*(use("survey", place=place) for place in ("Holm", "Vik", "Nes", "Sund", "Ostra"))),
            says("Between 30 [F2] and 50 [F5]."),
        ),
    ),
    _read(
        "a_document_is_opened_by_what_a_search_returned",
        "Until when were lighthouses lit with oil?",
        (
            calls(use("search", topic="oil"), use("open_document", id="${calls[0].documents[0].id}")),
            says("Until 1886 [F2]."),
        ),
    ),
    _read(
        "a_dependent_call_without_what_it_depends_on",
        "What does document 9 say?",
        (calls(use("open_document", id="doc-9"), use("look_up", what="mast")), says("I could not open it.")),
    ),
    _read(
        "five_calls_become_one_of_the_batch_variant",
        "What do a rope, a lamp, a sail, an oar and a bell cost?",
        (
            calls(*(use("price", item=item) for item in ("rope", "lamp", "sail", "oar", "bell"))),
            says("Four crowns, and the oar three [F4]."),
        ),
    ),
    _read(
        "another_tool_answers_for_one_that_fails",
        "How will the weather be in Holm?",
        (calls(use("forecast", city="Holm")), says("Rainy, as in most years [F1].")),
    ),
    _read(
        "the_same_question_twice_is_answered_from_the_cache",
        "What is a euro worth, and are you sure?",
        (
            calls(use("exchange_rate", currency="euro")),
            says("Once more.", use("exchange_rate", currency="euro")),
            says("Eleven crowns [F1]."),
        ),
    ),
    _read(
        "after_a_failure_the_rest_of_a_batch_is_cancelled",
        "How deep is it at the quay, the reef and the bay?",
        (
            calls(*(use("sound_depth", at=at) for at in ("the quay", "the reef", "the bay"))),
            says("At the quay eight fathoms [F1]; the rest is not known."),
        ),
    ),
    _read(
        "one_call_takes_too_long_one_breaks_and_one_is_too_many",
        "What is to be heard?",
        (
            calls(
                use("listen", to="the foghorn"),
                use("break_down", why="rust"),
                use("consult", whom="The pilot"),
                use("look_up", what="mast"),
            ),
            says("Nothing, but the mast is 27 metres high [F1]."),
        ),
    ),
    _read(
        "arguments_that_are_wrong_invented_or_cut_off",
        "How high is what I mean?",
        (
            calls(
                use("look_up", what=7, where="there"),
                use("look_into", what="mast"),
                Use(name="look_up", input={"what": "mast"}, written='{"what": "ma'),
            ),
            says("I try again.", use("look_up", what="mast")),
            says("It is 27 metres high [F1]."),
        ),
    ),
    _read(
        "a_long_result_is_shown_in_part_and_read_on",
        "When was the lamp lit in entry 60?",
        (
            calls(use("read_log", name="the night watch")),
            says("It goes on.", use("read_result", handle="r1c0", start=3_000, length=800)),
            says("At midnight [F1]."),
        ),
    ),
    _read(
        "a_tool_for_the_first_round_alone",
        "How do I get to Holm, and back?",
        (
            calls(use("plan_route", to="Holm")),
            says("Now back.", use("plan_route", to="home"), use("look_up", what="mast")),
            says("By the north channel [F1]."),
        ),
    ),
    _read(
        "a_tool_that_the_session_has_no_scope_for",
        "Are the books of 1999 in order?",
        (calls(use("audit", year=1999), use("look_up", what="mast")), says("I may not look into the books.")),
    ),
    _read(
        "only_the_tools_that_the_query_names",
        "How high is the mast, by the one tool I allow?",
        (calls(use("look_up", what="mast"), use("measure", what="mast")), says("27 metres [F1].")),
        options={"tools": ["look_up"]},
    ),
    _read(
        "a_secret_argument_is_shown_to_nobody",
        "What is the balance of account 12?",
        (calls(use("balance", account="12", pin="0000")), says("120 crowns [F1].")),
    ),
    _read(
        "many_tools_of_which_one_is_found",
        "Since when has the mill of Holm stood, and who owns it?",
        (
            calls(use("mill_year_of_building", town="Holm"), use("find_tools", need="who owns the bridge")),
            says("Now the bridge.", use("bridge_owner", town="Holm")),
            says("Long since [F1]; the bridge has an owner too."),
        ),
        deployment="many_tools",
    ),
    _read(
        "a_tool_that_keeps_failing_opens_its_breaker",
        "What do eleven instruments show?",
        (calls(*(use("unwell", n=n) for n in range(11))), says("They show nothing.")),
        apart="breakers",
    ),
    _read(
        "a_tool_whose_breaker_is_open_is_not_offered",
        "What does the twelfth instrument show?",
        (calls(use("unwell", n=12), use("look_up", what="mast")), says("The instruments are out of order.")),
        apart="breakers",
        after="a_tool_that_keeps_failing_opens_its_breaker",
    ),
)
