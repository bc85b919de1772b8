"""Every call has exactly one line in the log: as `tool_call`, with how it ended, and no secret in it."""

import asyncio
from collections.abc import Iterable
from typing import Annotated, Any

import pytest
from antiphon_shared.process.logs import silence
from antiphon_shared.tools.contract import BatchVariant
from structlog import get_logger
from structlog.testing import capture_logs

from antiphon import Secret
from tests.tool_dispatcher.builders import QUICK, a_bus, a_call, a_dispatcher, a_request, a_tool, results_of
from tests.tool_dispatcher.provoking import raising
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool, ToolFailed, tool

SECRET = "correct-horse-battery-staple"
Line = dict[str, Any]


def answer(arguments: dict[str, Any], context: ToolContext) -> Any:
    return {"found": arguments}


def calls_in(logs: Iterable[Any]) -> list[Line]:
    return [dict(line) for line in logs if line["event"] == "tool_call"]


async def lines_of(tools: list[Tool], *calls: Any, **settings: Any) -> list[Line]:
    """Return the lines of a batch, one for each of its calls."""
    allowed = settings.pop("allowed", tuple(one.name for one in tools))
    with capture_logs() as logs:
        await results_of(tools, a_request(*calls, allowed=allowed), **settings)
    lines = calls_in(logs)
    assert sorted(line["call_id"] for line in lines) == sorted(call.id for call in calls)
    return lines


async def test_a_call_that_succeeds_has_one_line_at_info() -> None:
    (line,) = await lines_of([a_tool("look", answer)], a_call("c1"))
    latency_ms = line.pop("latency_ms")
    assert isinstance(latency_ms, int)
    assert line == {
        "event": "tool_call",
        "log_level": "info",
        "tool": "look",
        "call_id": "c1",
        "session": "s1",
        "round": 1,
        "status": "ok",
    }


async def test_a_failure_is_an_error_with_its_type_message_and_traceback() -> None:
    (line,) = await lines_of([raising(ValueError("no such month"))], a_call())
    assert (line["log_level"], line["status"], line["error_type"]) == ("error", "failed", "internal_error")
    assert line["error"] == "ValueError: no such month"
    assert "Traceback" in line["exception"]
    assert "in fail" in line["exception"]


async def test_a_failure_that_the_tool_reports_is_an_error_without_a_traceback() -> None:
    (line,) = await lines_of([raising(ToolFailed("not_found", "There is no month 13."))], a_call())
    assert (line["log_level"], line["error_type"]) == ("error", "not_found")
    assert line["error"] == "There is no month 13."
    assert "exception" not in line


async def test_a_call_that_is_tried_again_has_one_line_about_its_end() -> None:
    (line,) = await lines_of([raising(ConnectionResetError("gone"), retry=3, backoff=QUICK)], a_call())
    assert (line["status"], line["error"]) == ("failed", "ConnectionResetError: gone (Tried 3 times)")

    failures = [ConnectionResetError("gone")]

    def once(arguments: dict[str, Any], context: ToolContext) -> str:
        if failures:
            raise failures.pop()
        return "at last"

    (line,) = await lines_of([a_tool("look", once, backoff=QUICK)], a_call())
    assert (line["status"], line.get("exception")) == ("ok", None)


async def test_a_timeout_is_an_error_without_a_traceback() -> None:
    async def hang(arguments: dict[str, Any], context: ToolContext) -> None:
        await asyncio.sleep(60)

    (line,) = await lines_of([a_tool("look", hang, timeout_s=0.01, retry=1)], a_call())
    assert (line["log_level"], line["error_type"]) == ("error", "timeout")
    assert "exception" not in line


