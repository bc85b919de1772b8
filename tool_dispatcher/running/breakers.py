"""The circuit breakers of this process, one for each tool: what keeps failing is not called for a while."""

from collections.abc import Callable
from math import ceil
from typing import Any

import structlog

from shared.breaker import CLOSED, Allowed, Breaker, BreakerState
from shared.clock import monotonic_s
from shared.tools import ErrorType, ToolError
from tool_dispatcher.authoring.failures import tool_error

_FAILURES: frozenset[ErrorType] = frozenset(("api_failure", "timeout", "outcome_unknown"))
"""What says that what stands behind the tool is out of order. A fault in the tool itself may come of one session's
arguments, and must not close the tool for all others."""
_NEVER_RAN: frozenset[ErrorType] = frozenset(
    ("unknown_tool", "dependency_failed", "cancelled", "circuit_open")
)
"""What says nothing about the tool.

Anything else is an answer and counts as a success: refused arguments, nothing found, no permission. A rate limit
too: the service is there and has said when it will be asked again. Left alone for longer than it asked for, it
would look like an outage; retries and the limit itself see to the pause.
"""


class Breakers:
    """Asked right before each attempt at a tool, and told of each attempt's outcome."""

    def __init__(self, breaker: Breaker, now: Callable[[], float] = monotonic_s) -> None:
        self._breaker, self._now = breaker, now
        self._states: dict[str, BreakerState] = {}

    def ask(self, tool: str) -> ToolError | None:
        """None when the tool may be called; else the circuit_open error the call is answered with.

        Who is let through must call the tool, and `note` the outcome: it may be the one probe.
        """
        state = self._states.get(tool, CLOSED)
        answer = self._breaker.ask(state, self._now())
        if isinstance(answer, Allowed):
            if answer.state is not state:
                self._states[tool] = answer.state
            return None
        failures, calls = state.failures, len(state.endings)
        return tool_error(
            "circuit_open",
            f"{tool} is not called at the moment: {failures} of its last {calls} calls failed. "
            "This call was not run.",
            f"Use another tool, or go on without {tool} and say so. It is tried again in about "
            f"{ceil(answer.retry_after_s)} s.",
            retry_after_s=answer.retry_after_s,
        )

    def note(self, tool: str, outcome: Any) -> None:
        """What came of an attempt: JSON data, or a ToolError."""
        kind = outcome.error_type if isinstance(outcome, ToolError) else None
        if kind in _NEVER_RAN:
            return
        before = self._states.get(tool, CLOSED)
        after = self._breaker.after(before, kind in _FAILURES, self._now())
        self._states[tool] = after
        if (before.opened is None) != (after.opened is None):
            log = structlog.get_logger().bind(tool=tool)
            if after.opened is not None:
                log.warning(
                    "tool keeps failing; it is left alone", open_s=self._breaker.open_s, error_type=kind
                )
            else:
                log.info("tool answers again")
