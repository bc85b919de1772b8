"""The arguments and results of a workflow's calls, through a whole pipeline in this process."""

import asyncio
from typing import Any

import pytest
from antiphon_shared.events import ToolsRequested
from antiphon_shared.tools.journal import result_name

from antiphon import Antiphon, InvalidQuery, ToolContext, tool, workflows
from antiphon.errors import NotWaiting, TooLate
from antiphon.observe import recent_sessions
from antiphon.run_state import run_state
from tests.tool_dispatcher.builders import until
from tool_dispatcher.authoring.tool import ToolFailed

LIMIT_S = 60.0


@tool(effect="read")
async def echo(value: Any) -> Any:
    """Returns what it is given."""
    return value


@tool(effect="read")
async def many(count: int) -> list[dict[str, Any]]:
    """Returns as many records."""
    return [{"id": f"R{n}", "text": "x" * 100} for n in range(count)]


@tool(effect="write", mode="parallel-safe")
async def book(room: int) -> dict[str, str]:
    """Books a room."""
    return {"booking": f"B{room}"}


@tool(effect="write", depends_on=["book"])
async def pay(booking: str) -> str:
    """Pays for a booking."""
    return f"paid {booking}"


def a_workflow(graph: dict[str, Any], **more: Any) -> Any:
    flow = {"description": "A workflow of a test.", "graph": graph, **more}
    return workflows.build({"domain": "tests", "version": "1.0", "workflows": {"flow": flow}})


def a_pipeline(*tools: Any) -> Antiphon:
    return Antiphon.embedded(tools=tools, scopes=["read", "write"], model="offline")


async def result_of(antiphon: Antiphon, source: Any, **params: Any) -> Any:
    response = await workflows.run(antiphon, "flow", params, source=source, timeout_s=LIMIT_S)
    assert response.run is not None
    assert response.run.status == "completed", response.answer
    return response.result


async def test_text_that_looks_like_a_placeholder_reaches_the_tool_unchanged() -> None:
    source = a_workflow(
        {"a": {"call": "echo", "args": {"value": "$text"}}},
        params={"text": {"type": "str", "required": True}},
        output="$a",
    )
    async with a_pipeline(echo) as antiphon:
        for text in ("${calls[0]}", "${calls[", "$${calls[0]}"):
            assert await result_of(antiphon, source, text=text) == text


async def test_references_see_a_result_whole_that_is_too_large_for_an_event() -> None:
    source = a_workflow(
        {
            "all": {"call": "many", "args": {"count": 40_000}},
            "now": {"call": "echo", "depends_on": ["all"], "args": {"value": "$all.39999.id"}},
            **{
                f"n{n}": {"call": "many", "depends_on": ["now"], "args": {"count": 40_000 + n}}
                for n in range(6)
            },
            "later": {
                "call": "echo",
                "depends_on": [f"n{n}" for n in range(6)],
                "args": {"value": ["$all.20000.id", "$n0.length", "$n5.length"]},
            },
        },
        output={"now": "$now", "later": "$later", "count": "$all.length"},
    )
    async with a_pipeline(echo, many) as antiphon:
        found = await result_of(antiphon, source)
    assert found == {"now": "R39999", "later": ["R20000", 40_000, 40_005], "count": 40_000}


async def test_a_result_kept_whole_outlasts_every_wait_of_its_run() -> None:
    source = a_workflow(
        {
            "all": {"call": "many", "args": {"count": 40_000}},
            "ask": {
                "type": "yield",
                "depends_on": ["all"],
                "message": "Go on?",
                "expects": {"yes": "bool"},
                "timeout_s": 2_000_000,
            },
            "more": {"call": "many", "args": {"count": 40_000}, "depends_on": ["pause"]},
            "pause": {"type": "wait", "depends_on": ["all"], "seconds": 0.3},
        },
        output={"count": "$all.length"},
    )
    async with a_pipeline(many) as antiphon:
        run_id = await workflows.start(antiphon, "flow", source=source)
        bus = antiphon.open_bus()

        async def are_kept_long() -> bool:
            state = await run_state(bus, run_id)
            keys = [
                bus.keys.of_session(run_id, result_name(one))
                for one in (state.wholes.values() if state else ())
            ]
            lives_ms = [await bus.batcher.submit("PTTL", key) for key in keys]
            return len(lives_ms) == 2 and min(lives_ms) > 2_000_000_000

        await until(are_kept_long)


async def test_a_run_tries_an_idempotent_write_again_under_its_key() -> None:
    runs: list[ToolContext] = []

    @tool(effect="write", idempotent=True, retry=5)
    async def send(context: ToolContext) -> str:
        """Sends it."""
        runs.append(context)
        if len(runs) < 3:
            raise ToolFailed("api_failure", "The service did not answer.")
        return "sent"

    source = a_workflow({"a": {"call": "send", "on_error": {"retry": 2, "delay": 1}}}, output="$a")
    async with a_pipeline(send) as antiphon:
        assert await result_of(antiphon, source) == "sent"
    assert len({context.idempotency_key for context in runs}) == 1
    assert [(context.call_id, context.attempt) for context in runs] == [("a#1", 1), ("a#2", 1), ("a#3", 1)]


