"""Errors and results for a write that did not run, or whose outcome is unknown. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from antiphon_shared.tools.calls import REPEAT_CALL, Repeated, ToolError, ToolResult

from tool_dispatcher.authoring.failures import is_without_effect, tool_error
from tool_dispatcher.idempotency.write import DeniedClaim, Effect, EndState, Results, Write


def unknown_outcome_error(write: Write) -> ToolError:
    """Return the error of a write that began and whose end was not recorded."""
    return tool_error(
        "outcome_unknown",
        f"The dispatcher stopped while {write.tool} was running. It may or may not have taken effect.",
    )


def unknown_in_spite_of(result: ToolResult) -> ToolResult:
    """Return the error of a write after a first run without a recorded end and a failed or refused second run."""
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
    """Return the error of a write that another worker runs for longer than the session can wait."""
    # After a timeout or a failure, a model would repeat the call, which could have a second effect.
    return tool_error(
        "outcome_unknown",
        f"{write.tool} is still being run by another dispatcher, and there is no time left to wait for it. "
        "It may still take effect.",
    )


def other_write_error(write: Write) -> ToolError:
    """Return the error for an idempotency key that names another write: that write's outcome is not this call's."""
    return tool_error(
        "validation_error",
        f"{write.tool} was not run: the idempotency key of this call was used before for another call, "
        "with another tool or other arguments.",
        "If the call is still needed, make it again as a new call; it gets a key of its own.",
    )


def cancelled_session_error(write: Write) -> ToolError:
    """Return the error of a write whose session was cancelled before it began."""
    return tool_error(
        "cancelled",
        f"{write.tool} was not run: the session was cancelled. Nothing has changed.",
        "Make no further calls.",
    )


def out_of_reach(write: Write, may_have_begun: bool) -> ToolError:
    """Return the error for an unreachable ledger, without which no write may run."""
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
    """Return the error for a claim on too few replicas: a failover could lose it, so the write does not begin."""
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


def first_of(denied: DeniedClaim) -> Repeated:
    """Return the call that made the write before."""
    round, _, call_id = denied.by.partition("/")
    at = datetime.fromtimestamp(denied.at_ms / 1000, UTC) if denied.at_ms else None
    return Repeated(call_id=call_id or "?", round=int(round or 1), at=at)


def marked(results: Sequence[ToolResult], denied: DeniedClaim) -> Results:
    """Return the results of a call that did not run, marked with the call that made the write before."""
    first = first_of(denied)
    return tuple(result.model_copy(update={"repeated": first}) for result in results)


def settling(results: Results, denied: DeniedClaim | None) -> Results:
    """Return the results of a write that ran, marked with the identical call whose outcome they settle, if they do."""
    if denied is None or any(effect_of(result) == "unknown" for result in results):
        return results
    first = first_of(denied)
    return tuple(result.model_copy(update={"settles": first.call_id}) for result in results)


def repeated_result(write: Write, denied: DeniedClaim) -> ToolResult | ToolError:
    """Return the result of the identical call, as that of this one."""
    if denied.outcome is None:
        first = first_of(denied)
        return tool_error(
            "repeated_write",
            f"{write.tool} was not run again: call {first.call_id} of round {first.round} did the same. "
            "What that returned cannot be read any more.",
            _on_purpose(denied),
        )
    (call_id,) = write.call_ids
    own = {"index": write.place, "call_id": call_id, "tool": write.tool, "duration_ms": 0}
    return denied.outcome.model_copy(update=own)


def write_between_error(write: Write, denied: DeniedClaim) -> ToolError:
    """Return the error for a repeated write with another write in between.

    The first result may be out of date, and a second run may undo the other write.
    """
    first = first_of(denied)
    round, _, key = denied.other.split("/", 2)
    other = key.split("/")[2]
    return tool_error(
        "repeated_write",
        f"{write.tool} was not run: call {first.call_id} of round {first.round} did the same, and {other} "
        f"(round {round}) has changed something since, so its result may not hold any more.",
        f"Check with a reading tool how things stand. {_on_purpose(denied)}",
    )


def must_ask(write: Write, denied: DeniedClaim) -> ToolError:
    """Return the error for a repeated write whose contract asks for a person's decision."""
    first = first_of(denied)
    return tool_error(
        "repeated_write",
        f"{write.tool} was not run again: call {first.call_id} of round {first.round} did the same.",
        f"{_on_purpose(denied)} A person has to approve that.",
    )


def unknown_before(write: Write, denied: DeniedClaim, outcome: ToolResult | None) -> ToolError:
    """Return the error for a write whose identical earlier call has an unknown outcome."""
    first = first_of(denied)
    known = (
        outcome.error.message
        if outcome is not None and outcome.error is not None
        else unknown_outcome_error(write).message
    )
    return tool_error(
        "outcome_unknown",
        f"{write.tool} was not run again: call {first.call_id} of round {first.round} did the same, and it is "
        f"unknown whether that took effect. {known}",
        "Check with a reading tool, or tell the user that it is not known. "
        f"{_on_purpose(denied)} A person has to approve that.",
    )


def not_approved(write: Write, denied: DeniedClaim) -> ToolError:
    """Return the error for a repetition without approval of a write that may have taken effect."""
    first = first_of(denied)
    return tool_error(
        "permission_denied",
        f"{write.tool} was not run again: it is unknown whether call {first.call_id} of round {first.round} took "
        "effect, so a person has to approve a repetition, and nobody has.",
        "Check with a reading tool whether it took effect, or tell the user that it is not known.",
    )


def effect_of(result: ToolResult) -> Effect:
    """Return the effect of a write, by its result."""
    if result.error is None:
        return "done"
    return "none" if is_without_effect(result.error) else "unknown"


def write_end(results: Results) -> tuple[EndState, tuple[Effect, ...]]:
    """Return how a write has ended, as a whole and for each of its calls.

    It is `unknown_outcome_error` as soon as one call's effect is unknown: then no part of it runs again.
    """
    state: EndState = "unknown" if any(map(is_unknown, results)) else "settled"
    return state, tuple(map(effect_of, results))


def _on_purpose(denied: DeniedClaim) -> str:
    call_id = first_of(denied).call_id
    return f'If it has to be done again, use {REPEAT_CALL}(call_id="{call_id}", reason="...").'


def is_unknown(result: ToolResult) -> bool:
    """Return whether the effect of the call is unknown."""
    return result.error is not None and result.error.error_type == "outcome_unknown"
