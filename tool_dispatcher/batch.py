"""The plan of a batch: which of its calls run, and what is answered to the others. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from shared.events import ToolsRequested
from shared.journal import begun_entry, outcome_entry, read_outcome
from shared.tools import RequestedCall, ToolError, ToolResult
from tool_dispatcher.failures import tool_error
from tool_dispatcher.tool import Tool

_NAMES_LISTED = 20


@dataclass(frozen=True, slots=True)
class Settled:
    """The journal holds what came of it, or there is nothing to note."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class Answered:
    """It does not run; `result` says why."""

    key: str
    result: ToolResult


@dataclass(frozen=True, slots=True)
class ToRun:
    """It runs, if its arguments are valid."""

    index: int
    call: RequestedCall
    tool: Tool


Step = Settled | Answered | ToRun


def plan(
    request: ToolsRequested, tools: Mapping[str, Tool], journal: Mapping[str, bytes]
) -> tuple[Step, ...]:
    """One step for each call, in the order of the calls. `journal` is empty when nobody has begun before."""
    steps: list[Step] = []
    seen: set[str] = set()
    for index, call in enumerate(request.calls):
        if call.idempotency_key in seen:
            steps.append(Settled(failed(index, call, _repeated(call))))
            continue
        seen.add(call.idempotency_key)
        steps.append(_step(index, call, request.allowed, tools, journal))
    return tuple(steps)


def failed(index: int, call: RequestedCall, error: ToolError, duration_ms: int = 0) -> ToolResult:
    """The result of a call that failed."""
    return ToolResult(
        index=index, call_id=call.id, tool=call.name, status="error", error=error, duration_ms=duration_ms
    )


def unknown_outcome(call: RequestedCall) -> ToolError:
    """For a write somebody began and nobody saw the end of."""
    return tool_error(
        "outcome_unknown",
        f"The dispatcher stopped while {call.name} was running. It may or may not have taken effect.",
    )


def _step(
    index: int,
    call: RequestedCall,
    allowed: tuple[str, ...],
    tools: Mapping[str, Tool],
    journal: Mapping[str, bytes],
) -> Step:
    key = call.idempotency_key
    if (known := read_outcome(journal.get(outcome_entry(key)))) is not None:
        return Settled(known)
    if begun_entry(key) in journal:
        return Answered(key, failed(index, call, unknown_outcome(call)))
    if (error := _refusal(call, allowed, tools)) is not None:
        return Answered(key, failed(index, call, error))
    return ToRun(index, call, tools[call.name])


def _refusal(call: RequestedCall, allowed: tuple[str, ...], tools: Mapping[str, Tool]) -> ToolError | None:
    if call.refused is not None:
        return tool_error(
            "cancelled",
            f"The call was not run: {call.refused}.",
            "Call no further tools; answer from what has been found, and say what is missing.",
        )
    offered = sorted(name for name in allowed if name in tools)
    if call.name in tools and call.name not in allowed:
        return tool_error("permission_denied", f"{call.name} is not offered here.", _use_one_of(offered))
    if call.name not in tools:
        nearest = get_close_matches(call.name, offered, n=3)
        return tool_error("unknown_tool", f"There is no tool {call.name!r}.", _use_one_of(nearest or offered))
    if call.problem is not None:
        return tool_error(
            "validation_error",
            f"The arguments of {call.name} could not be used: {call.problem}",
            f"Call {call.name} again with a complete JSON object as its arguments.",
            example_valid_call=tools[call.name].example,
        )
    return None


def _repeated(call: RequestedCall) -> ToolError:
    return tool_error(
        "validation_error",
        f"Two calls of this batch have the id {call.id!r}; only the first of them was run.",
        "Look at the first one's result. If this call is another one, make it again, on its own.",
    )


def _use_one_of(names: list[str]) -> str:
    if not names:
        return "Answer without tools: none is offered."
    more = ", ..." if len(names) > _NAMES_LISTED else ""
    return f"Use one of: {', '.join(names[:_NAMES_LISTED])}{more}."
