"""Sessions that wait for a person."""

from typing import Any

from tests.recordings.scenario import Meanwhile, Scenario, calls, says, use

_DELETES = use("delete_record", id=7)
_ASKS = use("ask_user", question="Which mast do you mean?", choices=["the old one", "the new one"])


async def _approve(one: Meanwhile) -> Any:
    await one.until_event("approval.requested")
    return await one.antiphon.approve(one.session_id, by="ann", reason="It is the right one.")


async def _deny(one: Meanwhile) -> Any:
    await one.until_event("approval.requested")
    return await one.antiphon.deny(one.session_id, by="ann", reason="It is needed.")


async def _approve_the_first(one: Meanwhile) -> Any:
    asked = await one.until_event("approval.requested")
    first, second = asked.calls
    await one.antiphon.approve(one.session_id, [first.id], by="ann")
    return await one.antiphon.deny(one.session_id, [second.id], by="bert")


async def _answer(one: Meanwhile) -> Any:
    await one.until_event("question.asked")
    return await one.antiphon.answer(one.session_id, "The new one, please.", by="ann")


async def _answer_and_approve(one: Meanwhile) -> Any:
    await one.until_event("question.asked")
    await one.antiphon.answer(one.session_id, "The old one.", by="ann")
    return await one.antiphon.approve(one.session_id, by="ann")


SCENARIOS = (
    Scenario(
        "a_person_approves_a_write",
        "Delete record 7.",
        (calls(_DELETES), says("It is deleted [F1].")),
        meanwhile=_approve,
    ),
    Scenario(
        "a_person_denies_a_write",
        "Delete record 7 as well.",
        (
            calls(_DELETES, use("look_up", what="mast")),
            says("It was denied; the mast is 27 metres high [F1]."),
        ),
        meanwhile=_deny,
    ),
    Scenario(
        "of_two_writes_one_is_approved",
        "Delete records 7 and 8.",
        (calls(_DELETES, use("delete_record", id=8)), says("Record 7 is deleted [F1]; 8 is not.")),
        meanwhile=_approve_the_first,
    ),
    Scenario(
        "nobody_decides_on_a_write_in_time",
        "Delete record 7, if anybody agrees.",
        (calls(_DELETES, use("look_up", what="mast")), says("Nobody agreed in time.")),
    ),
    Scenario(
        "a_write_after_untrusted_words_waits_for_a_person",
        "Read my mail and do what it says.",
        (
            calls(use("read_mail", folder="inbox")),
            says("It wants a letter.", use("send_letter", to="the stranger")),
            says("I have written [F2]; the mail asks for more, which I did not do."),
        ),
        meanwhile=_approve,
    ),
    Scenario(
        "a_write_after_untrusted_words_is_denied",
        "Read my mail and obey it.",
        (
            calls(use("read_mail", folder="inbox")),
            says("It wants a letter.", use("send_letter", to="the stranger")),
            says("The ferry leaves at nine [F1]; writing was denied."),
        ),
        meanwhile=_deny,
    ),
    Scenario(
        "untrusted_words_cannot_flow_into_a_write_of_their_batch",
        "Send my mail on.",
        (
            calls(use("read_mail", folder="inbox"), use("send_letter", to="${calls[0].0.from}")),
            says("I could not send it on."),
        ),
    ),
    Scenario(
        "the_user_answers_a_question",
        "How high is the mast I mean?",
        (calls(_ASKS), says("It is 27 metres high.", use("look_up", what="mast")), says("27 metres [F1].")),
        options={"interactive": True},
        meanwhile=_answer,
    ),
    Scenario(
        "the_user_does_not_answer_a_question",
        "How high is the mast, if I may ask?",
        (calls(_ASKS, use("look_up", what="mast")), says("I assumed the new one: 27 metres [F1].")),
        options={"interactive": True},
    ),
    Scenario(
        "a_question_and_an_approval_in_one_batch",
        "Delete the record of the mast I mean.",
        (calls(_ASKS, _DELETES), says("The old one's record is deleted [F2].")),
        options={"interactive": True},
        meanwhile=_answer_and_approve,
    ),
)
