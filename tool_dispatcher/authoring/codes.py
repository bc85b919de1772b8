"""Error codes of tools, such as NOT_FOUND: they stay unchanged, and map to our error types. Pure."""

import re

from antiphon_shared.tools.calls import ErrorType

from tool_dispatcher.authoring import foreign_failures

_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,99}")
_UPPERCASE_CODE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|E[A-Z]{3,}")
"""The form of a text that can only be an error code."""
_TYPES: dict[str, ErrorType] = {
    "validation_error": "validation_error",
    "invalid_argument": "validation_error",
    "invalid_request": "validation_error",
    "bad_request": "validation_error",
    "not_found": "not_found",
    "no_such_key": "not_found",
    "permission_denied": "permission_denied",
    "forbidden": "permission_denied",
    "unauthorized": "permission_denied",
    "unauthenticated": "permission_denied",
    "rate_limit": "rate_limit",
    "rate_limited": "rate_limit",
    "too_many_requests": "rate_limit",
    "resource_exhausted": "rate_limit",
    "api_failure": "api_failure",
    "unavailable": "api_failure",
    "service_unavailable": "api_failure",
    "timeout": "timeout",
    "timed_out": "timeout",
    "deadline_exceeded": "timeout",
    "outcome_unknown": "outcome_unknown",
    "internal_error": "internal_error",
}


def code_in(value: object) -> str:
    """Return an error code given as text or as a number; empty if the value is not a code."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    code = str(value).strip()
    return code if _CODE.fullmatch(code) else ""


def is_only_code(text: object) -> bool:
    """Return whether a text is a code and nothing else, such as `NOT_FOUND`."""
    return isinstance(text, str) and _UPPERCASE_CODE.fullmatch(text) is not None


def type_of(code: str) -> ErrorType | None:
    """Return the error type of a code or an HTTP status; None if it is unknown."""
    if code.isdecimal() and len(code) == 3:
        classification = foreign_failures.classify_status(int(code))
        return None if classification is None else classification.error_type
    return _TYPES.get(code.lower().replace("-", "_"))
