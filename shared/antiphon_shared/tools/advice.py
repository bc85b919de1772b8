"""The advice to a model about a failed call, in one line next to the error itself. Pure."""

from antiphon_shared.tools.calls import ErrorType

_FIX = "read the error, understand the issue, fix the call and retry"
_RETRY = "read the error, understand the issue, fix and retry where that can help, else go another way"
_CHANGE = "read the error, understand the issue, and go another way; do not retry unless the error says how"

_ADVICE: dict[ErrorType, str] = {
    "validation_error": _FIX,
    "not_found": _FIX,
    "unknown_tool": _FIX,
    "dependency_failed": _FIX,
    "rate_limit": _RETRY,
    "api_failure": _RETRY,
    "timeout": _RETRY,
    "internal_error": _RETRY,
    "permission_denied": _CHANGE,
    "outcome_unknown": _CHANGE,
    "cancelled": _CHANGE,
    "circuit_open": _CHANGE,
    "repeated_write": _CHANGE,
}


def advice(error_type: ErrorType) -> str:
    """Return the advice for an error of that type. It never contradicts the error's own suggestion."""
    return _ADVICE[error_type]
