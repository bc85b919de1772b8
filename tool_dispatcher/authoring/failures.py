"""Failures: the exception for authors of tools, and the error that a model receives for any exception. Pure."""

from typing import Any, get_args

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import ErrorType, ToolError
from antiphon_shared.tools.contract import Effect

from tool_dispatcher.authoring import foreign_failures
from tool_dispatcher.authoring.codes import code_in

MESSAGE_CHARACTERS_MAX = 2_000
_RETRY_AFTER_S_MAX = 86_400 * 365

WHAT_TO_DO: dict[ErrorType, str] = {
    "validation_error": "Correct the arguments and call the tool again.",
    "not_found": "Look the name or id up with another tool, or go on without it.",
    "permission_denied": "Do not call this tool again; use another, or say what could not be done.",
    "rate_limit": "Wait before calling this tool again, or go on without it.",
    "api_failure": "Try once more; if it fails again, go on without it and say so.",
    "timeout": "Ask for less, or go on without it and say so.",
    "unknown_tool": "Use one of the tools that are offered.",
    "outcome_unknown": "It may have taken effect: do not repeat it. Check with a reading tool, "
    "or tell the user that it is not known.",
    "dependency_failed": "Correct the call that it depends on first, then call the tool again.",
    "cancelled": "Answer with the results that are available.",
    "circuit_open": "Use another tool, or go on without it and say so; it has been failing for a while.",
    "internal_error": "Go on without this tool and say so.",
    "repeated_write": "Check the current state with a reading tool before doing it again on purpose.",
}
_AFTER_A_FAILED_WRITE = (
    "It is not known whether it took effect: check with a reading tool before calling it again."
)


DISPATCHER_ERRORS: tuple[ErrorType, ...] = (
    "unknown_tool",
    "dependency_failed",
    "cancelled",
    "circuit_open",
    "repeated_write",
)
"""Errors of calls that did not run; a tool cannot report them."""
TOOL_ERRORS: tuple[ErrorType, ...] = tuple(
    kind for kind in get_args(ErrorType) if kind not in DISPATCHER_ERRORS
)
TRANSIENT_ERRORS: tuple[ErrorType, ...] = ("rate_limit", "api_failure", "timeout")
"""Errors that may not occur at the next attempt. A write may have had an effect before one of them; only its
author knows."""
_REFUSALS: tuple[ErrorType, ...] = ("validation_error", "not_found", "permission_denied")
"""Errors by which an author reports that a write was refused; the class of an exception does not prove that."""
_ERRORS_WITHOUT_EFFECT: tuple[ErrorType, ...] = (*TRANSIENT_ERRORS, *DISPATCHER_ERRORS)
"""Errors after which a write certainly had no effect; where that is uncertain, the error is `outcome_unknown`."""


class InvalidTool(ConfigurationError):
    """An unusable tool definition; the error names the tool, its file and line if known, the reason and the remedy."""

    code = "invalid_tool"

    def __init__(self, tool: str, problem: str, *, hint: str, parameter: str = "", source: str = "") -> None:
        where = f"{source}: {problem} (tool {tool!r})" if source else f"Tool {tool!r}: {problem}"
        super().__init__(f"{where}.", hint=hint)
        self.tool, self.problem, self.parameter, self.source = tool, problem, parameter, source

    def located(self, source: str) -> "InvalidTool":
        """Return the same error, located at `file:line`; an error that has a location keeps it."""
        if self.source or not source:
            return self
        return InvalidTool(self.tool, self.problem, hint=self.hint, parameter=self.parameter, source=source)


class ToolFailed(Exception):
    """A failure that a tool reports to the model by raising it.

    Args:
        error_type: the kind of the failure.
        message: what happened.
        suggested_action: what the model should do next; the default depends on `error_type`.
        retry_after_s: how long to wait before a retry may succeed, in seconds.
        code: the error code of your own system; a subclass may set it as a class attribute.

    Raises:
        ValueError: `error_type` does not exist, or only the dispatcher can report it.
    """

    code = ""

    def __init__(
        self,
        error_type: ErrorType,
        message: str,
        suggested_action: str | None = None,
        retry_after_s: float | None = None,
        code: str | None = None,
    ) -> None:
        if error_type not in TOOL_ERRORS:
            raise ValueError(
                f"{error_type!r} is not an error type of tools; use one of {', '.join(TOOL_ERRORS)}"
            )
        super().__init__(message)
        self.error_type: ErrorType = error_type
        self.message = message
        self.suggested_action = suggested_action
        self.retry_after_s = retry_after_s
        if code is not None:
            self.code = code


def error_of(error: BaseException, effect: Effect) -> ToolError:
    """Return the error that the model receives for an exception, without a traceback."""
    if isinstance(error, ToolFailed):
        return _tool_error_of(error)
    message = f"{type(error).__name__}: {_text(error)}".removesuffix(": ")
    code = code_in(foreign_failures.code_of(error))
    is_write = effect == "write"
    if (classification := foreign_failures.classify_exception(error)) is not None:
        message = foreign_failures.shortened(message)
        # Only its author knows whether a write had an effect before such an error.
        is_unknown = is_write and classification.error_type in TRANSIENT_ERRORS
        error_type = "outcome_unknown" if is_unknown else classification.error_type
        action = _AFTER_A_FAILED_WRITE if is_write and not is_unknown else None
        return tool_error(error_type, message, action, retry_after_s=classification.retry_after_s, code=code)
    if isinstance(error, PermissionError):
        return tool_error("permission_denied", message, code=code)
    return tool_error("outcome_unknown" if is_write else "internal_error", message, code=code)


def is_without_effect(error: ToolError) -> bool:
    """Return whether a write that ended with this error certainly had no effect, and so may run again."""
    if error.error_type in _REFUSALS:
        return error.suggested_action != _AFTER_A_FAILED_WRITE
    return error.error_type in _ERRORS_WITHOUT_EFFECT


def tool_error(
    error_type: ErrorType,
    message: str,
    suggested_action: str | None = None,
    *,
    retry_after_s: object = None,
    **more: Any,
) -> ToolError:
    """Return an error whose texts fit into an event, with the default next step unless one is passed.

    A `retry_after_s` that is no possible time is left out.
    """
    is_time = isinstance(retry_after_s, int | float) and 0 <= retry_after_s <= _RETRY_AFTER_S_MAX
    return ToolError(
        error_type=error_type,
        message=readable(message).strip() or "The tool failed and did not say why.",
        suggested_action=readable(suggested_action or "").strip() or WHAT_TO_DO[error_type],
        retry_after_s=retry_after_s if is_time else None,
        **more,
    )


def readable(text: object, characters_max: int = MESSAGE_CHARACTERS_MAX) -> str:
    """Return a value as text that can be encoded and has at most `characters_max` characters."""
    clean = _text(text).encode("utf-8", "replace").decode()
    return clean if len(clean) <= characters_max else clean[: characters_max - 1] + "…"


def _tool_error_of(failure: ToolFailed) -> ToolError:
    return tool_error(
        failure.error_type,
        failure.message,
        failure.suggested_action,
        retry_after_s=failure.retry_after_s,
        code=code_in(failure.code),
    )


def _text(value: object) -> str:
    """Return `str(value)`, even if it raises, as it may for exceptions of tools."""
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001  # a __str__ may run any code
        return f"(no text: {type(error).__name__})"
