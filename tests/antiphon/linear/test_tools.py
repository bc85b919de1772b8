"""Batches in one process keep the promises of the tools' contracts."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.events import ToolsRequested
from antiphon_shared.process.clock import utc_now
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.tools.calls import RequestedCall, ToolResult

from antiphon import Dependency, ToolContext, ToolFailed, tool
from antiphon.linear.tools import LinearTools
from tests.tool_dispatcher.builders import a_tool
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.settings import ToolDispatcherSettings

SECRET = "correct-horse-battery"
LIMIT_S = 60.0


class Watch:
    """Counts the calls in flight."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.order: list[str] = []
        self._all = asyncio.Event()

    async def hold(self, name: str, until: int) -> str:
        """Run until a number of calls run concurrently, or for a moment if they never do."""
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


@pytest.mark.parametrize(
    ("effect", "options", "calls", "most"),
    [
        ("read", {}, "abc", 3),
        ("write", {}, "abc", 1),
        ("read", {"max_concurrency": 2}, "abcdef", 2),
    ],
    ids=["parallel-safe", "sequential-only", "bounded"],
)
async def test_calls_run_concurrently_up_to_the_limit_of_their_contracts(
    effect: Any, options: dict[str, Any], calls: str, most: int, opened: list[LinearTools]
) -> None:
    watch = Watch()

    @tool(effect=effect, **options)
    async def look(name: str) -> str:
        """Looks."""
        return await watch.hold(name, until=most if not options else 1)

    results = await run(opened, [look], *[("look", {"name": name}) for name in calls])
    assert watch.most == most
    assert [result.data for result in results] == list(calls)
    assert watch.order == list(calls)


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


async def leak() -> str:
    raise SystemExit(f"no access with {SECRET}")


async def sleep() -> str:
    await asyncio.sleep(0.2)
    return "late"


async def lose() -> str:
    raise TimeoutError


async def flood() -> str:
    return "x" * 2_000


@pytest.mark.parametrize(
    ("ends", "effect", "options", "deadline_s", "error_type", "action", "runs"),
    [
        (leak, "read", {}, LIMIT_S, "internal_error", "", 1),
        (sleep, "read", {"timeout_s": 0.02, "retry": 1}, LIMIT_S, "timeout", "", 1),
        (lose, "write", {"retry": 3}, LIMIT_S, "outcome_unknown", "do not repeat it", 1),
        (flood, "read", {"result_bytes_max": 1_000}, LIMIT_S, "validation_error", "Ask for less", 1),
        (flood, "read", {}, -1, "timeout", "Answer from what has been found", 0),
    ],
    ids=["raises anything", "is slow", "may have taken effect", "returns too much", "is too late"],
)
@pytest.mark.parametrize("is_plain", [False, True])
async def test_a_failed_call_becomes_an_error_with_advice(
    ends: Callable[[], Coroutine[Any, Any, str]],
    effect: Any,
    options: dict[str, Any],
    deadline_s: float,
    error_type: str,
    action: str,
    runs: int,
    is_plain: bool,
    opened: list[LinearTools],
) -> None:
    made: list[int] = []

    async def awaited(arguments: dict[str, Any], context: ToolContext) -> str:
        made.append(1)
        return await ends()

    def plain(arguments: dict[str, Any], context: ToolContext) -> str:
        made.append(1)
        return asyncio.run(ends())

    one = a_tool("one", plain if is_plain else awaited, effect, **options)
    (result,) = await run(opened, [one], ("one", {}), deadline_s=deadline_s)
    assert result.error is not None
    assert (result.error.error_type, len(made)) == (error_type, runs)
    assert action in result.error.suggested_action
    assert SECRET not in result.error.message


async def test_a_transient_failure_is_retried_and_a_lasting_one_falls_back_to_the_alternative(
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
