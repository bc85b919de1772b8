"""The rounds of a linear session, which are returned with the answer and logged."""

from collections import Counter
from collections.abc import Sequence

import structlog
from antiphon_shared.events import ToolsCompleted
from antiphon_shared.events.session import Response, TerminationReason
from antiphon_shared.values import Value


class CallState(Value):
    """The outcome of one call."""

    tool: str
    call_id: str
    outcome: str
    """`ok`, or the type of the error."""
    duration_ms: int


class RoundState(Value):
    """One round: the model's calls, their outcomes, and why it was the last one."""

    number: int
    tools_used: tuple[str, ...] = ()
    """Names, each once, in the order of the calls."""
    results: tuple[CallState, ...] = ()
    termination_reason: TerminationReason | None = None
    """None if another round follows."""
    tokens: int = 0
    duration_ms: int = 0


class Statistics(Value):
    """The rounds of a session in figures."""

    rounds: int
    """Rounds in which the model replied."""
    tool_rounds: int
    calls: int
    calls_failed: int
    calls_by_tool: dict[str, int]
    tokens: int
    duration_ms: int
    termination_reason: TerminationReason


class LinearResponse(Response):
    """The answer of a linear session, with its rounds."""

    rounds: tuple[RoundState, ...] = ()
    statistics: Statistics


def round_state(
    number: int,
    completed: ToolsCompleted | None,
    reason: TerminationReason | None,
    tokens: int,
    duration_ms: int,
) -> RoundState:
    """Return the state of a round that is over, and log it. `completed` is its batch, if it had one."""
    results = tuple(
        CallState(
            tool=one.tool,
            call_id=one.call_id,
            outcome=one.error.error_type if one.error is not None else one.status,
            duration_ms=one.duration_ms,
        )
        for one in (completed.results if completed is not None else ())
    )
    state = RoundState(
        number=number,
        tools_used=tuple(dict.fromkeys(result.tool for result in results)),
        results=results,
        termination_reason=reason,
        tokens=tokens,
        duration_ms=duration_ms,
    )
    structlog.get_logger().info(
        "linear_round",
        round=number,
        tools=list(state.tools_used),
        outcomes=[result.outcome for result in results],
        tokens=tokens,
        duration_ms=duration_ms,
        termination_reason=reason,
    )
    return state


def with_rounds(response: Response, rounds: Sequence[RoundState]) -> LinearResponse:
    """Return the response with its rounds and their statistics, and log the statistics."""
    results = [result for state in rounds for result in state.results]
    statistics = Statistics(
        rounds=response.rounds_used,
        tool_rounds=sum(bool(state.results) for state in rounds),
        calls=len(results),
        calls_failed=sum(result.outcome != "ok" for result in results),
        calls_by_tool=dict(Counter(result.tool for result in results)),
        tokens=response.usage.total_tokens,
        duration_ms=response.duration_ms,
        termination_reason=response.termination_reason,
    )
    structlog.get_logger().info(
        "linear_session", session=response.session_id, status=response.status, **statistics.model_dump()
    )
    return LinearResponse(**dict(response), rounds=tuple(rounds), statistics=statistics)
