"""Sessions and events to decide about."""

from collections.abc import Iterable
from typing import Any, TypeVar

from antiphon_shared.breakers.outages import NO_OUTAGES, Outages
from antiphon_shared.events import (
    AnswerRefused,
    ApprovalDecided,
    AssemblyRequested,
    BriefingReady,
    EventData,
    FallbackTaken,
    OutagesSeen,
    QuerySubmitted,
    QuestionAnswered,
    ReasoningCompleted,
    ResponseReady,
    StepBegun,
    ToolsCompleted,
    ToSummarize,
)
from antiphon_shared.events.session import Limits, QueryOptions
from antiphon_shared.memory.briefing import Outline
from antiphon_shared.tools.calls import Approval, Catalogue, ToolCall, ToolDefinition, ToolResult
from antiphon_shared.tools.contract import Effect
from antiphon_shared.values import Usage

from coordinator.decide import decide
from coordinator.decision import Decision, Inputs, LoggedEvent, OfferBounds, Opening
from coordinator.opening import open_session
from coordinator.session import Session
from tests.envelopes import an_event

ENTRY = "1795244309110-0"
NOTED = (FallbackTaken, AnswerRefused, StepBegun, OutagesSeen)
"""Events that are only logged, which the session does not wait for."""
DataT = TypeVar("DataT", bound=EventData)


def a_tool(
    name: str,
    effect: Effect = "read",
    description: str = "",
    approval: Approval = "never",
    **contract: Any,
) -> ToolDefinition:
    schema = {"type": "object", "x-orchestration": contract}
    return ToolDefinition(
        name=name, description=description, input_schema=schema, effect=effect, approval=approval
    )


def a_catalogue(*tools: ToolDefinition | str, default_scopes: Iterable[str] = ("read", "write")) -> Catalogue:
    """Return a catalogue with the tools in the order of their names, as dispatchers publish them."""
    definitions = [a_tool(tool) if isinstance(tool, str) else tool for tool in tools]
    return Catalogue(
        tools=tuple(sorted(definitions, key=lambda tool: tool.name)), default_scopes=tuple(default_scopes)
    )


SEARCH = a_catalogue("search")


def an_opened_session(
    catalogue: Catalogue = SEARCH,
    named_tools: tuple[str, ...] | None = None,
    query: str = "Why?",
    grant: str = "",
    offer: OfferBounds | None = None,
    models: tuple[str, ...] = (),
    **options: Any,
) -> Decision:
    submitted = QuerySubmitted(query=query, options=QueryOptions(tools=named_tools, **options), grant=grant)
    limits = Limits(max_rounds=4, max_tool_calls=20, max_tokens=200_000, deadline_s=300)
    opening = Opening(limits=limits, catalogue="c0ffee", offer=offer or OfferBounds(), models=models)
    return open_session(an_event(submitted, at_s=0), ENTRY, submitted, opening, catalogue)


def answered(
    session: Session,
    data: EventData,
    catalogue: Catalogue = SEARCH,
    log_entry: str = ENTRY,
    outages: Outages = NO_OUTAGES,
    at_s: float = 1,
) -> Decision:
    """Return the session's next step when `data` answers its pending request."""
    event = an_event(data, answers=session.pending_request, at_s=at_s)
    return decide(session, event, log_entry, Inputs(catalogue, outages=outages))


def met(
    session: Session,
    data: EventData,
    catalogue: Catalogue = SEARCH,
    log_entry: str = ENTRY,
    named: LoggedEvent | None = None,
) -> Decision:
    """Return the session's next step when `data` comes from outside; `named` is the other data in the log."""
    return decide(session, an_event(data), log_entry, Inputs(catalogue, needed=named))


def only(decision: Decision, kind: type[DataT]) -> DataT:
    """Return the only request, without the events that are only logged."""
    (command,) = [one for one in decision.commands if not isinstance(one, NOTED)]
    assert isinstance(command, kind)
    return command


def fallback_steps(*decisions: Decision) -> list[str]:
    """Return the fallback steps that were taken, in their order."""
    commands = (one for decision in decisions for one in decision.commands)
    return [one.rung for one in commands if isinstance(one, FallbackTaken)]


def ending(decision: Decision) -> AssemblyRequested:
    return only(decision, AssemblyRequested)


def a_briefing(
    round: int = 1,
    tokens: int = 100,
    to_summarize: ToSummarize | None = None,
    summary_refused: str = "",
    **outline: Any,
) -> BriefingReady:
    return BriefingReady(
        round=round,
        briefing=Outline(digest="d1", tokens=tokens, **outline),
        to_summarize=to_summarize,
        summary_refused=summary_refused,
    )


def too_much(tokens: int = 900) -> ToSummarize:
    """Return material that should be summarized."""
    return ToSummarize(source="5eed", facts=("F20-F31",), tokens=tokens, tokens_max=100)


def a_reply(
    text: str = "Because.", calls: int | Iterable[ToolCall] = 0, round: int = 1, **fields: Any
) -> ReasoningCompleted:
    if isinstance(calls, int):
        calls = [ToolCall(id=f"call_{round}_{n}", name="search", arguments={"q": n}) for n in range(calls)]
    asked = tuple(calls)
    usage = fields.pop("usage", Usage(input_tokens=100, output_tokens=20))
    stop = fields.pop("stop_reason", "tool_use" if asked else "end_turn")
    return ReasoningCompleted(
        round=round, text=text, tool_calls=asked, stop_reason=stop, model="m", usage=usage, **fields
    )


def a_call(name: str, id: str = "", **fields: Any) -> ToolCall:
    return ToolCall(id=id or f"call_{name}", name=name, **fields)


def some_results(calls: int = 1, status: str = "ok", round: int = 1) -> ToolsCompleted:
    return the_results(
        *(a_result("search", index=n, call_id=f"call_{round}_{n}", status=status) for n in range(calls)),
        round=round,
    )


def a_result(tool: str, **fields: Any) -> ToolResult:
    given = {"index": 0, "call_id": f"call_{tool}", "tool": tool, "status": "ok"}
    return ToolResult.model_validate({**given, **fields})


def the_results(*results: ToolResult, round: int = 1) -> ToolsCompleted:
    return ToolsCompleted.of(round, results)


def a_decision(is_approved: bool = True, *calls: str, round: int = 1, **fields: Any) -> ApprovalDecided:
    return ApprovalDecided(round=round, is_approved=is_approved, calls=calls, **fields)


def a_question(id: str = "q1", question: str = "Which one?", **arguments: Any) -> ToolCall:
    """Return a call that asks the user."""
    return a_call("ask_user", id, arguments={"question": question, **arguments})


def an_answer(text: str = "The red one.", *calls: str, round: int = 1, **fields: Any) -> QuestionAnswered:
    return QuestionAnswered(round=round, answer=text, calls=calls, **fields)


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
