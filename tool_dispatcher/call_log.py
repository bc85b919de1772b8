"""The log line of a call, `tool_call`: one for each, as it settles, whatever came of it.

    INFO   ok        the tool, or one in its place, answered
           cached    a read was answered from the cache
           repeated  a write was not run: an identical one had been, and its result is given again
           refused   it did not run: no permission, invalid arguments, a dependency, an open circuit
    ERROR  failed    it ran and failed, or may have: with the error's type and message, and the traceback unless the
                    tool itself reported the failure

A call that another worker has settled is in that one's log. Attempts that are made again are lines at DEBUG.
"""

from collections.abc import Iterable
from logging import ERROR, INFO
from traceback import format_exception
from typing import Any, Literal

import structlog
from antiphon_shared.redaction.redactor import MARKED_CHARACTERS_MIN, Redactor
from antiphon_shared.tools.calls import ErrorType, ToolResult

from tool_dispatcher.authoring.failures import ToolFailed

Status = Literal["ok", "cached", "repeated", "refused", "failed"]

_NEVER_RUN: frozenset[ErrorType] = frozenset(
    ("unknown_tool", "dependency_failed", "cancelled", "circuit_open", "repeated_write")
)
_REFUSED_BEFORE: frozenset[ErrorType] = frozenset(("validation_error", "permission_denied"))
"""What the dispatcher refuses a call with, and a tool that runs may fail with."""


def status_of(result: ToolResult, has_run: bool) -> Status:
    """Return how a call ended, in one word. Nothing else names the status of a call."""
    if result.error is None:
        return "repeated" if result.repeated else "cached" if result.cached else "ok"
    kind = result.error.error_type
    return "refused" if kind in _NEVER_RUN or (kind in _REFUSED_BEFORE and not has_run) else "failed"


class CallLog:
    """The lines of one batch's calls, without secrets: neither the process's own nor marked arguments."""

    def __init__(self, session_id: str, round: int, redactor: Redactor) -> None:
        self._session_id, self._round, self._redactor = session_id, round, redactor
        self._ran: set[tuple[str, str]] = set()
        self._traces: dict[tuple[str, str], str] = {}

    def began(self, call_id: str, tool: str) -> None:
        """Note that an attempt begins."""
        self._ran.add((call_id, tool))
        self._traces.pop((call_id, tool), None)

    def raised(self, call_id: str, tool: str, error: BaseException, secrets: Iterable[str]) -> None:
        """Note what the attempt has raised; `secrets` are those of the call's arguments.

        A ToolFailed is no surprise to the tool's author: its message says all, and a traceback would only hide it.
        """
        if isinstance(error, ToolFailed):
            return
        written = "".join(format_exception(error))
        trace = Redactor(list(secrets), MARKED_CHARACTERS_MIN).text(written)
        self._traces[call_id, tool] = trace
        _log().debug("tool_attempt_failed", tool=tool, call_id=call_id, exception=self._redactor.text(trace))

    def settled(self, results: Iterable[ToolResult], ran_as: tuple[str, str] | None = None) -> None:
        """Write a line for each of the results.

        `ran_as`: the id of the call and the tool that they may have been run as, where that is not their own.
        """
        for result in results:
            by_itself = (result.call_id, result.tool)
            ran = by_itself if ran_as is None or by_itself in self._ran else ran_as
            status = status_of(result, ran in self._ran)
            log, level = _log(), ERROR if status == "failed" else INFO
            if log.is_enabled_for(level):  # what nobody reads is not searched for secrets either
                log.log(level, "tool_call", **self._redactor.json(self._fields(result, status, ran)))

    def _fields(self, result: ToolResult, status: Status, ran: tuple[str, str]) -> dict[str, Any]:
        call_id, tool = ran[0], result.substitute or ran[1]
        fields: dict[str, Any] = {
            "tool": result.tool,
            "call_id": result.call_id,
            "session": self._session_id,
            "round": self._round,
            "latency_ms": result.duration_ms,
            "status": status,
        }
        if tool != result.tool:
            fields["ran"] = tool
        if result.error is not None:
            fields |= {"error_type": result.error.error_type, "error": result.error.message}
            if result.error.code:
                fields["code"] = result.error.code
            if trace := self._traces.get((call_id, tool)):
                fields["exception"] = trace
        return fields


def _log() -> Any:
    return structlog.get_logger()
