"""The ends of sessions under failures: answers without an assembler, failed components, late events."""

from typing import Any
from uuid import UUID

from antiphon_shared.events import CancellationRequested
from antiphon_shared.process.errors import ErrorInfo

from tests.recordings.scenario import Meanwhile, Scenario, calls, fails, says, use

_PAGE, _PAINT = use("open_page", name="claims of 2021"), use("paint", what="mole")
_CITES = says("The ferry has 40 seats [F1], the lamp is high [F3-F4] [F99].")
_NEVER = "answer.composed:raise@1-1000"
_STUCK = "answer.composed:hang@1-1000"
_NO_MODEL = (fails(401, "authentication_error"),) * 2
_STEPS = 13
"""The steps of a session that reads a page and answers, without the last, which closes it and must not fail."""
_UNKNOWN_ID = UUID(int=7)
_ERROR = ErrorInfo(code="internal_error", message="It was somebody else's.")
_ALONE: dict[str, tuple[tuple[Any, ...], str]] = {
    # replies, how it ends; all answered by the coordinator alone
    "after_reads": ((calls(_PAGE), _CITES), "natural_completion"),
    "without_facts": ((says("There is nothing to tell."),), "natural_completion"),
    "after_every_outcome_of_a_write": (
        (
            calls(_PAGE, _PAINT, use("paint", what="the sea"), use("paint", what="the sky")),
            calls(_PAINT, use("paint", what="the sky"), use("paint", what="quay")),
            calls(_PAINT, use("repeat_call", call_id="toolu_2", reason="Once more."), use("trouble", kind="not_found")),
            _CITES,
        ),
        "natural_completion",
    ),
    "after_many_writes": (
        (calls(*(use("paint", what=f"boat {n}") for n in range(12))), calls(*(use("paint", what=f"bell {n}") for n in range(10))), *_NO_MODEL),
        "model_unavailable",
    ),
    "without_a_reply": ((says("First the page.", _PAGE), *_NO_MODEL), "model_unavailable"),
    "without_anything": (_NO_MODEL, "model_unavailable"),
}  # fmt: skip  # a table


async def _cancel_while_assembling(one: Meanwhile) -> None:
    await one.until_event("assembly.requested")
    await one.send(CancellationRequested(reason="Enough."))


async def _cancel_twice(one: Meanwhile) -> None:
    await one.until_asked(1)
    await one.send(CancellationRequested(reason="Enough."))
    await one.until_event("assembly.requested")
    await one.send(CancellationRequested(reason="Really."))


async def _speak_after_the_end(one: Meanwhile) -> None:
    await one.antiphon.result(one.session_id)
    await one.send(CancellationRequested(reason="Too late."))


SCENARIOS = (
    *(
        Scenario(
            f"nobody_puts_the_answer_together_{name}",
            f"How is the ferry ({name})?",
            replies,
            ends=ends,  # type: ignore[arg-type]  # a table of words
            options={"max_rounds": 6, "max_tool_calls": 40},
            deployment="page_writes",
            fault=_NEVER,
            apart="nobody assembles",
        )
        for name, (replies, ends) in _ALONE.items()
    ),
    Scenario(
        "cancelled_while_the_answer_is_put_together",
        "How is the ferry, in a hurry?",
        (calls(_PAGE, _PAINT), _CITES),
        deployment="page_writes",
        fault=_STUCK,
        apart="stuck",
        meanwhile=_cancel_while_assembling,
    ),
    Scenario(
        "cancelled_twice_while_the_answer_is_put_together",
        "How is the ferry? Leave it.",
        (calls(_PAGE, wait_s=0.5), _CITES),
        ends="cancelled",
        deployment="page_writes",
        fault=_STUCK,
        apart="stuck",
        meanwhile=_cancel_twice,
    ),
    Scenario(
        "the_answer_is_overdue",
        "How is the ferry, at length?",
        (calls(_PAGE), _CITES),
        options={"deadline_s": 26.0},
        deployment="page_writes",
        fault=_STUCK,
        apart="stuck",
    ),
    Scenario(
        "cancelled_when_all_is_over",
        "How is the ferry, in the end?",
        (says("It is well."),),
        deployment="page_writes",
        meanwhile=_speak_after_the_end,
    ),
    *(
        Scenario(
            f"a_component_that_fails_at_step_{n}",
            f"How is the ferry, without step {n}?",
            (calls(_PAGE), _CITES),
            ends="any",
            deployment="page_writes",
            fault=f"handler.before:raise@{n}-{n + 4}",
        )
        for n in range(1, _STEPS)
    ),
    Scenario(
        "a_dispatcher_that_fails_on_a_write",
        "How is the mole, once it is painted?",
        (calls(_PAGE, _PAINT), _CITES),
        ends="any",
        deployment="page_writes",
        fault="handler.before:raise@6-10",
    ),
    Scenario(
        "an_engine_that_loses_every_request",
        "How is the ferry, without any model?",
        ends="any",
        deployment="page_writes",
        fault="model.before:raise@1-1000",
    ),
    Scenario(
        "a_model_that_fails_when_the_time_is_over",
        "How is the ferry, in three seconds?",
        (fails(500).model_copy(update={"wait_s": 2.93}), _CITES),
        ends="deadline_exceeded",
        options={"deadline_s": 3.0},
        deployment="page_writes",
    ),
)
NAMES = frozenset(one.name for one in SCENARIOS if "nobody_puts" in one.name)
"""The coordinator's own answers: coverage does not distinguish the outcomes of a write."""
