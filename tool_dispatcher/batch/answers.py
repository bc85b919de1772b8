"""Errors of calls that do not run: what happened, and what to do next. Pure."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.contract import Dependency
from antiphon_shared.values import ToolArguments

from tool_dispatcher.authoring.failures import readable, tool_error

_NAMES_LISTED = 20
_REASON_CHARACTERS_MAX = 300

Example = ToolArguments | None
"""Valid arguments of a tool; None if unknown."""


def failed(index: int, call: RequestedCall, error: ToolError, duration_ms: int = 0) -> ToolResult:
    """Return the result of a call that failed."""
    return ToolResult(
        index=index, call_id=call.id, tool=call.name, status="error", error=error, duration_ms=duration_ms
    )


def refused_by_coordinator(reason: str) -> ToolError:
    """Return the error of a call that the coordinator has refused; it is in the batch to get an answer."""
    return tool_error(
        "cancelled",
        f"The call was not run: {reason.removesuffix('.')}.",
        "Do what is said there; if that is nothing, go on without the call, and say what is missing.",
    )


def unknown_tool(name: str, offered: Sequence[str]) -> ToolError:
    """Return the error for an unknown tool name; it lists the nearest of the offered names, or all of them."""
    nearest = get_close_matches(name, offered, n=3)
    return tool_error("unknown_tool", f"There is no tool {name!r}.", _use_one_of(nearest or offered))


def unusable_arguments(call: RequestedCall, problem: str, example: Example = None) -> ToolError:
    """Return the error for arguments that did not arrive as an object."""
    return tool_error(
        "validation_error",
        f"The arguments of {call.name} could not be used: {problem}",
        f"Call {call.name} again with a complete JSON object as its arguments.",
        example_valid_call=example,
    )


def repeated_id_error(call: RequestedCall) -> ToolError:
    """Return the error for the second call with the same id: the two results would be indistinguishable."""
    return tool_error(
        "validation_error",
        f"Two calls of this batch have the id {call.id!r}; this one, the later, was not run.",
        "Look at the first one's result. If this call is another one, make it again, on its own.",
    )


def bad_placeholders(call: RequestedCall, problems: Mapping[str, str], example: Example = None) -> ToolError:
    """Return the error for placeholders that cannot be resolved; `problems` maps each argument to the reason."""
    listed = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
    return tool_error(
        "validation_error",
        f"{call.name} was not run: a placeholder in its arguments has no value. {listed}.",
        f"Call {call.name} again with the value itself, or with a path to an existing value, such as "
        "${calls[0].documents[0].id}. If the text itself is meant, write one more $ before it.",
        example_valid_call=example,
        fields={name: readable(problem, _REASON_CHARACTERS_MAX) for name, problem in problems.items()},
    )


def cycle_error(index: int, cycle: Sequence[int], calls: Sequence[RequestedCall]) -> ToolError:
    """Return the error for a call that waits for itself, directly or through other calls."""
    if len(cycle) == 1:
        problem = f"{call_label(index, calls[index])} waits for itself"
    else:
        problem = f"these calls wait for each other in a cycle: {_listed(cycle, calls)}"
    return tool_error(
        "validation_error",
        f"{calls[index].name} was not run: {problem}.",
        "Make the calls that need nothing from the others now, and the rest in the next reply, with the "
        "values themselves in place of the placeholders.",
    )


def not_called_yet(call: RequestedCall, dependency: Dependency) -> ToolError:
    """Return the error for a call whose tool needs another tool, which has not succeeded in this session."""
    return tool_error(
        "dependency_failed",
        f"{call.name} was not run: it needs {dependency.tool}, which has not succeeded in this session.",
        f"Call {dependency.tool} first, then {call.name} with {_needed_fields(dependency)}.",
    )


def needs_another(call: RequestedCall, dependency: Dependency, problem: str) -> ToolError:
    """Return the error for a call whose dependency has calls in this batch, but none returned the needed fields."""
    gives = _needed_fields(dependency)
    return tool_error(
        "dependency_failed",
        f"{call.name} was not run: it needs {gives.replace(' it ', f' {dependency.tool} ')}; {problem}.",
        f"First correct the call of {dependency.tool}, or call it for something else. "
        f"Then call {call.name} with {gives}.",
    )


def needs_a_result(call: RequestedCall, index: int, other: RequestedCall, error: ToolError) -> ToolError:
    """Return the error for a call with a placeholder for the result of a call that failed."""
    return tool_error(
        "dependency_failed",
        f"{call.name} was not run: an argument is what {call_label(index, other)} returns, and that call "
        f"{why_failed(error)}.",
        f"First correct calls[{index}]: {_action(error)} Then call {call.name} again.",
    )


def begun_elsewhere(call: RequestedCall, refused: ToolError | None) -> ToolError:
    """Return the error for a write that another worker began, which may have taken effect and cannot be resumed."""
    why = "this dispatcher has no such tool." if refused is None else refused.message
    return tool_error(
        "outcome_unknown",
        f"{call.name} was begun by a dispatcher that stopped, and may or may not have taken effect. "
        f"It can no longer be resumed: {why}",
    )


def not_started(call: RequestedCall, index: int, other: RequestedCall, error: ToolError) -> ToolError:
    """Return the error for a call that had not begun when another call of its batch failed."""
    return tool_error(
        "cancelled",
        f"{call.name} was not run and has had no effect: {call_label(index, other)} {why_failed(error)}, and calls "
        "of tools like these stop at the first failure.",
        f"First correct calls[{index}]: {_action(error)} Then repeat this call unchanged, "
        "if it is still needed.",
    )


def call_label(index: int, call: RequestedCall) -> str:
    """Return a call as text: `calls[1] (search)`."""
    return f"calls[{index}] ({readable(call.name, 64)})"


def why_failed(error: ToolError) -> str:
    """Return a failure as text without the final full stop: `failed (timeout: it took too long)`."""
    message = readable(error.message, _REASON_CHARACTERS_MAX).rstrip(" .")
    return f"failed ({error.error_type}: {message})"


def _action(error: ToolError) -> str:
    action = readable(error.suggested_action, _REASON_CHARACTERS_MAX).strip()
    return action if action.endswith((".", "!", "?", "…")) else f"{action}."


def _needed_fields(dependency: Dependency) -> str:
    if not dependency.required_fields:
        return "what it returns"
    return f"the {', '.join(f'`{field}`' for field in dependency.required_fields)} it returns"


def _listed(indexes: Sequence[int], calls: Sequence[RequestedCall]) -> str:
    more = f" and {len(indexes) - _NAMES_LISTED} more" if len(indexes) > _NAMES_LISTED else ""
    return ", ".join(call_label(index, calls[index]) for index in indexes[:_NAMES_LISTED]) + more


def _use_one_of(names: Sequence[str]) -> str:
    if not names:
        return "Answer without tools: none is offered."
    more = ", and others" if len(names) > _NAMES_LISTED else ""
    return f"Use one of: {', '.join(names[:_NAMES_LISTED])}{more}."
