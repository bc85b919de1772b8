"""The log event `tool_call`: one line for each call, written when the call settles.

    INFO   ok        the tool, or its alternative, answered
           cached    a read was answered from the cache
           repeated  an identical write had run before; its result is returned again
           refused   the call did not run: no permission, invalid arguments, a dependency, an open circuit
    ERROR  failed    the call ran, or may have run, and failed; the line has the error's type and message, and the
                     traceback unless the tool itself reported the failure

A call that another worker settles is in the log of that worker. Failed attempts are logged at DEBUG.
"""

from collections.abc import Iterable
from logging import ERROR, INFO
from traceback import format_exception
from typing import Literal

import structlog
from antiphon_shared.redaction.redactor import MARKED_CHARACTERS_MIN, Redactor
from antiphon_shared.tools.calls import ErrorType, ToolResult

from tool_dispatcher.authoring.failures import DISPATCHER_ERRORS, ToolFailed

Status = Literal["ok", "cached", "repeated", "refused", "failed"]


_REFUSALS: frozenset[ErrorType] = frozenset(("validation_error", "permission_denied"))
"""Errors of calls that the dispatcher refuses; a running tool may report them too."""


def status_of(result: ToolResult, has_run: bool) -> Status:
    """Return the status of a call; `has_run` tells whether an attempt began."""
    if result.error is None:
        return "repeated" if result.repeated else "cached" if result.cached else "ok"
    kind = result.error.error_type
    return "refused" if kind in DISPATCHER_ERRORS or (kind in _REFUSALS and not has_run) else "failed"


class CallLog:
    """The log lines of a batch's calls, without secrets of the process and without secret arguments."""

    def __init__(self, session_id: str, round: int, redactor: Redactor) -> None:
        self._session_id, self._round, self._redactor = session_id, round, redactor
        self._ran: set[tuple[str, str]] = set()
        self._traces: dict[tuple[str, str], str] = {}

    def began(self, call_id: str, tool: str) -> None:
        """Note that an attempt begins."""
        self._ran.add((call_id, tool))
        self._traces.pop((call_id, tool), None)

    def raised(self, call_id: str, tool: str, error: BaseException, secrets: Iterable[str]) -> None:
        """Note the exception of an attempt; `secrets` are those of the call's arguments.

        ToolFailed is ignored: the tool reports it on purpose, and its message says more than a traceback.
        """
        if isinstance(error, ToolFailed):
            return
        written = "".join(format_exception(error))
        trace = Redactor(list(secrets), MARKED_CHARACTERS_MIN).text(written)
        self._traces[call_id, tool] = trace
        exception = self._redactor.text(trace)
        structlog.get_logger().debug("tool_attempt_failed", tool=tool, call_id=call_id, exception=exception)

    def settled(self, results: Iterable[ToolResult], ran_as: tuple[str, str] | None = None) -> None:
        """Log a line for each result.

        `ran_as` is the call id and the tool under which a group has run, whose results have other ones.
        """
        for result in results:
            own_run = (result.call_id, result.tool)
            ran = own_run if ran_as is None or own_run in self._ran else ran_as
            status = status_of(result, ran in self._ran)
            log, level = structlog.get_logger(), ERROR if status == "failed" else INFO
            if log.is_enabled_for(level):  # redaction is expensive, and a disabled level needs none
                log.log(level, "tool_call", **self._redactor.json(self._fields(result, status, ran)))

    def _fields(self, result: ToolResult, status: Status, ran: tuple[str, str]) -> dict[str, object]:
        call_id, tool = ran[0], result.substitute or ran[1]
        fields: dict[str, object] = {
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
