"""Sessions around runs: models that call workflows, nodes that ask models, and runs that are resumed."""

import asyncio
from typing import Any

from antiphon_shared.events import PersonOverdue, QuestionAnswered

from antiphon import workflows
from tests.recordings.scenario import Meanwhile, RunOf, Scenario, calls, says, use

_LIMIT_S = 60.0
_ROOM = {"room": {"type": "str", "required": True, "example": "A"}}
_CALLED = {
    "domain": "stays",
    "version": "1",
    "workflows": {
        "stay": {
            "description": "Reserve a room.",
            "params": _ROOM,
            "graph": {"reserve": {"call": "reserve", "args": {"room": "$room"}}},
            "output": {"reservation": "$reserve.reservation"},
        },
        "odd": {
            "description": "Count what cannot be counted.",
            "graph": {"count": {"call": "count", "args": {"number": 1}}},
        },
        "lost": {
            "description": "Reserve a room by a line that dies.",
            "graph": {"lose": {"call": "lose", "args": {"room": "L"}}},
        },
        "ask": {
            "description": "Ask for a yes.",
            "graph": {"ask": {"type": "yield", "message": "Well?", "expects": {"ok": "bool"}}},
        },
        "ask_name": {
            "description": "Ask for a name.",
            "graph": {"ask": {"type": "yield", "message": "Who?", "expects": {"name": "str"}}},
        },
        "ask_both": {
            "description": "Ask for two values.",
            "graph": {
                "ask": {"type": "yield", "message": "What?", "expects": {"ok": "bool", "count": "int"}}
            },
        },
        "large": {
            "description": "Return more than a model is shown.",
            "graph": {"look": {"call": "find", "args": {"place": "oslo"}}},
            "output": {"text": "oslo " * 4_100, "count": "$look.count"},
        },
    },
}
_ASKS = (calls(use("w_ask")), says("It has been asked [F1]."))
_BOOKS = (calls(use("w_stay", room="A")), says("Room A is reserved [F1]."))


def _run(name: str, graph: dict[str, Any], params: dict[str, Any] | None = None, **how: Any) -> Scenario:
    workflow = {"description": "As its name says.", "params": params or {}, "graph": graph}
    source = {"domain": "rooms", "version": "1", "workflows": {"it": workflow}}
    return Scenario(name, name.replace("_", " "), deployment="runs", run=RunOf(source, {}), **how)


def _calls(name: str, model: Any, **how: Any) -> Scenario:
    return Scenario(name, "Book what there is.", model, deployment="callers", publishes=_CALLED, **how)


async def _answers(meanwhile: Meanwhile) -> None:
    """Give an answer that the run refuses, then one that it accepts."""
    await meanwhile.until_event("question.asked")
    await meanwhile.send(QuestionAnswered(round=1, answer="perhaps", by="ann"))
    await meanwhile.until_events("question.asked", 2)
    await meanwhile.send(QuestionAnswered(round=1, answer="Yes.", by="ann"))


async def _answers_both(meanwhile: Meanwhile) -> None:
    """Give an answer that is not an object, one to another round, and then the values."""
    await meanwhile.until_event("question.asked")
    await meanwhile.send(QuestionAnswered(round=9, answer="{}", by="ann"))
    await meanwhile.send(QuestionAnswered(round=1, answer="perhaps", by="ann"))
    await meanwhile.until_events("question.asked", 2)
    await meanwhile.send(QuestionAnswered(round=1, answer='{"ok": true, "count": 2}', by="ann"))


async def _answers_name(meanwhile: Meanwhile) -> None:
    """Answer with a name that is valid JSON."""
    await meanwhile.until_event("question.asked")
    await meanwhile.send(QuestionAnswered(round=1, answer=" 1853 ", by="ann"))


async def _is_overdue(meanwhile: Meanwhile) -> None:
    await meanwhile.until_event("question.asked")
    await meanwhile.send(PersonOverdue(round=1))


async def _cancels(meanwhile: Meanwhile) -> None:
    await meanwhile.until_event("question.asked")
    await meanwhile.antiphon.cancel(meanwhile.session_id, "changed my mind")


async def _resumes(meanwhile: Meanwhile) -> None:
    await meanwhile.antiphon.result(meanwhile.session_id, _LIMIT_S)
    await workflows.resume(meanwhile.antiphon, meanwhile.session_id, by="ann")
    await _until_completed(meanwhile)


