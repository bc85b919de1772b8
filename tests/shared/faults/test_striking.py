"""Faults are injected at their points, and only in an armed process."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared import faults
from antiphon_shared.bus.connection import is_unavailable
from antiphon_shared.faults.plan import read_faults
from antiphon_shared.faults.striking import FaultOnPurpose
from redis.exceptions import ConnectionError

ROOT = Path(__file__).parents[3]


def armed(text: str, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Return the result of some work in a context of its own, in which faults are injected."""

    def run() -> Any:
        faults.arm(read_faults(text))
        return asyncio.run(work())

    return copy_context().run(run)


async def passed(times: int, point: str = "commit.before") -> list[str]:
    """Pass the point a number of times; return the names of the raised errors, and `-` for none."""
    events: list[str] = []
    for _ in range(times):
        try:
            await faults.pass_point(point)
            events.append("-")
        except Exception as error:
            events.append(type(error).__name__)
    return events


def test_an_unarmed_point_injects_nothing() -> None:
    assert asyncio.run(passed(3)) == ["-"] * 3


def test_a_fault_armed_in_one_context_is_not_injected_in_another() -> None:
    assert armed("commit.before:raise@1-9", lambda: passed(1)) == ["FaultOnPurpose"]
    assert asyncio.run(passed(3)) == ["-"] * 3


def test_an_unexpected_error_is_raised_at_the_given_pass() -> None:
    assert armed("commit.before:raise@2", lambda: passed(3)) == ["-", "FaultOnPurpose", "-"]
    assert issubclass(FaultOnPurpose, RuntimeError)


def test_each_point_counts_for_itself() -> None:
    async def both() -> tuple[list[str], list[str]]:
        return await passed(1, "commit.after"), await passed(2, "commit.before")

    assert armed("commit.before:raise@2", both) == (["-"], ["-", "FaultOnPurpose"])


def test_a_fault_is_injected_into_a_task_started_later_too() -> None:
    async def in_a_task() -> list[str]:
        return await asyncio.create_task(passed(1))

    assert armed("commit.before:raise", in_a_task) == ["FaultOnPurpose"]


def test_an_injected_unavailability_looks_like_a_transient_redis_error() -> None:
    async def come_by() -> None:
        await faults.pass_point("commit.before")

    with pytest.raises(ConnectionError) as raised:
        armed("commit.before:unavailable", come_by)
    assert is_unavailable(raised.value)


def test_a_delay_blocks_one_task_and_a_freeze_all_of_them() -> None:
    async def order() -> list[str]:
        events: list[str] = []

        async def come_by() -> None:
            await faults.pass_point("commit.before")
            events.append("came by")

        async def other() -> None:
            for _ in range(5):
                await asyncio.sleep(0)
            events.append("other")

        await asyncio.gather(come_by(), other())
        return events

    assert armed("commit.before:delay=0.05", order) == ["other", "came by"]
    assert armed("commit.before:freeze=0.05", order) == ["came by", "other"]


def test_a_hanging_task_never_continues_and_can_be_cancelled() -> None:
    async def come_by() -> str:
        task = asyncio.create_task(faults.pass_point("commit.before"))
        done, _ = await asyncio.wait([task], timeout=0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return "hangs" if not done and task.cancelled() else "goes on"

    assert armed("commit.before:hang", come_by) == "hangs"


def test_a_disconnect_closes_the_connection_it_is_given() -> None:
    closed: list[str] = []

    async def close() -> None:
        closed.append("closed")

    async def come_by(disconnect: Callable[[], Awaitable[None]] | None) -> None:
        await faults.pass_point("redis.commands.sent", disconnect)

    armed("redis.commands.sent:disconnect", lambda: come_by(close))
    assert closed == ["closed"]
    armed("redis.commands.sent:disconnect", lambda: come_by(None))


def test_a_kill_is_logged_and_ends_the_process_at_once() -> None:
    code = (
        "import asyncio\n"
        "from antiphon_shared import faults\n"
        "from antiphon_shared.process import logs\n"
        "from antiphon_shared.faults.plan import read_faults\n"
        "logs.configure('warning', 'coordinator')\n"
        "faults.arm(read_faults('commit.before:kill'))\n"
        "asyncio.run(faults.pass_point('commit.before')); print('alive')"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout) == (-9, "")
    assert '"fault":"commit.before:kill"' in ended.stderr
