"""Sessions and events to decide about."""

from typing import Any

from coordinator.decide import open_session
from coordinator.session import Decision, Opening
from shared.briefing import Outline
from shared.events import BriefingReady, QuerySubmitted, ReasoningCompleted, ResponseReady, ToolsCompleted
from shared.session import Limits, QueryOptions
from shared.tools import ToolCall, ToolResult
from shared.values import Usage
from tests.envelopes import an_event

ENTRY = "1795244309110-0"


def an_opened_session(
    tools: tuple[str, ...] = ("search",), named_tools: tuple[str, ...] | None = None, **options: Any
) -> Decision:
    query = QuerySubmitted(query="Why?", options=QueryOptions(tools=named_tools, **options))
    limits = Limits(max_rounds=4, max_tool_calls=20, max_tokens=200_000, deadline_s=300)
    opening = Opening(limits=limits, catalogue="c0ffee", tools=tools)
    return open_session(an_event(query, at_s=0), ENTRY, query, opening)


def a_briefing(round: int = 1, tokens: int = 100) -> BriefingReady:
    return BriefingReady(round=round, briefing=Outline(digest="d1", tokens=tokens))


def a_reply(text: str = "Because.", calls: int = 0, round: int = 1, **fields: Any) -> ReasoningCompleted:
    asked = tuple(ToolCall(id=f"call_{round}_{n}", name="search", arguments={"q": n}) for n in range(calls))
    usage = fields.pop("usage", Usage(input_tokens=100, output_tokens=20))
    stop = fields.pop("stop_reason", "tool_use" if calls else "end_turn")
    return ReasoningCompleted(
        round=round, text=text, tool_calls=asked, stop_reason=stop, model="m", usage=usage, **fields
    )


def some_results(calls: int = 1, status: str = "ok", round: int = 1) -> ToolsCompleted:
    results = [
        ToolResult.model_validate(
            {"index": n, "call_id": f"call_{round}_{n}", "tool": "search", "status": status}
        )
        for n in range(calls)
    ]
    return ToolsCompleted(round=round, results=tuple(results))


def a_response() -> ResponseReady:
    return ResponseReady(
        session_id="s1",
        status="complete",
        answer="!",
        termination_reason="natural_completion",
        rounds_used=1,
        tool_calls_used=0,
        duration_ms=1,
    )
