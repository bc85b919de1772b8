"""A recording answers the calls that it holds, and no others."""

from datetime import UTC, datetime
from typing import Any

import pytest
from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.tools.calls import Catalogue, RequestedCall, ToolError, ToolResult

from antiphon.linear.tools import LinearTools
from antiphon.recording.lines import CatalogueLine, EventLine, Line
from antiphon.replay.compare.served import Served
from antiphon.replay.recorded_calls import calls_with_results
from tool_dispatcher.authoring.failures import ToolFailed
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.settings import ToolDispatcherSettings

NOW = datetime(2100, 1, 1, tzinfo=UTC)


def answer(served: Served, name: str, arguments: dict[str, Any]) -> Any:
    return served._answer(name, arguments)


def recorded_calls(lines: list[Line]) -> list[tuple[RequestedCall, ToolResult]]:
    found: list[tuple[RequestedCall, ToolResult]] = []
    request: ToolsRequested | None = None
    for line in lines:
        match line:
            case EventLine(event=event) if isinstance(event.data, ToolsRequested):
                request = event.data
            case EventLine(event=event) if isinstance(event.data, ToolsCompleted) and request:
                found += zip(request.calls, event.data.results, strict=True)
    return found


def a_batch(*calls: tuple[str, dict[str, Any], Any]) -> Served:
    """Return a session that made these calls and got these results; a ToolError is one."""
    requested = tuple(
        RequestedCall(id=f"c{n}", name=name, arguments=arguments, idempotency_key="k")
        for n, (name, arguments, _) in enumerate(calls)
    )
    results = tuple(
        ToolResult(index=n, call_id=f"c{n}", tool=name, status="error", error=got)
        if isinstance(got, ToolError)
        else ToolResult(index=n, call_id=f"c{n}", tool=name, status="ok", data=got)
        for n, (name, _, got) in enumerate(calls)
    )
    served = Served()
    request, completed = (
        ToolsRequested(round=1, calls=requested, deadline=NOW),
        ToolsCompleted.of(round=1, results=results),
    )
    for call, given, got in calls_with_results(request, completed):
        served.add(call.name, given, got)
    return served


async def test_a_recorded_call_gets_its_result_through_the_tools_of_the_recording(
    courses_lines: list[Line],
) -> None:
    served = Served.of(courses_lines)
    assert [tool.name for tool in served.tools] == ["get_course_outline", "search_course_content"]
    calls = recorded_calls(courses_lines)
    assert calls
    tools = LinearTools(Registry(served.tools), ToolDispatcherSettings(), Redactor())
    request = ToolsRequested(
        round=1,
        calls=tuple(call for call, _ in calls),
        allowed=tuple(tool.name for tool in served.tools),
        deadline=NOW,
    )
    completed = await tools.run("s1", request)
    tools.close()
    assert [result.data for result in completed.results] == [result.data for _, result in calls]
    assert served.misses == 0


def test_arguments_match_in_any_order_but_not_with_other_types() -> None:
    served = a_batch(("look", {"a": 1, "b": "x"}, "found"))
    assert answer(served, "look", {"b": "x", "a": 1}) == "found"
    for other in ({"a": "1", "b": "x"}, {"a": 1}, {}):
        with pytest.raises(ToolFailed, match="not called with these arguments"):
            answer(served, "look", other)
    assert served.misses == 3


def test_a_repeated_call_gets_the_recorded_results_in_order_and_then_the_last() -> None:
    served = a_batch(("poll", {}, "waiting"), ("poll", {}, "done"))
    assert [answer(served, "poll", {}) for _ in range(3)] == ["waiting", "done", "done"]
    served.begin()
    assert answer(served, "poll", {}) == "waiting"


def test_an_error_is_served_as_it_was_recorded() -> None:
    served = a_batch(
        ("look", {}, ToolError(error_type="not_found", message="None.", suggested_action="Ask."))
    )
    with pytest.raises(ToolFailed, match=r"None\.") as raised:
        answer(served, "look", {})
    assert raised.value.error_type == "not_found"
    assert served.misses == 0


def test_an_error_of_the_dispatcher_is_not_served_as_a_result_of_the_tool() -> None:
    circuit_open = ToolError(error_type="circuit_open", message="Shut.", suggested_action="Wait.")
    served = a_batch(("look", {}, circuit_open))
    with pytest.raises(ToolFailed, match="not called with"):
        answer(served, "look", {})


def test_an_argument_taken_from_another_call_matches_by_its_value() -> None:
    served = a_batch(("find", {}, {"id": 42}), ("fetch", {"id": "${calls[0].id}"}, "fetched"))
    assert answer(served, "fetch", {"id": 42}) == "fetched"


def test_a_served_tool_does_not_repeat_the_retries_of_its_contract(courses_lines: list[Line]) -> None:
    (line,) = [line for line in courses_lines if isinstance(line, CatalogueLine)]
    assert isinstance(line.catalogue, Catalogue)
    assert {tool.contract.retry.attempts for tool in Served.of(courses_lines).tools} == {1}
