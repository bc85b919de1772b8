"""Runs of workflows: each way in which nodes are begun, fail, are undone and end."""

from typing import Any

from antiphon_shared.events import ApprovalDecided

from tests.recordings.scenario import Meanwhile, RunOf, Scenario

RESERVE = {
    "call": "reserve",
    "args": {"room": "$room"},
    "compensate": {"call": "release", "args": {"reservation": "$reserve.reservation"}},
}
_FAILS = {"call": "count", "depends_on": ["reserve"], "args": {"number": 1}}


def a_run(
    name: str,
    graph: dict[str, Any],
    *,
    params: dict[str, Any] | None = None,
    ends: Any = "natural_completion",
    meanwhile: Any = None,
    more: dict[str, Any] | None = None,
    others: dict[str, Any] | None = None,
    fault: str = "",
) -> Scenario:
    given = params or {}
    kinds = {"str": str, "int": int, "bool": bool}
    declared = {
        key: {"type": next(kind for kind, one in kinds.items() if type(value) is one)}
        for key, value in given.items()
    }
    workflow = {"description": "As its name says.", "params": declared, "graph": graph, **(more or {})}
    source = {"domain": "rooms", "version": "1", "workflows": {"it": workflow, **(others or {})}}
    return Scenario(
        name,
        name.replace("_", " "),
        ends=ends,
        deployment="runs",
        run=RunOf(source, given),
        meanwhile=meanwhile,
        fault=fault,
    )


async def _gives(meanwhile: Meanwhile) -> None:
    await meanwhile.until_event("input.requested")
    await meanwhile.give({"ok": 1})
    await meanwhile.give({"ok": True})
    asked = await meanwhile.until_event("approval.requested")
    await meanwhile.send(ApprovalDecided(round=asked.round, is_approved=True, by="somebody"))


async def _denies(meanwhile: Meanwhile) -> None:
    asked = await meanwhile.until_event("approval.requested")
    await meanwhile.send(
        ApprovalDecided(round=asked.round, is_approved=False, by="somebody", reason="too dear")
    )


async def _cancels(meanwhile: Meanwhile) -> None:
    await meanwhile.until_event("input.requested")
    await meanwhile.antiphon.cancel(meanwhile.session_id, "changed my mind")


async def _cancels_a_waiting_approval(meanwhile: Meanwhile) -> None:
    await meanwhile.until_event("approval.requested")
    await meanwhile.antiphon.cancel(meanwhile.session_id, "too dear after all")


