"""The tool `sql_query`: its arguments, its time limit, and its error for each ending.

It is not in the published catalogue, and not offered to models: the coordinator calls it for a node of a workflow,
with the values of the references and tables.
"""

import asyncio
import signal
from importlib.util import find_spec
from typing import Any

from antiphon_shared.process.offload import json_of, offload, offload_if
from antiphon_shared.values import Json, JsonSchema, ToolArguments
from antiphon_shared.workflows.sql import LENGTH_MAX, SQL_TOOL
from pydantic_core import from_json

from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import ToolFailed
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.sql.limits import Limits
from tool_dispatcher.sql.processes import NoAnswer, Processes

_DESCRIPTION = "Runs one SELECT over earlier outputs of a workflow."
_PARAMETERS: JsonSchema = {
    "type": "object",
    "properties": {
        "sql": {"type": "string", "maxLength": LENGTH_MAX * 2, "description": "One SELECT for DuckDB."},
        "params": {"type": "object", "description": "What $p0, $p1, ... stand for."},
        "tables": {"type": "object", "description": "Earlier outputs by name."},
    },
    "required": ["sql"],
    "additionalProperties": False,
}
_TIMEOUT_S = 60.0
_LARGE_BYTES = 100_000
_ASK_FOR_LESS = "Read fewer rows, join on fewer columns, or split the query."


class SqlQueries:
    """The queries of this process; a few run at once, each in a child process."""

    def __init__(self, limits: Limits, concurrency: int) -> None:
        self._limits, self._processes = limits, Processes(limits)
        self._slots = asyncio.Semaphore(concurrency)
        self.tool = Tool(
            SQL_TOOL,
            _DESCRIPTION,
            _PARAMETERS,
            self._call,
            effect="read",
            timeout_s=_TIMEOUT_S,
            retry=1,  # the node of the workflow declares the retries
        )

    async def close(self) -> None:
        """End every child process."""
        await self._processes.close()

    async def _call(self, arguments: ToolArguments, context: ToolContext) -> Json:
        if find_spec("duckdb") is None:
            raise ToolFailed(
                "internal_error",
                "The tool dispatcher has no DuckDB, which runs SQL in workflows.",
                "Install it where the dispatcher runs: pip install 'antiphon[sql]'",
            )
        request = await offload(json_of, {"params": {}, "tables": {}, **arguments})
        async with self._slots:
            try:
                answer = await self._processes.ask(request)
            except NoAnswer as ended:
                raise self._failure(ended) from None
            except OSError as error:
                raise ToolFailed(
                    "api_failure", f"The process of the query cannot be started: {error}."
                ) from None
        try:
            return _rows(await offload_if(len(answer) > _LARGE_BYTES, from_json, answer))
        except ValueError as error:
            raise ToolFailed("validation_error", f"The query's result is not JSON: {error}.") from None

    def _failure(self, ended: NoAnswer) -> ToolFailed:
        """Return the error for a child that ended without an answer."""
        if ended.code == -signal.SIGXCPU:
            return ToolFailed(
                "timeout", f"The query used more than {self._limits.cpu_s} s of CPU time.", _ASK_FOR_LESS
            )
        how = f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
        return ToolFailed(
            "api_failure",
            f"The process of the query ended with {how}, most likely because the memory of the machine, or the "
            f"{self._limits.memory_mb} MiB that a query may use, did not suffice.",
            "Try again; if it fails again, read fewer rows.",
        )


def _rows(answer: dict[str, Any]) -> Json:
    if refused := answer.get("refused"):
        raise ToolFailed("validation_error", *refused)
    if broken := answer.get("broken"):
        raise ToolFailed("api_failure", f"DuckDB failed: {broken}")
    rows: Json = answer["rows"]
    return rows
