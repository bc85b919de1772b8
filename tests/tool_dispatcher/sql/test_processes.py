"""The processes of `sql_query`, of which none remains, and dispatchers that cannot run it."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.workflows.sql import SQL_TOOL

from tests.tool_dispatcher.builders import (
    Dispatcher,
    Ledger,
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    error_in,
    soon,
    until,
)
from tests.tool_dispatcher.sql.asking import FOR_EVER, asked
from tool_dispatcher.sql import query as query_module


def children(of: int | None = None) -> set[int]:
    """Return the running processes that one, otherwise this, has started, without zombies."""
    found = Path(f"/proc/{of or os.getpid()}/task").glob("*/children")
    return {int(pid) for path in found for pid in path.read_text().split()}


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    return _stat(pid)[0] != "Z"


def cpu_s(pid: int) -> float:
    return int(_stat(pid)[11]) / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """Return Linux's fields of a process, from its state on; for a missing process those of an ended one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["Z", *("0" * 40)]


class TestProcesses:
    async def test_a_query_that_runs_out_of_time_leaves_no_process(self) -> None:
        before = children()
        async with a_dispatcher() as dispatcher:
            call = a_call("q", SQL_TOOL, arguments={"sql": FOR_EVER})
            (result,) = await dispatcher.run(a_request(call, deadline=soon(2)))
            assert error_in(result).error_type == "timeout"
            await until(lambda: len(children() - before) <= 1)  # that of the next query
        assert children() <= before

    async def test_a_query_that_is_cancelled_leaves_no_process(self) -> None:
        before = children()
        async with a_dispatcher() as dispatcher:
            asking = asyncio.create_task(asked(dispatcher, FOR_EVER))
            await until(lambda: len(children() - before) == 2)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await until(lambda: len(children() - before) <= 1)
            assert await asked(dispatcher, "SELECT 1 AS a") == [{"a": 1}]
        assert children() <= before

    async def test_a_query_whose_process_is_killed_ends_as_api_failure(self) -> None:
        before = children()
        async with a_dispatcher() as dispatcher:
            asking = asyncio.create_task(asked(dispatcher, FOR_EVER))
            await until(lambda: len(children() - before) == 2)
            for pid in children() - before:
                os.kill(pid, signal.SIGKILL)
            error = await asking
            assert error.error_type == "api_failure"
            assert "signal 9" in error.message

            async def is_answered() -> bool:
                return bool(await asked(dispatcher, "SELECT 1 AS a") == [{"a": 1}])

            await until(is_answered)

    async def test_queries_beyond_the_limit_are_all_answered(self) -> None:
        async with a_dispatcher(sql_concurrency=1) as dispatcher:
            calls = [a_call(f"q{n}", SQL_TOOL, arguments={"sql": f"SELECT {n} AS n"}) for n in range(5)]
            results = await dispatcher.run(a_request(*calls))
        assert [result.data for result in results] == [[{"n": n}] for n in range(5)]

    async def test_a_query_ends_with_its_parent(self) -> None:
        code = (
            "import asyncio\n"
            "from tool_dispatcher.sql.query import SqlQueries, Limits\n"
            f"asyncio.run(SqlQueries(Limits(cpu_s=600), 1)._call({{'sql': {FOR_EVER!r}}}, None))"
        )
        parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
        await until(lambda: len(children(parent.pid)) == 2)
        pids = children(parent.pid)
        # More than it takes to start: one of them is in the midst of the query.
        await until(lambda: max(map(cpu_s, pids)) >= 1)
        parent.kill()
        await parent.wait()
        await until(lambda: not any(map(is_alive, pids)))


class TestQueryTool:
    async def test_a_dispatcher_without_duckdb_reports_the_install_command(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(query_module, "find_spec", lambda name: None)
        async with a_dispatcher() as dispatcher:
            error = await asked(dispatcher, "SELECT 1")
        assert error.error_type == "internal_error"
        assert "pip install 'antiphon[sql]'" in error.suggested_action

    async def test_a_call_that_is_not_allowed_is_refused(self) -> None:
        async with a_dispatcher() as dispatcher:
            call = a_call("q", SQL_TOOL, arguments={"sql": "SELECT 1"})
            (result,) = await dispatcher.run(a_request(call, allowed=("look",)))
        assert error_in(result).error_type == "permission_denied"

    async def test_an_own_tool_cannot_have_its_name(self) -> None:
        async with a_bus() as bus:
            with pytest.raises(ConfigurationError, match=SQL_TOOL):
                Dispatcher([Ledger().tool(SQL_TOOL)], bus)
