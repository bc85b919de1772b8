"""Errors and results for a write that did not run, or whose outcome is unknown. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from antiphon_shared.tools.calls import REPEAT_CALL, Repeated, ToolError, ToolResult

from tool_dispatcher.authoring.failures import is_without_effect, tool_error
from tool_dispatcher.idempotency.write import DeniedClaim, Effect, EndState, Results, Write


def unknown_outcome_error(tool: str, second_run: str = "") -> ToolError:
    """Return the error of a write that began, but whose end was not recorded; `second_run` tells of a later run."""
    return tool_error(
        "outcome_unknown",
        f"The dispatcher stopped while {tool} was running. It may or may not have taken effect. {second_run}",
    )


def unknown_after_second_run(result: ToolResult) -> ToolResult:
    """Return the result of a second run, where the end of the first run was not recorded.

    If the second run failed or was refused, the outcome of the write is unknown.
    """
    error = result.error
    if error is None or is_unknown(result):
        return result
    second_run = f"A second run failed: {error.error_type}, {error.message}"
    return result.model_copy(update={"error": unknown_outcome_error(result.tool, second_run)})


def still_running_error(write: Write) -> ToolError:
    """Return the error of a write that another worker runs for longer than the session can wait.

    It is no timeout or failure: a model would then repeat the call, which could have a second effect.
    """
    return tool_error(
        "outcome_unknown",
        f"{write.tool} is still being run by another dispatcher, and there is no time left to wait for it. "
        "It may still take effect.",
    )


def other_write_error(write: Write) -> ToolError:
    """Return the error for an idempotency key that names another write, whose outcome is not that of this call."""
    return tool_error(
        "validation_error",
        f"{write.tool} was not run: the idempotency key of this call was used before for another call, "
        "with another tool or other arguments.",
        "If the call is still needed, make it again as a new call; it then gets a new key.",
    )


def cancelled_session_error(write: Write) -> ToolError:
    """Return the error of a write whose session was cancelled before it began."""
    return tool_error(
        "cancelled",
        f"{write.tool} was not run: the session was cancelled. Nothing has changed.",
        "Make no further calls.",
    )


def not_claimed_error(write: Write, not_replicated: str, may_have_begun: bool) -> ToolError:
    """Return the error of a write that does not run, as it cannot be claimed.

    `not_replicated` is why a failover could lose the claim; if it is empty, the ledger of writes cannot be reached.
    """
    why = "the ledger of writes cannot be reached."
    if not_replicated:
        why = f"Redis's replicas are behind ({not_replicated})"
    if may_have_begun:
        return tool_error(
            "outcome_unknown", f"{write.tool} may have been run before, and cannot be resumed now: {why}"
        )
    return tool_error(
        "api_failure",
        f"{write.tool} was not run: {why} Nothing has changed.",
        "Call it again later, or go on without it and say that it was not done.",
    )


def first_call(denied: DeniedClaim) -> Repeated:
    """Return the call that made the write before."""
    round, _, call_id = denied.by.partition("/")
    made_at = datetime.fromtimestamp(denied.at_ms / 1000, UTC) if denied.at_ms else None
    return Repeated(call_id=call_id or "?", round=int(round or 1), at=made_at)


def mark_repeated(results: Sequence[ToolResult], denied: DeniedClaim) -> Results:
    """Return the results of a call that did not run, with the mark of the call that made the write before."""
    first = first_call(denied)
    return tuple(result.model_copy(update={"repeated": first}) for result in results)


def mark_settling(results: Results, denied: DeniedClaim | None) -> Results:
    """Return the results of a write that ran, with the mark of the identical call whose outcome they settle, if any."""
    if denied is None or any(effect_of(result) == "unknown" for result in results):
        return results
    first = first_call(denied)
    return tuple(result.model_copy(update={"settles": first.call_id}) for result in results)


def repeated_result(write: Write, denied: DeniedClaim) -> ToolResult | ToolError:
    """Return the result of the identical call as the result of this call, or an error if it cannot be read."""
    if denied.outcome is None:
        return tool_error(
            "repeated_write",
            f"{write.tool} was not run again: {_named(denied)} did the same. Its result can no longer be read.",
            _how_to_repeat(denied),
        )
    (call_id,) = write.call_ids
    changes = {"index": write.index, "call_id": call_id, "tool": write.tool, "duration_ms": 0}
    return denied.outcome.model_copy(update=changes)


def write_between_error(write: Write, denied: DeniedClaim) -> ToolError:
    """Return the error for a repeated write with another write in between.

    The first result may be out of date, and a second run might undo the other write.
    """
    round, _, key = denied.other.split("/", 2)
    other = key.split("/")[2]
    return tool_error(
        "repeated_write",
        f"{write.tool} was not run: {_named(denied)} did the same, and {other} (round {round}) has changed "
        "something since, so its result may be out of date.",
        f"Check the current state with a reading tool. {_how_to_repeat(denied)}",
    )


def approval_needed_error(write: Write, denied: DeniedClaim) -> ToolError:
    """Return the error for a repeated write whose contract asks for a person's decision."""
    return tool_error(
        "repeated_write",
        f"{write.tool} was not run again: {_named(denied)} did the same.",
        f"{_how_to_repeat(denied)} A person has to approve that.",
    )


def unknown_before_error(write: Write, denied: DeniedClaim, outcome: ToolResult | None) -> ToolError:
    """Return the error for a write whose identical earlier call has an unknown outcome."""
    error = unknown_outcome_error(write.tool) if outcome is None or outcome.error is None else outcome.error
    return tool_error(
        "outcome_unknown",
        f"{write.tool} was not run again: {_named(denied)} did the same, and it is unknown whether that took "
        f"effect. {error.message}",
        "Check with a reading tool, or tell the user that it is not known. "
        f"{_how_to_repeat(denied)} A person has to approve that.",
    )


def not_approved_error(write: Write, denied: DeniedClaim) -> ToolError:
    """Return the error for a repetition without approval of a write that may have taken effect."""
    return tool_error(
        "permission_denied",
        f"{write.tool} was not run again: it is unknown whether {_named(denied)} took effect, so a repetition "
        "needs a person's approval, which was not given.",
        "Check with a reading tool whether it took effect, or tell the user that it is not known.",
    )


def effect_of(result: ToolResult) -> Effect:
    """Return the effect of a write, according to its result."""
    if result.error is None:
        return "done"
    return "none" if is_without_effect(result.error) else "unknown"


def write_end(results: Results) -> tuple[EndState, tuple[Effect, ...]]:
    """Return the end state of a write, and the effect of each of its calls.

    If the effect of one call is unknown, the whole write is `unknown`, so that no part of it runs again.
    """
    state: EndState = "unknown" if any(map(is_unknown, results)) else "settled"
    return state, tuple(map(effect_of, results))


def _named(denied: DeniedClaim) -> str:
    """Return the call that made the write before, as text."""
    first = first_call(denied)
    return f"call {first.call_id} of round {first.round}"


def _how_to_repeat(denied: DeniedClaim) -> str:
    call_id = first_call(denied).call_id
    return f'If it has to be done again, use {REPEAT_CALL}(call_id="{call_id}", reason="...").'


def is_unknown(result: ToolResult) -> bool:
    """Return whether the effect of the call is unknown."""
    return result.error is not None and result.error.error_type == "outcome_unknown"