async def _settles(meanwhile: Meanwhile) -> None:
    await meanwhile.antiphon.result(meanwhile.session_id, _LIMIT_S)
    found = {"reservation": "R-L"}
    await workflows.settle(meanwhile.antiphon, meanwhile.session_id, "reserve", True, result=found, by="ann")
    await workflows.resume(meanwhile.antiphon, meanwhile.session_id, by="ann")
    await _until_completed(meanwhile)


async def _until_completed(meanwhile: Meanwhile) -> None:
    async with asyncio.timeout(_LIMIT_S):
        while True:
            response = await meanwhile.antiphon.result(meanwhile.session_id, _LIMIT_S)
            if response.run is not None and response.run.status == "completed":
                return
            await asyncio.sleep(0.01)


SCENARIOS = (
    _run(
        "a_run_that_asks_a_model",
        {
            "text": {"type": "reason", "question": "Which rooms are there in oslo?", "tools": ["find"]},
            "form": {
                "type": "reason",
                "question": "How many rooms are there in rome?",
                "expects": {"count": "int"},
                "tools": ["find"],
                "max_rounds": 2,
                "on_error": {"fallback": "rest"},
            },
            "late": {
                "type": "reason",
                "question": "Which rooms are there in bonn?",
                "timeout_s": 0.001,
                "on_error": {"fallback": "rest"},
            },
            "rest": {"type": "wait", "seconds": 0.01},
        },
        ends="any",
    ),
    _run(
        "a_run_that_is_resumed",
        {
            "first": {"call": "find", "args": {"place": "oslo"}},
            "again": {"call": "stutter", "depends_on": ["first"], "args": {"name": "resumed", "times": 1}},
        },
        meanwhile=_resumes,
    ),
    _run(
        "a_run_that_is_settled_and_resumed",
        {
            "reserve": {"call": "lose", "args": {"room": "L"}},
            "look": {"call": "find", "depends_on": ["reserve"], "args": {"place": "$reserve.reservation"}},
        },
        meanwhile=_settles,
    ),
    _run(
        "a_run_that_calls_a_tool_that_is_not_there",
        {"it": {"call": "missing", "args": {}}},
        ends="workflow_failed",
    ),
    _run(
        "a_run_without_what_it_needs",
        {"it": {"call": "find", "args": {"place": "oslo"}}},
        params={"town": {"type": "str", "required": True}},
        ends="workflow_failed",
    ),
    _calls(
        "a_session_whose_model_calls_runs",
        (
            calls(
                use("w_stay", room="A"),
                use("w_odd"),
                use("find", place="oslo"),
                use("w_stay", room="B"),
                use("w_lost"),
            ),
            calls(use("w_stay", room="A"), use("w_odd")),
            says("Rooms A and B are reserved [F1]."),
        ),
    ),
    _calls("a_session_whose_run_waits_for_somebody", _ASKS),
    _calls("a_session_whose_run_asks_its_user", _ASKS, options={"interactive": True}, meanwhile=_answers),
    _calls(
        "a_session_that_ends_before_its_run",
        _ASKS,
        options={"interactive": True},
        meanwhile=_cancels,
        ends="cancelled",
    ),
    _calls(
        "a_session_whose_run_asks_for_a_name",
        (calls(use("w_ask_name")), says("It has been asked [F1].")),
        options={"interactive": True},
        meanwhile=_answers_name,
    ),
    _calls(
        "a_session_whose_run_asks_for_two_values",
        (calls(use("w_ask_both")), says("It has been asked [F1].")),
        options={"interactive": True},
        meanwhile=_answers_both,
    ),
    _calls(
        "a_session_whose_user_does_not_answer_its_run",
        (calls(use("w_ask"), use("w_large")), says("It has been asked [F1].")),
        options={"interactive": True},
        meanwhile=_is_overdue,
    ),
    _calls(
        "a_session_that_calls_again_what_has_run",
        (calls(use("w_large")), calls(use("w_large")), says("It is large.")),
    ),
    _calls("a_run_that_a_session_has_called", _BOOKS, records_child=True),
    _calls(
        "a_run_that_asks_the_user_of_a_session",
        _ASKS,
        options={"interactive": True},
        meanwhile=_answers,
        records_child=True,
    ),
)
