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
    "dependency_failed": "See to the call it depends on first, then call the tool again.",
    "cancelled": "Answer with what there is.",
    "circuit_open": "Use another tool, or go on without it and say so; it has been failing for a while.",
    "internal_error": "Go on without this tool and say so.",
    "repeated_write": "Check with a reading tool how things stand before doing it again on purpose.",
}
_AFTER_A_FAILED_WRITE = (
    "It is not known whether it took effect: check with a reading tool before calling it again."
)


_OF_THE_DISPATCHER: tuple[ErrorType, ...] = (
    "unknown_tool",
    "dependency_failed",
    "cancelled",
    "circuit_open",
    "repeated_write",
)
"""Errors of calls that did not run: a tool cannot report them."""
ERRORS_OF_TOOLS: tuple[ErrorType, ...] = tuple(
    kind for kind in get_args(ErrorType) if kind not in _OF_THE_DISPATCHER
)
MAY_PASS: tuple[ErrorType, ...] = ("rate_limit", "api_failure", "timeout")
"""Errors that may be gone at the next attempt. Only the author of a write knows that it had no effect before."""
_REFUSALS: tuple[ErrorType, ...] = ("validation_error", "not_found", "permission_denied")
"""Errors with which an author says that a write was refused; an exception's own kind does not prove that."""
_CERTAIN: tuple[ErrorType, ...] = (*MAY_PASS, *_OF_THE_DISPATCHER)
"""Errors after which a write has certainly had no effect; any other uncertainty is `outcome_unknown`."""


class InvalidTool(ConfigurationError):
    """A tool definition that cannot be used: names the tool, its file and line if known, the reason and the remedy."""

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
    """A failure that a tool reports to the model: raise it in the tool.

    `suggested_action` says what the model should do next, `retry_after_s` when a retry may help, `code` is
    your own system's error code; a subclass may set one. Raises ValueError for an `error_type` that does not
    exist, or that only the dispatcher can report.
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
        if error_type not in ERRORS_OF_TOOLS:
            raise ValueError(
                f"{error_type!r} is no error type of a tool; use one of {', '.join(ERRORS_OF_TOOLS)}"
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
    if (reading := foreign_failures.classify_exception(error)) is not None:
        message = foreign_failures.shortened(message)
        # Only the author of a write knows whether a refused one had an effect before.
        is_unknown = is_write and reading.error_type in MAY_PASS
        error_type = "outcome_unknown" if is_unknown else reading.error_type
        action = _AFTER_A_FAILED_WRITE if is_write and not is_unknown else None
        return tool_error(error_type, message, action, retry_after_s=reading.retry_after_s, code=code)
    if isinstance(error, PermissionError):
        return tool_error("permission_denied", message, code=code)
    # Model and reader get the same message for a write: its effect up to then is not known.
    return tool_error("outcome_unknown" if is_write else "internal_error", message, code=code)


def is_without_effect(error: ToolError) -> bool:
    """Return whether a write that ended with this error has certainly had no effect, so that it may run again."""
    if error.error_type in _REFUSALS:
        return error.suggested_action != _AFTER_A_FAILED_WRITE
    return error.error_type in _CERTAIN


def tool_error(
    error_type: ErrorType, message: str, suggested_action: str | None = None, **more: Any
) -> ToolError:
    """Return an error whose texts fit into an event, with the default next step if none is given."""
    return ToolError(
        error_type=error_type,
        message=readable(message).strip() or "The tool failed and did not say why.",
        suggested_action=readable(suggested_action or "").strip() or WHAT_TO_DO[error_type],
        **more,
    )


def readable(text: object, characters_max: int = MESSAGE_CHARACTERS_MAX) -> str:
    """Return text that can be encoded and has at most `characters_max` characters."""
    clean = _text(text).encode("utf-8", "replace").decode()
    return clean if len(clean) <= characters_max else clean[: characters_max - 1] + "…"


def _tool_error_of(failure: ToolFailed) -> ToolError:
    wait_s = failure.retry_after_s
    is_usable = isinstance(wait_s, int | float) and 0 <= wait_s <= _RETRY_AFTER_S_MAX
    return tool_error(
        failure.error_type,
        failure.message,
        failure.suggested_action,
        retry_after_s=wait_s if is_usable else None,
        code=code_in(failure.code),
    )


def _text(value: object) -> str:
    """Return `str(value)`; a tool's own exceptions may raise in it."""
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001  # a __str__ may run any code
        return f"(no text: {type(error).__name__})"
