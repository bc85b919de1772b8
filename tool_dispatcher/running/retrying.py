"""Retries of a call, if the failure is transient and a second run is safe."""

import asyncio

from antiphon_shared.process.ids import random_fraction
from antiphon_shared.tools.calls import ErrorType, ToolError, ToolOutcome
from antiphon_shared.tools.contract import Contract

from tool_dispatcher.authoring.failures import TRANSIENT_ERRORS, WHAT_TO_DO, readable

RETRY_AFTER_S_MAX = 30.0
"""The longest `retry_after_s`, in seconds; after a longer one there is no retry."""

_REFUSALS: frozenset[ErrorType] = frozenset(("rate_limit", "circuit_open"))
"""Errors of attempts that had no effect."""
_MESSAGE_CHARACTERS = 900
"""The length of each message, if two are joined."""


class Retries:
    """The attempts at one call, and the decision after each whether to make another."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._errors: list[ToolError] = []

    async def wait_before_retry(self, outcome: ToolOutcome, time_left_s: float) -> bool:
        """Record the outcome of an attempt; return whether to make another one, after the pause."""
        if not isinstance(outcome, ToolError):
            return False
        self._errors.append(outcome)
        attempt = len(self._errors)
        longest_s = pause_s(outcome, self._contract, attempt)
        if longest_s is None:
            return False
        wait_s = longest_s - random_fraction() * backoff_s(self._contract, attempt) / 2
        if wait_s >= time_left_s:
            return False
        await asyncio.sleep(wait_s)
        return True

    def final_outcome(self, outcome: ToolOutcome) -> ToolOutcome:
        """Return the outcome of the last attempt; an error includes the number of attempts."""
        return final_error(self._errors, self._contract) if isinstance(outcome, ToolError) else outcome


def pause_s(error: ToolError, contract: Contract, attempt: int) -> float | None:
    """Return the longest pause before the next attempt, in seconds; None if the `attempt`-th was the last. Pure.

    It is the tool's `retry_after_s` plus the contract's backoff, which jitter shortens by up to a half.
    """
    if attempt >= contract.retry.attempts or not _is_safe_again(error, contract):
        return None
    requested_s = error.retry_after_s or 0.0
    return None if requested_s > RETRY_AFTER_S_MAX else requested_s + backoff_s(contract, attempt)


def backoff_s(contract: Contract, attempt: int) -> float:
    """Return the contract's backoff after the `attempt`-th attempt, in seconds. Pure."""
    backoff = contract.backoff
    growth: int = {"constant": 1, "linear": attempt, "exponential": 1 << (attempt - 1)}[backoff.strategy]
    return min(backoff.initial_ms * growth, backoff.max_ms) / 1000


def final_error(errors: list[ToolError], contract: Contract) -> ToolError:
    """Return the error of a call after all its attempts. Pure.

    For a write it is the error of an attempt that may have taken effect, even if later attempts were refused: a
    refusal does not undo an effect, and an alternative must not run.
    """
    last = errors[-1]
    if len(errors) == 1:
        return last
    reported = _most_serious(errors) if contract.effect == "write" else last
    message = readable(reported.message, _MESSAGE_CHARACTERS)
    attempts = f"Tried {len(errors)} times"
    if reported is not last:
        attempts += f"; the last time: {last.error_type}, {readable(last.message, _MESSAGE_CHARACTERS)}"
    return reported.model_copy(
        update={"message": f"{message} ({attempts})", "suggested_action": _action_after(reported)}
    )


def _most_serious(errors: list[ToolError]) -> ToolError:
    ran = [error for error in errors if error.error_type not in _REFUSALS]
    unknown = [error for error in ran if error.error_type == "outcome_unknown"]
    last = errors[-1]
    return unknown[-1] if unknown else ran[-1] if ran and last.error_type in _REFUSALS else last


def _action_after(last: ToolError) -> str:
    """Return the next action; the advice to try once more is replaced, as that has been done."""
    if last.suggested_action == WHAT_TO_DO["api_failure"]:
        return "It has been tried again already: go on without it and say so."
    return last.suggested_action


def _is_safe_again(error: ToolError, contract: Contract) -> bool:
    """Return whether another attempt is safe: after a rate limit, or if a second run has no second effect."""
    if error.error_type == "rate_limit":
        return True
    if not contract.is_safe_to_repeat:
        return False
    if error.error_type == "outcome_unknown":
        return contract.effect == "write"  # the same key runs again, so that the write counts once
    return error.error_type in TRANSIENT_ERRORS
