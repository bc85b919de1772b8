"""Calls in one process are answered as by a dispatcher: one executor, and two ledgers with the same rules."""

import asyncio
from typing import Any

from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.linear.tools import LinearTools
from tests.tool_dispatcher.builders import a_dispatcher, a_request, a_tool, results_of, soon
from tests.tool_dispatcher.repeating import UNKNOWN, asks
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import ToolFailed
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.settings import ToolDispatcherSettings

Call = tuple[str, str, str]
"""The tool, its argument, and whether it is `plain`, repeats the first such call (`again`), or fails."""
_CALLS = st.tuples(
    st.sampled_from(("pay", "note", "press", "check", "mend")),
    st.sampled_from("ab"),
    st.sampled_from(("plain", "plain", "again", "unknown", "none")),
)
_BATCHES = st.lists(st.lists(_CALLS, min_size=1, max_size=4), min_size=1, max_size=5)
X: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
_OUTCOMES = {"unknown": UNKNOWN, "none": ToolFailed("not_found", "There is no such account.")}


def some_tools(fails: dict[str, str], made: list[tuple[str, str]]) -> list[Tool]:
    """Return tools whose calls fail as `fails` says for their id; `made` are the keys of those that ran.

    They run in order: whether a parallel write comes between two identical ones depends on the time that
    each ledger takes.
    """

    async def run(arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        made.append((context.call_id, context.idempotency_key))
        if (outcome := _OUTCOMES.get(fails[context.call_id])) is not None:
            raise outcome
        return {"by": context.call_id}

    options: dict[str, dict[str, Any]] = {
        "pay": {},
        "note": {},
        "press": {"repeat": "run"},
        "check": {"repeat": "ask"},
        "mend": {"idempotent": True, "retry": 1},
    }
    return [
        a_tool(name, run, "write", error_propagation="partial-success", **more)
        for name, more in options.items()
    ]


def as_calls(batches: list[list[Call]]) -> tuple[list[list[RequestedCall]], dict[str, str]]:
    first: dict[tuple[str, str], str] = {}
    asked, fails = [], {}
    for n, drawn in enumerate(batches):
        calls, before = [], dict(first)
        for place, (name, x, how) in enumerate(drawn):
            id = f"c{n}_{place}"
            again = before.get((name, x)) if how == "again" else None
            calls.append(asks(id, name, {"x": x}, repeat_of=again))
            first.setdefault((name, x), id)
            fails[id] = how
        asked.append(calls)
    return asked, fails


def shown(results: tuple[ToolResult, ...]) -> list[dict[str, Any]]:
    return [one.model_dump(exclude={"duration_ms": True, "repeated": {"at"}}) for one in results]


def failing(arguments: dict[str, Any], context: ToolContext) -> None:
    raise ToolFailed("api_failure", "It is down.")


def judged(arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
    return {"valid": arguments["x"] == "a", "errors": ["It is not a."]}


async def test_reads_are_answered_as_by_a_dispatcher() -> None:
    """The results include the verdict of a validating tool and the failed alternatives."""
    tools = [
        a_tool("first", failing, retry=1, alternatives="second"),
        a_tool("second", failing, retry=1),
        Tool("judge", "Judges.", X, judged, effect="read", validates="x"),
    ]
    calls = [
        asks("c0", "first"),
        asks("c1", "judge", {"x": "a"}),
        asks("c2", "judge", {"x": "${calls[1].valid}"}),
        asks("c3", "judge", {"x": "b"}),
        asks("c4", "judge", {"y": "b"}),
        asks("c4", "judge", {"x": "a"}),
        asks("c5", "no_such_tool"),
    ]
    request = a_request(*calls, allowed=("first", "second", "judge"), deadline=soon(60))
    linear = LinearTools(Registry(tools), ToolDispatcherSettings(), Redactor([]))
    alone = (await linear.run("s1", request)).results
    linear.close()
    assert shown(alone) == shown(await results_of(tools, request))
    errors = [one.error.error_type if one.error else "" for one in alone]
    assert errors == [
        "api_failure",
        "",
        "validation_error",
        "",
        "validation_error",
        "validation_error",
        "unknown_tool",
    ]
    assert "second, asked instead, failed as well" in str(alone[0].error)
    assert [one.validation.has_passed for one in alone if one.validation] == [True, False]


async def both(batches: list[list[Call]]) -> None:
    asked, fails = as_calls(batches)
    made: tuple[list[tuple[str, str]], ...] = ([], [])
    chosen = ToolDispatcherSettings(default_scopes=("read", "write"))
    linear = LinearTools(Registry(some_tools(fails, made[0])), chosen, Redactor([]))
    async with a_dispatcher(*some_tools(fails, made[1])) as dispatcher:
        for n, calls in enumerate(asked):
            request = a_request(*calls, round=n + 1, deadline=soon(60))
            alone = (await linear.run("s1", request)).results
            assert shown(alone) == shown(await dispatcher.run(request))
    linear.close()
    assert sorted(made[0]) == sorted(made[1])


@settings(max_examples=60, deadline=None)
@given(_BATCHES)
def test_writes_run_and_are_answered_as_by_a_dispatcher(batches: list[list[Call]]) -> None:
    asyncio.run(both(batches))


def test_a_write_of_unknown_outcome_that_may_run_again_is_settled_by_the_next_identical_call() -> None:
    asyncio.run(both([[("mend", "a", "unknown")], [("mend", "a", "plain")], [("mend", "a", "plain")]]))
