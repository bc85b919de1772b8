"""Decisions that are late, repeated, empty or excessive, and deliberately repeated writes."""

from collections.abc import Awaitable, Callable
from typing import Any

from antiphon_shared.events import (
    ApprovalDecided,
    CancellationRequested,
    EventData,
    PersonOverdue,
    QuestionAnswered,
)

from tests.messages_server import Use
from tests.recordings.scenario import Meanwhile, Scenario, calls, says, use

_PAGE = use("open_page", name="boat 2021")
_ASK = use("ask_user", question="Which boat do you mean?")
_DELETE = use("delete_record", id=7)
_DELETES = calls(_DELETE, use("delete_record", id=8), use("look_up", what="mast"))


def _after(
    waits_for: str, *answers: EventData, then: Callable[[Meanwhile], Awaitable[Any]] | None = None
) -> Any:
    async def meanwhile(one: Meanwhile) -> None:
        if waits_for:
            await one.until_event(waits_for)
        else:
            await one.until_asked(1)
        for data in answers:
            await one.send(data)
        if then is not None:
            await then(one)

    return meanwhile


async def _approve(one: Meanwhile) -> Any:
    return await one.antiphon.approve(one.session_id, by="ann")


async def _answer(one: Meanwhile) -> Any:
    return await one.antiphon.answer(one.session_id, "The Aker.", by="ann")


def _decided(round: int = 1, *calls: str, is_approved: bool = True, **fields: str) -> ApprovalDecided:
    return ApprovalDecided(round=round, is_approved=is_approved, calls=calls, **fields)


def _answered(round: int = 1, *calls: str) -> QuestionAnswered:
    return QuestionAnswered(round=round, calls=calls, answer="The Nes.")


_DECISIONS = {
    "naming_no_call_that_waits": _after("approval.requested", _decided(1, "toolu_9"), then=_approve),
    "of_another_round": _after("approval.requested", _decided(2), then=_approve),
    "twice": _after("approval.requested", _decided(1, "toolu_1"), _decided(1, "toolu_1", is_approved=False), then=_approve),
    "before_anybody_asks": _after("", _decided(1), PersonOverdue(round=1), then=None),
    "without_a_reason": _after("approval.requested", _decided(1, is_approved=False)),
    "with_a_long_reason": _after("approval.requested", _decided(1, is_approved=False, by="b" * 200, reason="r" * 400 + ".")),
    "of_one_of_two_and_no_more": _after("approval.requested", _decided(1, "toolu_2")),
    "that_is_to_stop_it_all": _after("approval.requested", CancellationRequested(reason="Stop.")),
    "for_a_later_round": _after("approval.requested", PersonOverdue(round=2), then=_approve),
}  # fmt: skip  # a table
_QUESTIONS: dict[str, tuple[tuple[Use, ...], Any]] = {
    "three": ((_ASK, use("ask_user", question="And why?"), use("ask_user", question="And how?")), _after("question.asked", then=_answer)),
    "four": (tuple(use("ask_user", question=f"What is {n}?") for n in range(4)), _after("question.asked", then=_answer)),
    "blind": ((_PAGE, use("ask_user", question="${calls[0].name}"), _ASK), _after("question.asked", then=_answer)),
    "unfit": (
        (
            _ASK,
            use("ask_user", question="Or?", choices="no list"),
            use("ask_user", question="Or?", choices=["a", " "]),
            use("ask_user", question=" ", other=1),
        ),
        _after("question.asked", then=_answer),
    ),
    "unfit_alone": ((use("ask_user", question=7),), None),
    "answered_by_others": ((_ASK,), _after("question.asked", _answered(2), _answered(1, "toolu_9"), then=_answer)),
    "answered_one_by_one": (
        (_ASK, use("ask_user", question="And why?"), _PAGE),
        _after("question.asked", _answered(1, "toolu_2"), _answered(1, "toolu_2"), then=_answer),
    ),
    "answered_before": ((_PAGE,), _after("", _answered(1))),
    "half_answered": ((_ASK, use("ask_user", question="And why?")), _after("question.asked", _answered(1, "toolu_2"))),
}  # fmt: skip  # a table
_REPEATED = {
    # name, batches of the rounds, whether a person agrees
    "asked": ((use("order", what="lamp"),), (use("order", what="lamp"), _PAGE), (use("order", what="mast"),)),
    "unknown": (
        (use("order", what="a wreck"), _PAGE),
        (use("repeat_call", call_id="toolu_1", reason="It has to be there."),),
    ),
    "on_purpose": (
        (use("order", what="lamp"),),
        (use("repeat_call", call_id="toolu_1", reason="Two are needed."),),
    ),
    "wrongly": (
        (use("paint", what="mole"), use("paint", what="${calls[0].painted}"), use("paint", what="the sea")),
        (
            use("repeat_call", call_id="toolu_1"),
            use("repeat_call", call_id="toolu_77", reason="It is not there."),
            use("repeat_call", call_id="toolu_2", reason="It has a placeholder."),
            use("repeat_call", call_id="", reason="It names nothing."),
        ),
    ),
    "unknown_reads": (
        (use("paint", what="the sky"), use("paint", what="mole")),
        (use("paint", what="the sky"),),
    ),
}


async def _approve_each(one: Meanwhile) -> None:
    await one.until_event("approval.requested")
    await one.antiphon.approve(one.session_id, by="ann")


SCENARIOS = (
    *(
        Scenario(
            f"a_decision_{name}",
            f"Delete records 7 and 8 ({name}).",
            (_DELETES.model_copy(update={"wait_s": 0.3}), says("Done.")),
            ends="cancelled" if name == "that_is_to_stop_it_all" else "natural_completion",
            meanwhile=meanwhile,
        )
        for name, meanwhile in _DECISIONS.items()
    ),
    *(
        Scenario(
            f"questions_to_the_user_{name}",
            f"Which boat is it ({name})?",
            (calls(*batch, wait_s=0.3), says("It is the Aker.")),
            options={"interactive": True},
            deployment="page_writes",
            meanwhile=meanwhile,
        )
        for name, (batch, meanwhile) in _QUESTIONS.items()
    ),
    *(
        Scenario(
            f"writes_once_more_{name}",
            f"Order and paint ({name}).",
            (*(calls(*batch) for batch in batches), says("That is done.")),
            ends="all_tools_failed" if name == "unknown_reads" else "natural_completion",
            options={"max_rounds": 6},
            deployment="page_writes",
            meanwhile=_approve_each if name in ("asked", "unknown", "on_purpose") else None,
        )
        for name, batches in _REPEATED.items()
    ),
    Scenario(
        "no_time_to_wait_for_anybody",
        "Delete record 7 at once.",
        (calls(_DELETE, use("look_up", what="mast")), says("There was no time.")),
        options={"deadline_s": 5.5},
    ),
    Scenario(
        "a_write_that_is_blind_beside_one_that_nobody_decides_on",
        "Delete what the page says.",
        (
            calls(use("look_up", what="mast"), use("delete_record", id="${calls[0].what}"), _DELETE),
            says("Nothing was deleted."),
        ),
    ),
)
NAMES = frozenset(
    one.name
    for one in SCENARIOS
    if one.name.endswith(("before_anybody_asks", "_twice", "answered_before", "answered_one_by_one"))
)
"""Decisions and answers at a wrong time: coverage does not distinguish the reasons why they are ignored."""
