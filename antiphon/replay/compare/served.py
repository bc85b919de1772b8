"""Tools that answer from a recording: a recorded call gets its recorded result, any other call an error.

So plans can be compared where the real tools are out of reach, as far as they make the same calls.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from antiphon_shared.events import SessionOpened, ToolsCompleted, ToolsRequested
from antiphon_shared.tools.calls import Catalogue, ToolDefinition, ToolError, ToolResult
from antiphon_shared.tools.contract import CONTRACT_KEYWORD

from antiphon.recording.lines import CatalogueLine, EventLine, Line
from antiphon.replay.recorded_calls import answered
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import ERRORS_OF_TOOLS, ToolFailed
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.idempotency.identity import fingerprint

_KEPT = (
    "mode",
    "max_concurrency",
    "depends_on",
    "error_propagation",
    "scopes",
    "rounds",
    "open_world",
    "pinned",
)
"""The contract fields that say how calls are made. The recorded results already include the handling of failures."""


class Served:
    """The tools of one recorded session."""

    def __init__(self) -> None:
        self.misses = 0
        """The number of calls since `begin` without a recorded result."""
        self.tools: tuple[Tool, ...] = ()
        self._results: dict[str, list[ToolResult]] = {}
        self._made: Counter[str] = Counter()
        self._catalogues: dict[str, Catalogue] = {}
        self._request: ToolsRequested | None = None

    @classmethod
    def of(cls, lines: Iterable[Line]) -> "Served":
        """Return the tools and results of a recording. Raises InvalidTool for an invalid tool in its catalogue."""
        served = cls()
        for line in lines:
            served.read(line)
        return served

    def read(self, line: Line) -> None:
        """Add one line. Raises InvalidTool."""
        match line:
            case CatalogueLine():
                self._catalogues[line.hash] = line.catalogue
            case EventLine(event=event):
                match event.data:
                    case SessionOpened() as opened:
                        catalogue = self._catalogues.get(opened.catalogue, Catalogue()).by_name
                        self.tools = tuple(
                            self._tool(catalogue[name]) for name in opened.tools if name in catalogue
                        )
                    case ToolsRequested() as request:
                        self._request = request
                    case ToolsCompleted() as completed if (
                        self._request and completed.round == self._request.round
                    ):
                        self._note(self._request, completed)

    def begin(self) -> None:
        """Begin another session: its calls get the recorded results from the first one on."""
        self.misses = 0
        self._made.clear()

    def _note(self, request: ToolsRequested, completed: ToolsCompleted) -> None:
        for call, arguments, got in answered(request, completed):
            if arguments is not None and _is_answered(got):
                self._results.setdefault(_key(call.name, arguments), []).append(got)

    def _tool(self, definition: ToolDefinition) -> Tool:
        schema = {key: value for key, value in definition.input_schema.items() if key != CONTRACT_KEYWORD}
        contract = definition.contract.model_dump(mode="json", include=set(_KEPT), exclude_defaults=True)
        options: Any = {**contract, "mode": definition.contract.mode, "retry": 1}
        answer = partial(self._answer, definition.name)

        async def serve(arguments: dict[str, Any], context: ToolContext) -> Any:
            return answer(arguments)

        return Tool(
            definition.name, definition.description, schema, serve, effect=definition.effect, **options
        )

    def _answer(self, name: str, arguments: Mapping[str, Any]) -> Any:
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
        place = min(self._made[key], len(results) - 1)
        self._made[key] += 1
        result = results[place]
        if result.error is not None:
            raise _failed(result.error)
        return result.data


def _is_answered(result: ToolResult) -> bool:
    """Return whether the result is the tool's own, and not an error of the dispatcher."""
    return result.error is None or result.error.error_type in ERRORS_OF_TOOLS


def _key(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the same key for calls with the same arguments, in any order."""
    try:
        return fingerprint(name, dict(arguments))
    except ValueError:
        return ""


def _failed(error: ToolError) -> ToolFailed:
    return ToolFailed(error.error_type, error.message, error.suggested_action)
