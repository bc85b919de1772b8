"""The arguments of a batch's calls: placeholders are replaced, then the arguments are strictly validated."""

from collections.abc import Container, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.placeholders import find, has_placeholder
from antiphon_shared.values import Json, ToolArguments

from tool_dispatcher.authoring.failures import error_of
from tool_dispatcher.authoring.secret import secrets_in
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.authoring.validate import validate
from tool_dispatcher.batch.placeholders import digest_of, referenced_indexes, resolve
from tool_dispatcher.results.redacted import redact_call_secrets


@dataclass(frozen=True, slots=True)
class Arguments:
    """Valid arguments of a call."""

    plain: ToolArguments
    """The arguments as JSON."""
    values: ToolArguments
    """The arguments as the tool's function takes them."""
    secrets: tuple[str, ...] = ()
    """Texts in the arguments that must not be shown."""


def arguments_of(
    tool: Tool, plain: ToolArguments, other_secrets: tuple[str, ...] = ()
) -> Arguments | ToolError:
    """Return the arguments, or an error if the tool refuses them; its schema does not mark `other_secrets`."""
    secrets = (*other_secrets, *secrets_in(tool.input_schema, plain)) if tool.secret_paths else other_secrets
    try:
        validated = validate(tool, plain)
    except Exception as error:  # noqa: BLE001  # the validators of a tool's models are its own code
        validated = error_of(error, "read")
    if isinstance(validated, ToolError):
        return redact_call_secrets(secrets, validated)
    # A function may change its arguments; another attempt must begin with the original ones.
    return Arguments(plain, deepcopy(validated) if validated is plain else validated, secrets)


def check_ahead(
    calls: Sequence[RequestedCall], tools: Mapping[str, Tool], skipped: Container[int]
) -> dict[int, Arguments | ToolError]:
    """Return, by index, the arguments that need no other call's result.

    They are validated before any call runs, because a batch with invalid writes must not run in part.
    """
    return {
        index: _resolved(call, tools[call.name])
        for index, call in enumerate(calls)
        if index not in skipped
        and call.name in tools
        and call.refused is None
        and call.problem is None
        and not has_placeholder(call.arguments)
    }


def filled_in(
    call: RequestedCall,
    tool: Tool,
    outcomes: Sequence[ToolResult | None],
    complete_results: Mapping[int, Json],
) -> tuple[Arguments | ToolError, str]:
    """Return the arguments with the values that other calls of the batch returned, and their digest.

    The digest is empty if a placeholder cannot be resolved, or if the tool has secrets; see batch/placeholders.py.
    """
    plain = resolve(call, outcomes, complete_results, tool.example)
    if isinstance(plain, ToolError):
        return plain, ""
    return arguments_of(tool, plain), "" if tool.secret_paths else digest_of(plain)


def referenced_calls(call: RequestedCall) -> set[int]:
    """Return the indexes of the calls whose results appear in the call's arguments."""
    return set(referenced_indexes(find(call.arguments)))


def _resolved(call: RequestedCall, tool: Tool) -> Arguments | ToolError:
    plain = resolve(call, (), None, tool.example)
    return plain if isinstance(plain, ToolError) else arguments_of(tool, plain)
