"""Runs of workflows in which something does not fit, is stopped half way, or is set aside."""

from typing import Any

from antiphon_shared.events import CancellationRequested, ComponentFailed, DeadlineReached, InputGiven
from antiphon_shared.process.errors import ErrorInfo

from antiphon import workflows
from tests.recordings.scenario import Meanwhile
from tests.recordings.scenarios.runs import RESERVE, a_run

_ELSE: dict[str, Any] = {"on_error": {"fallback": "otherwise"}}
_LATE = {"description": "Fails late.", "graph": {
    "rest": {"type": "wait", "seconds": 0.2},
    "fails": {"call": "count", "depends_on": ["rest"], "args": {"number": 1}},
}}  # fmt: skip  # as a workflow file has it
_RESTS = {"description": "Has done something, and rests.", "graph": {
    "reserve": {**RESERVE, "args": {"room": "S"}},
    "rest": {"type": "wait", "seconds": 60, "depends_on": ["reserve"]},
}}  # fmt: skip
_TAKES = {
    "description": "Takes a number.",
    "params": {"number": {"type": "int"}},
    "graph": {"count": {"call": "count", "args": {"number": "$number"}}},
}


def _after(node: dict[str, Any], *before: str) -> dict[str, Any]:
    return {**node, "depends_on": [*(before or ("look",))], **_ELSE}


async def _sets_messages_aside(meanwhile: Meanwhile) -> None:
    """Send inputs of a run that become dead letters: a person's values, and a time limit."""
    asked = await meanwhile.until_event("input.requested")
    await meanwhile.send(InputGiven(round=asked.round, values={"ok": 1}))
    await meanwhile.until_event("input.refused")
    await meanwhile.send(DeadlineReached())
    await meanwhile.until_events("deadline.reached", 1)
    for type in ("input.given", "deadline.reached"):
        log = await meanwhile.antiphon.open_bus().session(meanwhile.session_id).log()
        failed = next(event.id for _, event in log if event.type == f"antiphon.{type}.v1")
        error = ErrorInfo(code="internal_error", message="It could not be taken in.")
        await meanwhile.send(ComponentFailed(component="coordinator", failed_event=failed, error=error))


async def _cancels_twice(meanwhile: Meanwhile) -> None:
    await meanwhile.until_events("tools.completed", 1)
    for reason in ("enough", "really"):
        await meanwhile.send(CancellationRequested(reason=reason))


async def _settles_and_resumes(meanwhile: Meanwhile) -> None:
    await meanwhile.until_event("response.ready")
    client, run_id = meanwhile.antiphon, meanwhile.session_id
    await workflows.settle(client, run_id, "reserve", happened=False, by="somebody")
    await workflows.resume(client, run_id, by="somebody")
    await meanwhile.until_events("response.ready", 2)