REFUSED = {
    "no permission": ([a_tool("look", answer, scopes="crm")], [a_call()]),
    "a write without the scope": ([a_tool("look", answer, "write")], [a_call()]),
    "invalid arguments": (
        [Tool("look", "L.", {"type": "object"}, answer, effect="read")],
        [a_call(arguments={"n": 1})],
    ),
    "no such tool": ([a_tool("other", answer)], [a_call()]),
    "refused by the coordinator": ([a_tool("look", answer)], [a_call(refused="The limit is reached.")]),
    "arguments that are no object": ([a_tool("look", answer)], [a_call(problem="not an object")]),
    "a dependency that is missing": (
        [a_tool("look", answer, depends_on="search"), a_tool("search", answer)],
        [a_call()],
    ),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_refused_call_is_logged_at_info(name: str) -> None:
    tools, calls = REFUSED[name]
    (line,) = await lines_of(tools, *calls, default_scopes=("read",))
    assert (line["log_level"], line["status"]) == ("info", "refused")
    assert line["error"]


async def test_the_second_call_of_an_id_is_refused_in_its_own_log_line() -> None:
    lines = await lines_of([a_tool("look", answer)], a_call("c1"), a_call("c1"))
    assert sorted(line["status"] for line in lines) == ["ok", "refused"]


async def test_a_tool_that_refuses_its_arguments_is_logged_as_failed() -> None:
    (line,) = await lines_of([raising(ToolFailed("permission_denied", "Not yours."))], a_call())
    assert (line["log_level"], line["status"]) == ("error", "failed")


async def test_a_read_from_the_cache_is_cached() -> None:
    look = a_tool("look", answer, cache_ttl_s=60)
    async with a_bus() as bus:
        (first,) = await lines_of([look], a_call("c1"), bus=bus)
        (second,) = await lines_of([look], a_call("c2"), bus=bus)
    assert (first["status"], second["status"]) == ("ok", "cached")


async def test_a_write_that_is_answered_by_an_identical_one_is_repeated() -> None:
    book = a_tool("book", answer, "write")
    calls = [
        a_call(id, "book", arguments={"day": 1}).model_copy(update={"idempotency_key": None}) for id in "ab"
    ]
    lines = await lines_of([book], *calls)
    assert [(line["status"], line["log_level"]) for line in lines] == [("ok", "info"), ("repeated", "info")]


async def test_a_substitute_is_named() -> None:
    tools = [raising(ToolFailed("api_failure", "Down."), alternatives="other"), a_tool("other", answer)]
    (line,) = await lines_of(tools, a_call())
    assert (line["tool"], line["ran"], line["status"]) == ("look", "other", "ok")


async def test_each_member_of_a_group_has_its_line() -> None:
    @tool(effect="read")
    def look_at_many(items: list[dict[str, int]]) -> list[Any]:
        """Looks at many."""
        return [{"error": {"code": "NOT_FOUND"}} if item == {"n": 2} else item for item in items]

    variant = BatchVariant(tool="look_at_many", argument="items")
    tools = [a_tool("look", answer, batch=variant), look_at_many]
    calls = [a_call(f"c{n}", arguments={"n": n}) for n in range(5)]
    lines = await lines_of(tools, *calls)
    assert [line["status"] for line in lines] == ["ok", "ok", "failed", "ok", "ok"]
    assert {line["ran"] for line in lines} == {"look_at_many"}
    assert (lines[2]["error_type"], lines[2]["code"]) == ("not_found", "NOT_FOUND")


async def test_a_call_settled_before_a_takeover_is_not_logged_again() -> None:
    request = a_request(a_call("c1"), a_call("c2", "book"), a_call("c3", "gone"), allowed=("look", "book"))
    tools = [a_tool("look", answer), a_tool("book", answer, "write")]
    async with a_bus() as bus, a_dispatcher(*tools, bus=bus) as dispatcher:
        with capture_logs() as logs:
            first = await dispatcher.run(request)
        assert [line["call_id"] for line in calls_in(logs)] == ["c3", "c1", "c2"]
        with capture_logs() as logs:
            again = await dispatcher.run(request, redelivered=True)
    assert again == first
    assert calls_in(logs) == []


async def test_no_line_holds_a_secret_argument() -> None:
    @tool(effect="read", retry=1)
    def look(password: Annotated[str, Secret]) -> None:
        """Looks."""
        raise ValueError(f"wrong: {password}")

    (line,) = await lines_of([look], a_call(arguments={"password": SECRET}))
    assert "Traceback" in line["exception"]
    assert SECRET not in repr(line)


async def test_no_log_line_contains_a_secret() -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    (line,) = await lines_of([raising(ValueError(f"401 for {key}"))], a_call())
    assert line["status"] == "failed"
    assert key not in repr(line)


def test_the_command_line_prints_no_lines_of_calls(capsys: pytest.CaptureFixture[str]) -> None:
    silence("error")
    get_logger().error("tool_call", status="failed")
    get_logger().error("something_else")
    assert capsys.readouterr().err.count("\n") == 1
