"""Sessions that change something, and changes that are denied."""

from tests.grants import a_grant
from tests.recordings.scenario import Scenario, calls, says, use

SCENARIOS = (
    Scenario(
        "a_plain_write_in_order",
        "Write to Anna and then to Bert.",
        (
            calls(use("send_letter", to="Anna"), use("send_letter", to="Bert")),
            says("Both letters are on their way [F1] [F2]."),
        ),
    ),
    Scenario(
        "a_write_of_unknown_outcome_ends_its_batch",
        "Write to the lost island and to Bert.",
        (
            calls(use("send_letter", to="the lost island"), use("send_letter", to="Bert")),
            says("Nobody knows whether the first letter arrived; the second was not sent."),
        ),
    ),
    Scenario(
        "an_idempotent_write_is_tried_again",
        "Note that the lamp has to be lit at nine.",
        (calls(use("store_note", text="The lamp has to be lit at nine.")), says("It is noted [F1].")),
    ),
    Scenario(
        "a_write_that_can_be_asked_about",
        "Pay invoice 12.",
        (calls(use("pay", invoice="12")), says("It is paid [F1].")),
        deployment="all_tools",
    ),
    Scenario(
        "reads_and_writes_in_one_batch",
        "Look up the mast and note its height.",
        (
            calls(use("look_up", what="mast"), use("store_note", text="${calls[0].found}")),
            says("It is noted: 27 metres [F1]."),
        ),
    ),
    Scenario(
        "an_identical_write_in_a_later_round",
        "Write to Anna, and make sure of it.",
        (
            calls(use("send_letter", to="Anna")),
            calls(use("send_letter", to="Anna")),
            says("One letter is on its way [F1]."),
        ),
    ),
    Scenario(
        "an_identical_write_after_another_is_refused",
        "Write to Anna, to Bert, and to Anna.",
        (
            calls(use("send_letter", to="Anna")),
            calls(use("send_letter", to="Bert")),
            calls(use("send_letter", to="Anna")),
            says("Two letters are on their way [F1] [F2]; the third was not sent."),
        ),
        options={"max_rounds": 5},
    ),
    Scenario(
        "a_write_is_repeated_on_purpose",
        "Write to Anna twice.",
        (
            calls(use("send_letter", to="Anna")),
            calls(use("repeat_call", call_id="toolu_1", reason="She is to get two letters.")),
            says("Two letters are on their way [F1]."),
        ),
    ),
    Scenario(
        "an_identical_write_after_an_unknown_one",
        "Write to the lost island until it is certain.",
        (
            calls(use("look_up", what="mast"), use("send_letter", to="the lost island")),
            calls(use("look_up", what="chapel"), use("send_letter", to="the lost island")),
            says("Nobody knows whether the letter arrived."),
        ),
    ),
    Scenario(
        "a_grant_that_nobody_has_signed",
        "How high is the chapel, with leave?",
        (calls(use("look_up", what="chapel")), says("I have no leave."), says("I have none.")),
        grant=a_grant(["read"], tenant="acme"),
    ),
    Scenario(
        "a_grant_that_holds_no_write",
        "Write to Anna, with leave to read.",
        (calls(use("send_letter", to="Anna")), says("I may not write."), says("I may not.")),
        deployment="granted",
        scopes=("read",),
    ),
)
