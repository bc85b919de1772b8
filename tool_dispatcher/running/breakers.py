"""The circuit breakers of tools: what keeps failing, in whichever process, is not called for a while."""

from math import ceil
from typing import Any

from antiphon_shared.breakers.breaker import Allowed, Refused
from antiphon_shared.bus.breakers import SharedBreakers, of_tool
from antiphon_shared.tools.calls import ErrorType, ToolError

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


class ToolBreakers:
    """Asked right before each attempt at a tool, and told of each attempt's outcome."""

    def __init__(self, shared: SharedBreakers) -> None:
        self._shared = shared

    async def ask(self, tool: str) -> ToolError | None:
        """None when the tool may be called; else the circuit_open error the call is answered with.

        Who is let through must call the tool, and `note` the outcome: it may be the one probe.
        """
        answer = await self._shared.ask(of_tool(tool))
        return None if isinstance(answer, Allowed) else _refusal(tool, answer)

    def note(self, tool: str, outcome: Any, is_slow: bool = False) -> None:
        """What came of an attempt: JSON data, or a ToolError; and whether it took longer than the tool should."""
        kind = outcome.error_type if isinstance(outcome, ToolError) else None
        if kind not in _NEVER_RAN:
            self._shared.note(of_tool(tool), is_slow or kind in _FAILURES)


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
