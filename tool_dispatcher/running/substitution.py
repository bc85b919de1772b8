"""The substitution of a tool that keeps failing by an alternative. Pure."""

from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.calls import ErrorType, ToolError
from antiphon_shared.tools.contract import Alternative, Contract
from antiphon_shared.values import ToolArguments

_AFTER_A_READ: frozenset[ErrorType] = frozenset(
    ("api_failure", "timeout", "rate_limit", "circuit_open", "internal_error")
)
_AFTER_A_WRITE: frozenset[ErrorType] = frozenset(("circuit_open", "rate_limit"))
"""Errors after which the first tool had no effect, so that the second cannot repeat it."""
_MESSAGE_CHARACTERS_MAX = 200


def substitutes(contract: Contract, error: ToolError) -> tuple[Alternative, ...]:
    """Return the tool's alternatives that may be tried after an error, in order.

    After an answer of the tool, such as not found or no permission, no alternative is tried.
    """
    replaceable = _AFTER_A_READ if contract.effect == "read" else _AFTER_A_WRITE
    return contract.alternatives if error.error_type in replaceable else ()


def mapped(alternative: Alternative, arguments: ToolArguments) -> ToolArguments:
    """Return the arguments of a call under the alternative's names; absent ones are omitted."""
    if alternative.arguments is None:
        return dict(arguments)
    return {
        target: arguments[source] for source, target in alternative.arguments.items() if source in arguments
    }


def substitution_reason(tool: str, error: ToolError, alternative: str) -> str:
    """Return why another tool answered, for `ToolResult.substitute_because`."""
    message = one_line(error.message, _MESSAGE_CHARACTERS_MAX).rstrip(".")
    return f"{tool} failed ({error.error_type}: {message}); {alternative} answered instead."
