"""The circuit breakers of tools: what keeps failing, in whichever process, is not called for a while."""

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any

from antiphon_shared.breakers.breaker import Refused
from antiphon_shared.bus.breakers import SharedBreakers, of_tool
from antiphon_shared.tools.calls import ErrorType, ToolError

from tool_dispatcher.authoring import foreign_failures
from tool_dispatcher.authoring.failures import ToolFailed, tool_error

_FAILURES: frozenset[ErrorType] = frozenset(("api_failure", "timeout", "outcome_unknown"))
"""What says that what stands behind the tool is out of order. A fault in the tool itself may come of one session's
arguments, and must not close the tool for all others."""
_NEVER_RAN: frozenset[ErrorType] = frozenset(
    ("unknown_tool", "dependency_failed", "cancelled", "circuit_open", "repeated_write")
)
"""What says nothing about the tool.

Anything else is an answer and counts as a success: refused arguments, nothing found, no permission. A rate limit
too: the service is there and has said when it will be asked again. Left alone for longer than it asked for, it
would look like an outage; retries and the limit itself see to the pause.
"""


class ToolBreakers:
    """Let calls of tools through, and count how they end: each call once, however often it was tried."""

    def __init__(self, shared: SharedBreakers) -> None:
        self._shared = shared

    @contextmanager
    def call_of(self, tool: str) -> Iterator["GuardedCall"]:
        """One call of the tool, with all its attempts; its end is counted when the block is left."""
        call = GuardedCall(self._shared, tool)
        try:
            yield call
        finally:
            call.count()


class GuardedCall:
    """One call, as the breaker of its tool sees it."""

    def __init__(self, shared: SharedBreakers, tool: str) -> None:
        self._shared, self._tool = shared, tool
        self._is_probe = self._is_own_fault = False
        self._has_failed: bool | None = None
        """Whether the latest attempt failed; None while none has run."""

    async def ask(self) -> ToolError | None:
        """Return None when an attempt may run, else the circuit_open error the call is answered with.

        A call that is the breaker's one probe may make all of its attempts.
        """
        if self._is_probe:
            return None
        answer = await self._shared.ask(of_tool(self._tool))
        if isinstance(answer, Refused):
            return _refusal(self._tool, answer)
        self._is_probe = answer.state.opened is not None
        return None

    def raised(self, error: BaseException) -> None:
        """Note what the attempt has raised: a fault of the tool itself ends a write as outcome_unknown too."""
        self._is_own_fault = not isinstance(error, ToolFailed) and foreign_failures.read(error) is None

    def attempted(self, outcome: Any, is_slow: bool = False) -> None:
        """Note an attempt's outcome: JSON data or a ToolError, and whether it took longer than the tool should."""
        kind = outcome.error_type if isinstance(outcome, ToolError) else None
        if kind not in _NEVER_RAN:
            self._has_failed = is_slow or (kind in _FAILURES and not self._is_own_fault)
        self._is_own_fault = False

    def count(self) -> None:
        """Count the call by its latest attempt; not at all where none has run."""
        if self._has_failed is not None:
            self._shared.note(of_tool(self._tool), self._has_failed)


def _refusal(tool: str, refused: Refused) -> ToolError:
    state = refused.state
    if state.held is not None:
        return tool_error(
            "circuit_open",
            f"{tool} is not called at the moment: it was taken out of use. This call was not run.",
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