async def test_a_dependent_tool_runs_after_the_other_has_succeeded_in_the_run() -> None:
    graph = {
        "room": {"call": "book", "args": {"room": 7}},
        "paid": {"call": "pay", "depends_on": ["room"], "args": {"booking": "$room.booking"}},
    }
    async with a_pipeline(book, pay) as antiphon:
        assert await result_of(antiphon, a_workflow(graph, output="$paid")) == "paid B7"
        alone = a_workflow({"paid": {"call": "pay", "args": {"booking": "B7"}}})
        response = await workflows.run(antiphon, "flow", source=alone, timeout_s=LIMIT_S)
    assert response.run is not None
    assert response.run.status == "failed"
    assert "it needs book" in response.answer


class TestApprovals:
    """Calls of a run that a person has to decide on."""

    @pytest.fixture(autouse=True)
    def _rule(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ANTIPHON_TOOL_DISPATCHER_APPROVAL", "book")

    source = a_workflow(
        {
            "rooms": {
                "type": "parallel",
                "on_partial_failure": "continue",
                "branches": {
                    "a": {"call": "book", "args": {"room": 1}},
                    "b": {"call": "book", "args": {"room": 2}},
                },
            }
        },
        output="$rooms",
    )

    async def _waiting(self, antiphon: Antiphon) -> str:
        """Return a run whose two calls wait."""
        run_id = await workflows.start(antiphon, "flow", source=self.source)

        async def wait() -> bool:
            return any(len(one.waits_for) == 2 for one in await recent_sessions(antiphon.open_bus(), 1))

        await until(wait)
        return run_id

    async def test_all_waiting_calls_are_approved_together_and_then_run(self) -> None:
        async with a_pipeline(book) as antiphon:
            run_id = await self._waiting(antiphon)
            assert await antiphon.approve(run_id, by="Ann") == ("rooms/a#1", "rooms/b#1")
            response = await antiphon.result(run_id, LIMIT_S)
            assert response.result == {"a": {"booking": "B1"}, "b": {"booking": "B2"}}
            with pytest.raises(NotWaiting, match="it has ended, completed"):
                await antiphon.approve(run_id)

    async def test_each_call_is_decided_on_for_itself(self) -> None:
        async with a_pipeline(book) as antiphon:
            run_id = await self._waiting(antiphon)
            bus = antiphon.open_bus()
            (summary,) = await recent_sessions(bus, 1)
            assert (summary.status, summary.waits_for) == (
                "waiting",
                ("book (rooms/a#1)", "book (rooms/b#1)"),
            )
            with pytest.raises(InvalidQuery, match="has no call 'c9'"):
                await antiphon.approve(run_id, ["c9"])
            assert await antiphon.deny(run_id, ["rooms/a#1"], by="Ann", reason="Taken.") == ("rooms/a#1",)
            assert await antiphon.approve(run_id, ["rooms/b#1"]) == ("rooms/b#1",)
            response = await antiphon.result(run_id, LIMIT_S)
            log = await bus.session(run_id).log()
        assert response.result == {"b": {"booking": "B2"}}
        assert response.run is not None
        denied = next(node for node in response.run.nodes if node.path == "rooms/a")
        assert (denied.status, denied.message) == ("failed", "Ann denied it: Taken.")
        asked = [event.data.calls[0].id for _, event in log if isinstance(event.data, ToolsRequested)]
        assert asked == ["rooms/b#1"]

    async def test_a_decision_that_is_late_for_one_call_reaches_the_others(self) -> None:
        async with a_pipeline(book) as antiphon:
            run_id = await self._waiting(antiphon)
            denied, late = await asyncio.gather(
                antiphon.deny(run_id, ["rooms/a#1"], by="Ann"),
                antiphon.approve(run_id, by="Bob"),
                return_exceptions=True,
            )
            response = await antiphon.result(run_id, LIMIT_S)
        assert response.result is not None
        if isinstance(denied, TooLate):  # Bob was first
            assert response.result == {"a": {"booking": "B1"}, "b": {"booking": "B2"}}
        else:
            assert response.result == {"b": {"booking": "B2"}}
            assert isinstance(late, TooLate)
            assert "Ann denied rooms/a#1 first" in str(late)

    async def test_a_run_that_waits_for_values_waits_for_no_approval(self) -> None:
        source = a_workflow({"ask": {"type": "yield", "message": "Go on?", "expects": {"yes": "bool"}}})
        async with a_pipeline(book) as antiphon:
            run_id = await workflows.start(antiphon, "flow", source=source)

            async def wait() -> bool:
                sessions = await recent_sessions(antiphon.open_bus(), 1)
                return [one.asks for one in sessions] == [("values for ask",)]

            await until(wait)
            with pytest.raises(NotWaiting, match="the run is waiting for a person's values at ask"):
                await antiphon.approve(run_id)
            with pytest.raises(NotWaiting, match="has no open question"):
                await antiphon.answer(run_id, "Yes.")
