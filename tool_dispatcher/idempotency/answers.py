"""What a model is told of a write that was not run, or of which nobody knows what came. Pure."""

from antiphon_shared.tools.calls import ToolError, ToolResult

from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.idempotency.ledger import Write


def unknown(write: Write) -> ToolError:
    """Somebody began it, and nobody saw the end."""
    return tool_error(
        "outcome_unknown",
        f"The dispatcher stopped while {write.tool} was running. It may or may not have taken effect.",
    )


def unknown_in_spite_of(result: ToolResult) -> ToolResult:
    """Somebody began it, nobody saw the end, and the second run has failed, or was not let begin."""
    error = result.error
    if error is None or is_unknown(result):
        return result
    told = tool_error(
        "outcome_unknown",
        f"The dispatcher stopped while {result.tool} was running. It may or may not have taken effect. "
        f"When it was to be run again: {error.error_type}, {error.message}",
    )
    return result.model_copy(update={"error": told})


def still_running(write: Write) -> ToolError:
    """Somebody else runs it, for longer than the session can wait."""
    # No other type will do: a model repeats what timed out or failed, and here that is a second effect.
    return tool_error(
        "outcome_unknown",
        f"{write.tool} is still being run by another dispatcher, and there is no time left to wait for it. "
        "It may still take effect.",
    )


def refused(write: Write) -> ToolError:
    """Its key names another write. Answering with that one's outcome would be a lie."""
    return tool_error(
        "validation_error",
        f"{write.tool} was not run: the idempotency key of this call was used before for another call, "
        "with another tool or other arguments.",
        "If the call is still needed, make it again as a new call; it gets a key of its own.",
    )


def stopped(write: Write) -> ToolError:
    """Its session was cancelled before it had begun."""
    return tool_error(
        "cancelled",
        f"{write.tool} was not run: the session was cancelled. Nothing has changed.",
        "Make no further calls.",
    )


def out_of_reach(write: Write, may_have_begun: bool) -> ToolError:
    """The ledger cannot be asked, so nothing may run."""
    if may_have_begun:
        return tool_error(
            "outcome_unknown",
            f"{write.tool} may have been run before, and what came of it cannot be looked up: "
            "the ledger of writes cannot be reached.",
        )
    return tool_error(
        "api_failure",
        f"The ledger of writes cannot be reached, so {write.tool} was not run. Nothing has changed.",
        "Call it again later, or go on without it and say that it was not done.",
    )


def not_replicated(write: Write, problem: str, may_have_begun: bool) -> ToolError:
    """A failover could forget that it has begun, so it does not begin."""
    if may_have_begun:
        return tool_error(
            "outcome_unknown",
            f"{write.tool} may have been run before, and cannot be seen to now: Redis's replicas are behind "
            f"({problem})",
        )
    return tool_error(
        "api_failure",
        f"{write.tool} was not run: Redis's replicas are behind ({problem}) Nothing has changed.",
        "Call it again later, or go on without it and say that it was not done.",
    )


def is_unknown(result: ToolResult) -> bool:
    """Whether nobody knows if the call took effect."""
    return result.error is not None and result.error.error_type == "outcome_unknown"