SCENARIOS = (
    a_run(
        "a_run_whose_write_stands_as_a_part_takes_too_long",
        {
            "reserve": {"call": "reserve", "args": {"room": "$room"}},
            "slow": {"workflow": "rests", "depends_on": ["reserve"], "timeout_s": 0.2},
        },
        params={"room": "F"},
        ends="workflow_failed",
        others={
            "rests": {"description": "Inside.", "graph": {"rest": {"type": "wait", "seconds": 60}}},
        },
    ),
    a_run(
        "a_run_that_is_cancelled_before_a_call_is_approved",
        {"pay": {"call": "charge", "args": {"amount": 1}}},
        meanwhile=_cancels_a_waiting_approval,
        ends="cancelled",
    ),
    a_run(
        "a_run_of_which_nobody_approves",
        {"pay": {"call": "charge", "args": {"amount": 1}}},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_that_would_let_a_model_write",
        {"choose": {"type": "reason", "question": "Which room?", "tools": ["reserve"]}},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_that_takes_every_kind_of_step",
        {
            "look": {"call": "find", "args": {"place": "$town"}},
            "each": {
                "type": "foreach",
                "depends_on": ["look"],
                "items": "range(0, 4)",
                "as": "i",
                "concurrency": 2,
                "on_item_error": "collect",
                "step": {"call": "count", "args": {"number": "$i"}},
            },
            "few": {
                "type": "foreach",
                "depends_on": ["look"],
                "items": "$look.rooms",
                "as": "room",
                "on_item_error": "skip",
                "step": {"call": "reserve", "args": {"room": "$room.id"}},
            },
            "both": {
                "type": "parallel",
                "depends_on": ["each", "few"],
                "on_partial_failure": "continue",
                "branches": {
                    "one": {"workflow": "inner", "args": {"room": "$look.rooms.0.id"}},
                    "two": {"call": "count", "args": {"number": 3}},
                },
            },
            "pick": {
                "type": "branch",
                "depends_on": ["both"],
                "on": [{"when": "$look.count > 5 && $town == 'x'", "goto": "many"}, {"default": "rest"}],
            },
            "many": {"call": "find", "args": {"place": "far"}},
            "rest": {"type": "wait", "seconds": 0.05},
            "never": {
                "call": "find",
                "depends_on": ["rest"],
                "when": "!($look.count in [1, 2])",
                "args": {"place": "none"},
            },
        },
        params={"town": "rome"},
        more={
            "output": {
                "rooms": "$look.rooms",
                "first": "${look.rooms.0.id} of $look.rooms.length",
                "each": "$each",
                "few": "$few.length",
            }
        },
        others={
            "inner": {
                "description": "Inside.",
                "params": {"room": {"type": "str", "required": True}},
                "graph": {"reserve": {"call": "reserve", "args": {"room": "$room"}}},
                "output": "$reserve.reservation",
            }
        },
    ),
    a_run(
        "a_run_that_is_undone",
        {"reserve": RESERVE, "fails": _FAILS},
        params={"room": "A"},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_whose_branches_are_rolled_back",
        {
            "both": {
                "type": "parallel",
                "on_partial_failure": "rollback_all",
                "branches": {
                    "good": {"call": "reserve", "args": {"room": "B"}, "output": "booked"},
                    "bad": {"call": "count", "args": {"number": 1}},
                },
            },
            "rollback_all": {
                "type": "compensate",
                "steps": [
                    {"call": "release", "args": {"reservation": "$booked.reservation"}, "ignore_error": True}
                ],
            },
        },
        ends="workflow_failed",
    ),
    a_run(
        "a_run_that_tries_again_and_falls_back",
        {
            "again": {
                "call": "stutter",
                "args": {"name": "again", "times": 1},
                "on_error": {"retry": 2, "delay": 10, "backoff": "exponential"},
            },
            "not": {
                "call": "stutter",
                "depends_on": ["again"],
                "args": {"name": "not", "times": 9},
                "on_error": {"retry": 1, "delay": 10, "fallback": "other"},
            },
            "other": {"call": "find", "args": {"place": "oslo"}},
        },
    ),
    a_run(
        "a_run_that_asks_people",
        {
            "ask": {"type": "yield", "message": "Shall I pay $amount?", "expects": {"ok": "bool"}},
            "pay": {
                "call": "charge",
                "depends_on": ["ask"],
                "when": "$ask.ok",
                "args": {"amount": "$amount"},
            },
        },
        params={"amount": 7},
        meanwhile=_gives,
    ),
    a_run(
        "a_run_that_somebody_denies",
        {"pay": {"call": "charge", "args": {"amount": 1}}},
        meanwhile=_denies,
        ends="workflow_failed",
    ),
    a_run(
        "a_run_that_is_cancelled_while_it_waits",
        {
            "reserve": RESERVE,
            "ask": {
                "type": "yield",
                "depends_on": ["reserve"],
                "message": "Well?",
                "expects": {"ok": "bool"},
            },
        },
        params={"room": "C"},
        meanwhile=_cancels,
        ends="cancelled",
    ),
    a_run(
        "a_run_that_nobody_answers",
        {
            "ask": {
                "type": "yield",
                "message": "Well?",
                "expects": {"ok": "bool"},
                "timeout_s": 0.2,
                "on_error": {"fallback": "ends"},
            },
            "ends": {"type": "error", "message": "nobody has answered about $room"},
        },
        params={"room": "D"},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_that_needs_review",
        {"reserve": {"call": "lose", "args": {"room": "E"}}},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_that_takes_too_long",
        {"rest": {"type": "wait", "seconds": 60}},
        more={"timeout_s": 0.3},
        ends="deadline_exceeded",
    ),
)
