"""Batches in one process keep what the tools' contracts promise about them."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.events import ToolsRequested
from antiphon_shared.process.clock import utc_now
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.tools.calls import RequestedCall, ToolResult

from antiphon import Dependency, ToolFailed, tool
from antiphon.linear.tools import LinearTools
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.settings import ToolDispatcherSettings

SECRET = "correct-horse-battery"
LIMIT_S = 60.0


class Watch:
    """Counts the calls that are under way."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.order: list[str] = []
        self._all = asyncio.Event()

    async def hold(self, name: str, until: int) -> str:
        """Under way until so many have been at once, or for a moment when they never are."""
        self.now += 1
        self.most = max(self.most, self.now)
        self.order.append(name)
        if self.now >= until:
            self._all.set()
        for _ in range(5 if until < 2 else 1_000):
            if until > 1 and self._all.is_set():
                break
            await asyncio.sleep(0.001)
        self.now -= 1
        return name


@pytest.fixture
def opened() -> Iterator[list[LinearTools]]:
    made: list[LinearTools] = []
    yield made
    for one in made:
        one.close()


async def run(
    opened: list[LinearTools],
    tools: list[Tool],
    *calls: tuple[str, dict[str, Any]],
    deadline_s: float = LIMIT_S,
) -> tuple[ToolResult, ...]:
    settings = ToolDispatcherSettings(default_scopes=("read", "write"))
    opened.append(LinearTools(Registry(tools), settings, Redactor([SECRET])))
    request = ToolsRequested(
        round=1,
        calls=tuple(
            RequestedCall(id=f"c{n}", name=name, arguments=arguments, idempotency_key=f"k{n}")
            for n, (name, arguments) in enumerate(calls)
        ),
        allowed=tuple(one.name for one in tools),
        deadline=utc_now() + timedelta(seconds=deadline_s),
    )
    completed = await opened[-1].run("s1", request)
    assert [result.index for result in completed.results] == list(range(len(calls)))
    return completed.results


async def test_parallel_safe_calls_run_together(opened: list[LinearTools]) -> None:
    watch = Watch()

    @tool(effect="read")
    async def look(name: str) -> str:
        """Looks."""
        return await watch.hold(name, until=3)

    results = await run(opened, [look], *[("look", {"name": name}) for name in "abc"])
    assert watch.most == 3
    assert [result.data for result in results] == ["a", "b", "c"]


async def test_sequential_only_calls_run_one_after_another_in_their_order(opened: list[LinearTools]) -> None:
    watch = Watch()

    @tool(effect="write")
    async def enter(name: str) -> str:
        """Enters."""
        return await watch.hold(name, until=1)

    await run(opened, [enter], *[("enter", {"name": name}) for name in "abc"])
    assert watch.most == 1
    assert watch.order == ["a", "b", "c"]


async def test_no_more_calls_of_a_tool_run_at_once_than_it_allows(opened: list[LinearTools]) -> None:
    watch = Watch()

    @tool(effect="read", max_concurrency=2)
    async def look(name: str) -> str:
        """Looks."""
        return await watch.hold(name, until=1)

    await run(opened, [look], *[("look", {"name": name}) for name in "abcdef"])
    assert watch.most == 2


async def test_a_dependent_call_waits_for_the_one_it_needs_and_takes_its_result(
    opened: list[LinearTools],
) -> None:
    @tool(effect="read")
    async def find(name: str) -> dict[str, int]:
        """Finds."""
        return {"id": 42}

    @tool(effect="read", depends_on=Dependency(tool="find", required_fields=("id",)))
    async def fetch(id: int) -> str:
        """Fetches."""
        return f"fetched {id}"

    calls = (("fetch", {"id": "${calls[1].id}"}), ("find", {"name": "x"}))
    fetched, found = await run(opened, [find, fetch], *calls)
    assert (found.status, fetched.data) == ("ok", "fetched 42")


async def test_plain_functions_run_in_threads_and_may_raise_anything(opened: list[LinearTools]) -> None:
    @tool(effect="read")
    def leak(name: str) -> str:
        """Leaks."""
        raise SystemExit(f"no access with {SECRET}")

    (result,) = await run(opened, [leak], ("leak", {"name": "x"}))
    assert result.error is not None
    assert result.error.error_type == "internal_error"
    assert SECRET not in result.error.message


async def test_a_call_is_given_up_after_its_own_time(opened: list[LinearTools]) -> None:
    @tool(effect="read", timeout_s=0.02, retry=1)
    async def sleep(name: str) -> str:
        """Sleeps."""
        await asyncio.sleep(60)
        return name

    (result,) = await run(opened, [sleep], ("sleep", {"name": "x"}))
    assert result.error is not None
    assert result.error.error_type == "timeout"


async def test_what_fails_in_passing_is_tried_again_and_what_keeps_failing_has_an_alternative(
    opened: list[LinearTools],
) -> None:
    made: list[int] = []

    @tool(effect="read", retry=3, backoff={"initial_ms": 1}, alternatives="second")
    async def first(name: str) -> str:
        """Fails."""
        made.append(1)
        raise ToolFailed("api_failure", "It is down.")

    @tool(effect="read")
    async def second(name: str) -> str:
        """Answers."""
        return f"second {name}"

    (result,) = await run(opened, [first, second], ("first", {"name": "x"}))
    assert len(made) == 3
    assert (result.data, result.substitute) == ("second x", "second")
    assert "first failed" in result.substitute_because


async def test_a_write_of_unknown_outcome_is_not_tried_again(opened: list[LinearTools]) -> None:
    made: list[int] = []

    @tool(effect="write", retry=3)
    async def enter(name: str) -> str:
        """Fails."""
        made.append(1)
        raise TimeoutError

    (result,) = await run(opened, [enter], ("enter", {"name": "x"}))
    assert result.error is not None
    assert result.error.error_type == "outcome_unknown"
    assert len(made) == 1


async def test_after_the_deadline_nothing_is_begun(opened: list[LinearTools]) -> None:
    made: list[int] = []

    @tool(effect="read")
    async def look(name: str) -> str:
        """Looks."""
        made.append(1)
        return name

    (result,) = await run(opened, [look], ("look", {"name": "x"}), deadline_s=-1)
    assert result.error is not None
    assert result.error.error_type == "timeout"
    assert not made


async def test_a_result_that_is_too_large_is_refused_with_what_to_do(opened: list[LinearTools]) -> None:
    @tool(effect="read", result_bytes_max=1_000)
    async def flood(name: str) -> str:
        """Floods."""
        return "x" * 2_000

    (result,) = await run(opened, [flood], ("flood", {"name": "x"}))
    assert result.error is not None
    assert "Ask for less" in result.error.suggested_action
