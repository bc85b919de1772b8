"""Running one call: any behaviour of a tool ends in a value."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import Effect
from structlog.testing import capture_logs

from tests.tool_dispatcher.builders import a_context, a_tool, until
from tool_dispatcher.authoring.tool import ToolFailed
from tool_dispatcher.running.execute import execute
from tool_dispatcher.running.threads import NoThread, Threads

BRIEF_S = 0.05


@pytest.fixture
async def threads() -> AsyncIterator[Threads]:
    made = Threads(2)
    yield made
    made.close()


async def _execute(
    function: Callable[..., Any], threads: Threads, effect: Effect = "read", timeout_s: float = 60.0
) -> Any:
    tool = a_tool("t", function, effect)
    async with threads.reserve(60.0) as place:
        ended = await execute(tool, {"a": 1}, a_context(), timeout_s, None if tool.is_async else place)
    return ended.outcome


def _raising(error: BaseException) -> list[Callable[..., Any]]:
    def plain(arguments: object, context: object) -> None:
        raise error

    async def awaited(arguments: object, context: object) -> None:
        raise error

    return [plain, awaited]


async def test_async_and_plain_functions_return_json(threads: Threads) -> None:
    async def awaited(arguments: dict[str, Any], context: object) -> tuple[Any, ...]:
        return (arguments["a"], threading.current_thread() is threading.main_thread())

    def plain(arguments: dict[str, Any], context: object) -> tuple[Any, ...]:
        return (arguments["a"], threading.current_thread() is threading.main_thread())

    assert await _execute(awaited, threads) == [1, True]
    assert await _execute(plain, threads) == [1, False]
    assert await _execute(lambda a, c: awaited(a, c), threads) == [1, True]


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("an exception that cannot be printed")


RAISED: list[tuple[BaseException, Effect, str, str]] = [
    (ValueError("no such day"), "read", "internal_error", "ValueError: no such day"),
    (ValueError("no such day"), "write", "outcome_unknown", "ValueError: no such day"),
    (KeyError(), "read", "internal_error", "KeyError"),
    (PermissionError("no"), "read", "permission_denied", "PermissionError: no"),
    (ConnectionResetError("gone"), "read", "api_failure", "ConnectionResetError: gone"),
    (ConnectionResetError("gone"), "write", "outcome_unknown", "ConnectionResetError: gone"),
    (TimeoutError("slow"), "read", "timeout", "TimeoutError: slow"),
    (TimeoutError("slow"), "write", "outcome_unknown", "TimeoutError: slow"),
    (StopIteration(3), "read", "internal_error", "RuntimeError: coroutine raised StopIteration"),
    (SystemExit(1), "read", "internal_error", "SystemExit: 1"),
    (KeyboardInterrupt(), "read", "internal_error", "KeyboardInterrupt"),
    (GeneratorExit(), "read", "internal_error", "GeneratorExit"),
    (RecursionError("deep"), "read", "internal_error", "RecursionError: deep"),
    (ValueError("\ud800" + "x" * 10_000), "read", "internal_error", "ValueError: ?xxx"),
    (ToolFailed("not_found", "No such course.", "Try Rust."), "write", "not_found", "No such course."),
    (ToolFailed("rate_limit", "Busy.", retry_after_s=float("nan")), "read", "rate_limit", "Busy."),
    (ToolFailed("rate_limit", "Busy.", retry_after_s=10**400), "read", "rate_limit", "Busy."),
    (Speechless(), "read", "internal_error", "Speechless: (no text: RuntimeError)"),
]


@pytest.mark.parametrize(("error", "effect", "error_type", "message"), RAISED)
async def test_any_exception_of_a_tool_becomes_an_error(
    error: BaseException, effect: Effect, error_type: str, message: str, threads: Threads
) -> None:
    for function in _raising(error):
        outcome = await _execute(function, threads, effect)
        assert isinstance(outcome, ToolError)
        assert outcome.error_type == error_type
        assert outcome.message.startswith(message)
        assert outcome.suggested_action
        assert "Traceback" not in outcome.message
        assert len(outcome.model_dump_json()) < 5_000


async def test_a_failure_keeps_the_fields_its_author_set(threads: Threads) -> None:
    failure = ToolFailed("rate_limit", "Busy.", "Wait a little.", retry_after_s=2)
    for function in _raising(failure):
        outcome = await _execute(function, threads)
        assert outcome == ToolError(
            error_type="rate_limit", message="Busy.", suggested_action="Wait a little.", retry_after_s=2
        )


async def test_a_write_that_failed_is_not_simply_repeated(threads: Threads) -> None:
    for function in _raising(ValueError("half way")):
        outcome = await _execute(function, threads, "write")
        assert outcome.error_type == "outcome_unknown", "for the reader as for the model"
        assert "do not repeat it" in outcome.suggested_action


async def test_a_result_that_is_not_json_is_an_error_with_its_type(threads: Threads) -> None:
    outcome = await _execute(lambda a, c: [object()], threads)
    assert (outcome.error_type, outcome.message.count("object")) == ("internal_error", 1)


@pytest.mark.parametrize(("effect", "error_type"), [("read", "timeout"), ("write", "outcome_unknown")])
class TestTimeout:
    async def test_an_async_tool_is_cancelled(
        self, effect: Effect, error_type: str, threads: Threads
    ) -> None:
        cancelled = asyncio.Event()

        async def slow(arguments: object, context: object) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        outcome = await _execute(slow, threads, effect, BRIEF_S)
        assert (outcome.error_type, "within 0.05 s" in outcome.message) == (error_type, True)
        await asyncio.wait_for(cancelled.wait(), 60)

    async def test_an_async_tool_that_will_not_be_cancelled_is_left(
        self, effect: Effect, error_type: str, threads: Threads
    ) -> None:
        end = asyncio.Event()

        async def stubborn(arguments: object, context: object) -> str:
            while not end.is_set():
                try:
                    await end.wait()
                except asyncio.CancelledError:
                    continue
            return "too late"

        assert (await _execute(stubborn, threads, effect, BRIEF_S)).error_type == error_type
        end.set()

    async def test_a_plain_tool_is_left_and_its_result_dropped(
        self, effect: Effect, error_type: str, threads: Threads
    ) -> None:
        end = threading.Event()

        def slow(arguments: object, context: object) -> str:
            end.wait(60)
            return "too late"

        try:
            assert (await _execute(slow, threads, effect, BRIEF_S)).error_type == error_type
            assert await _execute(lambda a, c: "quick", threads) == "quick"
        finally:
            end.set()
        await until(lambda: not threads.busy)


async def test_a_tool_that_cancels_itself_does_not_cancel_us(threads: Threads) -> None:
    for function in _raising(asyncio.CancelledError()):
        outcome = await _execute(function, threads)
        assert (outcome.error_type, "cancelled itself" in outcome.message) == ("internal_error", True)


async def test_being_cancelled_cancels_the_tool_and_is_passed_on(threads: Threads) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def slow(arguments: object, context: object) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    running = asyncio.create_task(_execute(slow, threads))
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(ended.wait(), 60)


class TestThreads:
    async def test_the_number_of_threads_is_bounded(self, threads: Threads) -> None:
        end = threading.Event()
        try:
            async with threads.reserve(60) as first, threads.reserve(60) as second:
                running = [asyncio.create_task(place.run(lambda: end.wait(60))) for place in (first, second)]
                await asyncio.sleep(0)
            with pytest.raises(NoThread):
                async with threads.reserve(BRIEF_S):
                    pass
        finally:
            end.set()
        assert await asyncio.gather(*running) == [True, True]
        async with threads.reserve(60):
            assert threads.busy == 0

    async def test_an_unused_thread_slot_is_released(self, threads: Threads) -> None:
        for _ in range(5):
            async with threads.reserve(60):
                pass
        assert threads.busy == 0

    async def test_a_thread_is_reused_after_its_work(self, threads: Threads) -> None:
        names = set()
        for _ in range(5):
            async with threads.reserve(60) as place:
                names.add(await place.run(lambda: threading.current_thread().name))
        assert len(names) == 1

    async def test_calls_that_hang_do_not_keep_their_threads_from_others(self, threads: Threads) -> None:
        end = threading.Event()
        try:
            for _ in range(2):  # as many as there are threads
                outcome = await _execute(lambda a, c: end.wait(60), threads, timeout_s=BRIEF_S)
                assert outcome.error_type == "timeout"
            assert await _execute(lambda a, c: "quick", threads) == "quick"
            assert threads.abandoned == 2
        finally:
            end.set()
        await until(lambda: not threads.busy and not threads.abandoned)
        async with threads.reserve(60), threads.reserve(60):
            with pytest.raises(NoThread):
                async with threads.reserve(BRIEF_S):
                    pass

    async def test_the_number_of_abandoned_threads_is_bounded(self, threads: Threads) -> None:
        end = threading.Event()
        try:
            for _ in range(4):
                await _execute(lambda a, c: end.wait(60), threads, timeout_s=BRIEF_S)
            with pytest.raises(NoThread):
                async with threads.reserve(BRIEF_S):
                    pass
        finally:
            end.set()
        await until(lambda: not threads.busy)


class TestRaisedExceptions:
    @pytest.mark.parametrize("error", [ValueError("no such day"), SystemExit(1), KeyboardInterrupt()])
    async def test_the_caller_gets_the_original_exception(
        self, error: BaseException, threads: Threads
    ) -> None:
        for function in _raising(error):
            tool = a_tool("t", function, "read")
            async with threads.reserve(60.0) as place:
                ended = await execute(tool, {}, a_context(), 60.0, None if tool.is_async else place)
            assert ended.raised is error

    async def test_a_result_that_cannot_be_used_is_not_an_error_of_the_function(
        self, threads: Threads
    ) -> None:
        def fine(arguments: object, context: object) -> str:
            return "fine"

        for function in (fine, lambda a, c: object()):
            async with threads.reserve(60.0) as place:
                ended = await execute(a_tool("t", function, "read"), {}, a_context(), 60.0, place)
            assert ended.raised is None

    @pytest.mark.parametrize(
        ("is_async", "what"),
        [
            (True, "cancelled"),
            (False, "left behind: its thread cannot be stopped, its result is dropped"),
        ],
    )
    async def test_a_timed_out_call_is_logged_with_its_fate(
        self, is_async: bool, what: str, threads: Threads
    ) -> None:
        end = threading.Event()

        async def slow(arguments: object, context: object) -> None:
            await asyncio.Event().wait()

        def blocking(arguments: object, context: object) -> None:
            end.wait(60)

        tool = a_tool("t", slow if is_async else blocking, "read")
        try:
            with capture_logs() as logs:
                async with threads.reserve(60.0) as place:
                    ended = await execute(tool, {}, a_context(), 0.01234, None if is_async else place)
        finally:
            end.set()
        assert isinstance(ended.outcome, ToolError)
        assert ended.outcome.message == "t did not finish within 0.0123 s."
        (line,) = [line for line in logs if line["event"] == "tool_attempt_timed_out"]
        assert (line["tool"], line["call_id"], line["call_is"]) == ("t", a_context().call_id, what)
        await until(lambda: not threads.busy)
