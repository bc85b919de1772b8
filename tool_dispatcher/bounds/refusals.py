"""Exceptions for calls that may not begin: a bound is reached, or its state is unknown. The call has not run."""

from math import ceil

from antiphon_shared.tools.calls import ToolError

from tool_dispatcher.authoring.failures import tool_error


class NotAdmitted(Exception):
    """A call may not begin; `error` is for the model."""

    def __init__(self, error: ToolError) -> None:
        super().__init__(error.message)
        self.error = error


class NoSlot(NotAdmitted):
    """No slot of the tool became free in time."""

    def __init__(self, tool: str, max_concurrency: int, wait_s: float) -> None:
        super().__init__(
            tool_error(
                "rate_limit",
                f"{tool} runs at most {max_concurrency} at once, and no slot became free within {wait_s:.3g} s. "
                "The call was not run.",
                f"Call {tool} later and with fewer calls at once, or go on without it and say so.",
            )
        )


class RateExceeded(NotAdmitted):
    """The call's turn is later than the call can wait."""

    def __init__(self, tool: str, retry_after_s: float) -> None:
        super().__init__(
            tool_error(
                "rate_limit",
                f"{tool} has reached its rate limit; the call could run in {ceil(retry_after_s)} s. "
                "It was not run.",
                f"Call {tool} again after that, with fewer calls, or go on without it and say so.",
                retry_after_s=retry_after_s,
            )
        )


class BoundUnknown(NotAdmitted):
    """Redis, which keeps the bound, did not reply in time."""

    def __init__(self, tool: str) -> None:
        super().__init__(
            tool_error(
                "api_failure",
                f"It is unknown whether {tool} may run: Redis did not answer. The call was not run.",
                f"Call {tool} again later, or go on without it and say so.",
            )
        )
