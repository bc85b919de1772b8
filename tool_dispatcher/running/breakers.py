"""The circuit breakers of tools: a tool that keeps failing in any process is not called for a while."""

from math import ceil
from typing import Self

from antiphon_shared.breakers.breaker import RefusedCall
from antiphon_shared.breakers.table import tool_breaker
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.tools.calls import ErrorType, ToolError, ToolOutcome

from tool_dispatcher.authoring import foreign_failures
from tool_dispatcher.authoring.failures import DISPATCHER_ERRORS, ToolFailed, tool_error

_FAILURES: frozenset[ErrorType] = frozenset(("api_failure", "timeout", "outcome_unknown"))
"""Errors that mean that the service behind the tool is down.

An error in the tool itself may be due to one session's arguments, and must not open the circuit for all others. Any
other answer counts as a success: refused arguments, not found, no permission. A rate limit does too: the service is
up and has said when to call again, and retries wait for that time.
"""


class GuardedCall:
    """A call under the breaker of its tool: a context manager that counts the call once, with all its attempts.

    `breakers` are those of all processes; with None, no circuit ever opens.
    """

    def __init__(self, breakers: SharedBreakers | None, tool: str) -> None:
        self._breakers, self._tool = breakers, tool
        self._is_probe = self._is_internal_error = False
        self._has_failed: bool | None = None
        """Whether the latest attempt failed; None before the first attempt."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        if self._breakers is not None and self._has_failed is not None:
            self._breakers.note(tool_breaker(self._tool), self._has_failed)

    async def ask(self) -> ToolError | None:
        """Return None if an attempt may run, else the circuit_open error for the call.

        The breaker's probe call may make all of its attempts.
        """
        if self._breakers is None or self._is_probe:
            return None
        answer = await self._breakers.ask(tool_breaker(self._tool))
        if isinstance(answer, RefusedCall):
            return _refusal(self._tool, answer)
        self._is_probe = answer.state.opened is not None
        return None

    def raised(self, error: BaseException) -> None:
        """Note the exception of an attempt: after an error in the tool itself, a write ends as outcome_unknown too."""
        self._is_internal_error = (
            not isinstance(error, ToolFailed) and foreign_failures.classify_exception(error) is None
        )

    def attempted(self, outcome: ToolOutcome, is_slow: bool = False) -> None:
        """Note the outcome of an attempt, and whether the attempt exceeded the tool's `slow_s`."""
        kind = outcome.error_type if isinstance(outcome, ToolError) else None
        if kind not in DISPATCHER_ERRORS:
            self._has_failed = is_slow or (kind in _FAILURES and not self._is_internal_error)
        self._is_internal_error = False


def _refusal(tool: str, refused: RefusedCall) -> ToolError:
    state = refused.state
    if state.held is not None:
        return tool_error(
            "circuit_open",
            f"{tool} is not called at the moment: an operator has disabled it. This call was not run.",
            f"Use another tool, or go on without {tool} and say so.",
            retry_after_s=refused.retry_after_s,
        )
    return tool_error(
        "circuit_open",
        f"{tool} is not called at the moment: {state.failures} of its last {len(state.endings)} calls failed. "
        "This call was not run.",
        f"Use another tool, or go on without {tool} and say so. It is tried again in about "
        f"{ceil(refused.retry_after_s)} s.",
        retry_after_s=refused.retry_after_s,
    )