SCENARIOS = (
    a_run(
        "a_run_whose_items_and_branches_are_undone_by_steps",
        {
            "each": {
                "type": "foreach", "items": "range(0, 2)", "as": "i", "on_item_error": "collect",
                "step": {"call": "reserve", "args": {"room": "${i}"}},
            },
            "both": {
                "type": "parallel", "depends_on": ["each"],
                "branches": {"a": {"call": "reserve", "args": {"room": "A"}},
                             "b": {"call": "count", "args": {"number": 2}}},
            },
            "some": {
                "type": "parallel", "depends_on": ["both"],
                "branches": {"c": {"call": "reserve", "args": {"room": "C"}},
                             "d": {"call": "count", "args": {"number": 1}}},
                "on_partial_failure": "back",
            },
            "never": {"call": "find", "args": {"place": "x"}, "depends_on": ["some"]},
            "back": {
                "type": "compensate",
                "steps": [
                    {"call": "release", "args": {"reservation": "$each.1.reservation"}},
                    {"call": "release", "args": {"reservation": "$both.a.reservation"}},
                    {"call": "release", "args": {"reservation": "$some.c.reservation"}},
                    {"call": "release", "args": {"reservation": "$never.reservation"}},
                ],
            },
        },
        ends="workflow_failed",
    ),
    a_run(
        "a_run_whose_undoing_takes_turns",
        {
            "look": {"call": "find", "args": {"place": "x"}},
            "both": {
                "type": "parallel", "depends_on": ["look"],
                "branches": {"one": {"workflow": "counts"}, "two": {"workflow": "counts"},
                             "late": {"workflow": "late"}},
                **_ELSE,
            },
            "otherwise": {"call": "find", "args": {"place": "else"}},
        },
        others={
            "late": _LATE,
            "counts": {"description": "Undone by a call one at a time.", "graph": {
                "reserve": {
                    "call": "reserve", "args": {"room": "T"},
                    "compensate": {"call": "count", "args": {"number": 2}},
                },
                "rest": {"type": "wait", "seconds": 60, "depends_on": ["reserve"]},
            }},
        },
    ),
    a_run(
        "a_run_that_is_resumed_after_what_did_not_happen",
        {
            "inner": {"workflow": "takes", "args": {"number": 2}},
            "skipped": {"call": "find", "args": {"place": "x"}, "when": "1 > 2"},
            "below": {"call": "find", "args": {"place": "x"}, "depends_on": ["skipped"]},
            "reserve": {"call": "lose", "args": {"room": "N"}, "depends_on": ["inner"]},
        },
        others={"takes": _TAKES},
        meanwhile=_settles_and_resumes,
        ends="workflow_failed",
    ),
    a_run(
        "a_run_whose_values_do_not_fit",
        {
            "look": {"call": "find", "args": {"place": "$town"}},
            "path": _after({"call": "count", "args": {"number": "$look.none"}}),
            "condition": _after({"call": "find", "args": {"place": "x"}, "when": "$look.count > $town"}),
            "items": _after({
                "type": "foreach", "items": "$look.count", "as": "i",
                "step": {"call": "count", "args": {"number": "$i"}},
            }),
            "none": _after({
                "type": "foreach", "items": "range(0, 0)", "as": "i",
                "step": {"call": "count", "args": {"number": "$i"}},
            }),
            "question": _after({"type": "reason", "question": "$blank"}),
            "number": _after({"workflow": "takes", "args": {"number": "$look.rooms"}}),
            "way": _after({"type": "branch", "on": [{"when": "$look.count > 9", "goto": "far"}]}),
            "far": {"call": "find", "args": {"place": "far"}},
            "until": _after({"type": "wait", "until": "$town"}),
            "never": _after({"type": "wait", "until": "0000-01-01T00:00:00Z"}),
            "past": _after({"type": "wait", "until": "$moment"}),
            "seconds": _after({"type": "wait", "seconds": "$town"}),
            "all": _after({
                "type": "parallel", "on_partial_failure": "continue",
                "branches": {"a": {"call": "count", "args": {"number": 1}},
                             "b": {"call": "count", "args": {"number": 3}}},
            }),
            "slow": _after({"type": "wait", "seconds": 60, "timeout_s": 0.05}),
            "long": _after({
                "type": "foreach", "items": "range(0, 2)", "as": "i", "timeout_s": 0.05,
                "step": {"workflow": "rests"},
            }),
            "otherwise": {"call": "find", "args": {"place": "else"}},
        },
        params={"town": "rome", "blank": " ", "moment": "2020-01-01T00:00:00Z"},
        others={"takes": _TAKES, "rests": _RESTS},
        more={"output": "$look.count"},
    ),
    a_run(
        "a_run_whose_output_is_missing",
        {"reserve": {**RESERVE, "compensate": {"call": "count", "args": {"number": 1}}}},
        params={"room": "G"},
        more={"output": "$reserve.none"},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_of_which_nothing_says_what_undoes_it",
        {
            "reserve": {**RESERVE, "compensate": {"call": "release", "args": {"reservation": "$reserve.x"}}},
            "fails": {"call": "count", "depends_on": ["reserve"], "args": {"number": 1}},
        },
        params={"room": "H"},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_whose_parts_are_stopped_half_way",
        {
            "both": {
                "type": "parallel",
                "branches": {
                    "rests": {"workflow": "rests"},
                    "thinks": {"type": "reason", "question": "Which rooms are there?", "tools": ["pause"]},
                    "again": {
                        "call": "stutter",
                        "args": {"name": "stopped", "times": 9},
                    },
                    "late": {"workflow": "late"},
                },
                **_ELSE,
            },
            "otherwise": {"call": "find", "args": {"place": "else"}},
        },
        others={"rests": _RESTS, "late": _LATE},
    ),
    a_run(
        "a_run_whose_foreach_fails_at_an_item",
        {
            "each": {
                "type": "foreach", "items": "range(0, 4)", "as": "i", "concurrency": 3,
                "step": {"workflow": "takes", "args": {"number": "$i"}},
            },
        },
        others={"takes": _TAKES},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_that_is_stopped_as_it_waits_to_try_again",
        {
            "again": {
                "call": "stutter", "args": {"name": "waits", "times": 9},
                "on_error": {"retry": 3, "delay": 60_000},
            },
            "late": {"workflow": "late"},
            "inner": {"workflow": "rests"},
        },
        others={"late": _LATE, "rests": _RESTS},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_that_does_not_repeat_what_is_unknown",
        {
            "some": {
                "type": "parallel", "on_partial_failure": "continue",
                "branches": {"lost": {"call": "lose", "args": {"room": "I"}}},
                **_ELSE,
            },
            "otherwise": {"call": "reserve", "args": {"room": "I"}},
        },
        ends="workflow_failed",
    ),
    a_run(
        "a_run_whose_fallback_is_skipped",
        {
            "fails": {"call": "count", "args": {"number": 1}, **_ELSE},
            "otherwise": {"call": "find", "args": {"place": "else"}, "when": "$town == 'oslo'"},
        },
        params={"town": "rome"},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_without_leave_for_a_tool",
        {"admit": {"call": "admit", "args": {"guest": "Ann"}}},
        ends="workflow_failed",
    ),
    a_run(
        "a_run_whose_messages_are_set_aside",
        {
            "reserve": RESERVE,
            "ask": {
                "type": "yield", "depends_on": ["reserve"], "message": "Well?", "expects": {"ok": "bool"},
            },
        },
        params={"room": "J"},
        meanwhile=_sets_messages_aside,
        ends="workflow_failed",
    ),
    a_run(
        "a_run_whose_calls_are_set_aside",
        {
            "both": {
                "type": "parallel", "on_partial_failure": "continue",
                "branches": {"reads": {"call": "find", "args": {"place": "oslo"}},
                             "writes": {"call": "reserve", "args": {"room": "U"}}},
            },
        },
        fault="tool.before:raise@1-1000",
        ends="any",
    ),
    a_run(
        "a_run_whose_failure_is_long",
        {
            "look": {"call": "find", "args": {"place": "x"}},
            "long": _after({"call": "find", "args": {"place": f"$look.{'x' * 2_100}"}}),
            "otherwise": {"call": "find", "args": {"place": "else"}},
        },
        ends="any",
    ),
    a_run(
        "a_run_that_is_cancelled_twice",
        {
            "reserve": RESERVE,
            "inner": {"workflow": "rests", "depends_on": ["reserve"]},
        },
        params={"room": "K"},
        others={"rests": _RESTS},
        meanwhile=_cancels_twice,
        ends="cancelled",
    ),
)  # fmt: skip  # graphs read better with a node in few lines
