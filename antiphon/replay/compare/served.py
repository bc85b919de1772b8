"""Tools that answer from a recording: a recorded call gets its recorded result, any other call an error.

With them, plans that make the same calls can be compared without the real tools.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from antiphon_shared.events import SessionOpened
from antiphon_shared.tools.calls import Catalogue, ToolDefinition, ToolError, ToolResult
from antiphon_shared.tools.contract import CONTRACT_KEYWORD
from antiphon_shared.values import JsonObject

from antiphon.recording.lines import CatalogueLine, Line, data_in
from antiphon.replay.recorded_calls import batches_of
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import TOOL_ERRORS, ToolFailed
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.idempotency.identity import fingerprint

_CONTRACT_FIELDS = (
    "mode",
    "max_concurrency",
    "depends_on",
    "error_propagation",
    "scopes",
    "rounds",
    "open_world",
    "pinned",
)
"""The contract fields about making calls; those about failures are omitted, as recorded results include retries."""


class Served:
    """The tools of one recorded session."""

    def __init__(self) -> None:
        self.misses = 0
        """The number of calls since `begin` without a recorded result."""
        self.tools: tuple[Tool, ...] = ()
        self._results: dict[str, list[ToolResult]] = {}
        self._calls_made: Counter[str] = Counter()

    @classmethod
    def of(cls, lines: Sequence[Line]) -> "Served":
        """Return the tools and results of a recording. Raises InvalidTool for an invalid tool in its catalogue."""
        served = cls()
        catalogues = {line.hash: line.catalogue for line in lines if isinstance(line, CatalogueLine)}
        for opened in data_in(lines, SessionOpened):
            tools = catalogues.get(opened.catalogue, Catalogue()).by_name
            served.tools = tuple(served._tool(tools[name]) for name in opened.tools if name in tools)
        for batch in batches_of(lines):
            for one in batch:
                served.add(one.call.name, one.arguments, one.result)
        return served

    def begin(self) -> None:
        """Begin another session, whose repeated calls get the recorded results from the first one on."""
        self.misses = 0
        self._calls_made.clear()

    def add(self, name: str, arguments: Mapping[str, Any] | None, result: ToolResult) -> None:
        """Add the result of a call, if its arguments are known and the tool returned it."""
        if arguments is not None and _has_result(result):
            self._results.setdefault(_key(name, arguments), []).append(result)

    def _tool(self, definition: ToolDefinition) -> Tool:
        schema = {key: value for key, value in definition.input_schema.items() if key != CONTRACT_KEYWORD}
        contract = definition.contract.model_dump(
            mode="json", include=set(_CONTRACT_FIELDS), exclude_defaults=True
        )
        options: Any = {**contract, "mode": definition.contract.mode, "retry": 1}
        answer = partial(self._answer, definition.name)

        async def serve(arguments: JsonObject, context: ToolContext) -> Any:
            return answer(arguments)

        return Tool(
            definition.name, definition.description, schema, serve, effect=definition.effect, **options
        )

    def _answer(self, name: str, arguments: Mapping[str, object]) -> Any:
        """Return the recorded result of the same call; for repeated calls, the next one. Raises ToolFailed."""
        key = _key(name, arguments)
        results = self._results.get(key)
        if not results:
            self.misses += 1
            raise ToolFailed(
                "not_found",
                f"{name} was not called with these arguments when the session was recorded, so that nothing is known.",
                "Go on without it, and say what is missing.",
            )
        index = min(self._calls_made[key], len(results) - 1)
        self._calls_made[key] += 1
        result = results[index]
        if result.error is not None:
            raise _failed(result.error)
        return result.data


def _has_result(result: ToolResult) -> bool:
    """Return whether the tool, not the dispatcher, returned the result or error."""
    return result.error is None or result.error.error_type in TOOL_ERRORS


def _key(name: str, arguments: Mapping[str, object]) -> str:
    """Return the key of a call; the order of its arguments does not matter."""
    try:
        return fingerprint(name, dict(arguments))
    except ValueError:
        return ""


def _failed(error: ToolError) -> ToolFailed:
    return ToolFailed(error.error_type, error.message, error.suggested_action)
