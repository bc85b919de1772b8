"""The verdict of a validating tool. Pure."""

from collections.abc import Iterator, Mapping

from antiphon_shared.output.validation import (
    ERROR_CHARACTERS_MAX,
    ERRORS_MAX,
    Validation,
    content_digest,
)
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.calls import ToolError, ToolOutcome
from antiphon_shared.tools.contract import Contract
from antiphon_shared.values import Json


def verdict(contract: Contract, arguments: Mapping[str, object], outcome: ToolOutcome) -> Validation | None:
    """Return the verdict of a call on the argument that it validates; None for a tool that validates nothing.

    `arguments` are those the tool was called with; `outcome` is its return value, or a ToolError. A tool
    reports a fault by an error, or by `{"valid": false, "errors": [{"property": ..., "message": ...}]}`.
    """
    if not contract.validates:
        return None
    try:
        of = content_digest(arguments.get(contract.validates))
    except (ValueError, TypeError):  # not JSON, so it cannot be a returned answer
        return None
    if isinstance(outcome, ToolError):
        return Validation(of=of, has_passed=False, errors=(one_line(outcome.message, ERROR_CHARACTERS_MAX),))
    if not isinstance(outcome, Mapping) or outcome.get("valid", True) is True:
        return Validation(of=of, has_passed=True)
    errors = tuple(_told(outcome.get("errors")))[:ERRORS_MAX]
    return Validation(of=of, has_passed=False, errors=errors or ("It is not valid.",))


def _told(errors: Json) -> Iterator[str]:
    for error in errors if isinstance(errors, list) else [errors]:
        if isinstance(error, Mapping):
            named, message = error.get("property", "(the whole)"), error.get("message", "not valid")
            yield one_line(f"Property: {named}, Message: {message}", ERROR_CHARACTERS_MAX)
        elif isinstance(error, str) and error.strip():
            yield one_line(error, ERROR_CHARACTERS_MAX)
