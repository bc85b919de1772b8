"""One event of every type, with every field filled, and what wraps it."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from antiphon_shared.breakers.outages import ModelOutage, Outages
from antiphon_shared.events import (
    AnswerRefused,
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    AssemblyOverdue,
    AssemblyRequested,
    BriefingReady,
    BriefingRequested,
    CallToApprove,
    CancellationRequested,
    ChildBegun,
    ChildEnded,
    ChildWaiting,
    ComponentFailed,
    DeadlineReached,
    EventData,
    FallbackTaken,
    InputGiven,
    InputRefused,
    InputRequested,
    ModelDue,
    NodeDue,
    NodeSettled,
    NodesSettled,
    OutagesSeen,
    OutcomeSettled,
    PersonOverdue,
    PinnedTool,
    QuerySubmitted,
    Question,
    QuestionAnswered,
    QuestionAsked,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ResponseReady,
    ResumeRequested,
    RunOpened,
    SessionOpened,
    StepBegun,
    StepOutput,
    StepToBrief,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolsCompleted,
    ToolsRequested,
    ToSummarize,
)
from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.events.session import (
    Limits,
    NodeOutcome,
    QueryOptions,
    Response,
    RunOutcome,
    Source,
    Turn,
    Uncertainty,
)
from antiphon_shared.formats import FORMAT
from antiphon_shared.memory.briefing import Outline
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.tools.calls import RequestedCall, ToolCall, ToolError, ToolResult
from antiphon_shared.values import Usage

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
FIRST_ID = UUID("01938c3e-0000-7000-8000-000000000001")
SECOND_ID = UUID("01938c3e-0000-7000-8000-000000000002")
ENTRY = "1732190400000-0"
TURN = Turn(session_id="s0", at=NOON, question="What?", answer="That.", status="complete")
TRACEPARENT = f"00-{'a' * 32}-{'b' * 16}-01"

USAGE = Usage(input_tokens=10, output_tokens=3, cache_read_tokens=2, cache_write_tokens=1, cost_usd=0.01)
OPTIONS = QueryOptions(
    max_rounds=3,
    max_tool_calls=5,
    max_tokens=1000,
    deadline_s=30,
    tools=("search",),
    model="claude-sonnet-5-5",
    citations="strict",
    conversation_id="c1",
)
ERROR = ErrorInfo(code="overloaded", message="Busy. Try again.", retryable=True)
ARGUMENTS = {"query": "ßearch 🔎", "deep": {"null": None, "list": [1, 2.5, True, None, []]}}
UNCERTAIN = (Uncertainty(kind="tool_failed", message="A tool failed.", about="search", severity="note"),)
RESULTS = (
    ToolResult(index=0, call_id="t1", tool="search", status="ok", data=ARGUMENTS, duration_ms=7),
    ToolResult(
        index=1,
        call_id="t2",
        tool="search",
        status="error",
        error=ToolError(
            error_type="rate_limit",
            message="Too many.",
            suggested_action="Wait.",
            example_valid_call={"query": "x"},
            retry_after_s=1.5,
            fields={"query": "too long"},
        ),
    ),
)

RESPONSE_OF_A_RUN = Response(
    session_id="s1~0123456789abcdef",
    status="failed",
    answer="It failed.",
    run=RunOutcome(
        workflow="book_trip",
        specification="0" * 32,
        status="needs_review",
        nodes=(NodeOutcome(path="pay", status="failed", message="Silence."),),
        standing=("book",),
        unknown=("pay",),
        undone=("hold",),
        is_resumable=True,
    ),
    termination_reason="workflow_failed",
    rounds_used=0,
    tool_calls_used=2,
    duration_ms=5,
)

EXAMPLES: tuple[EventData, ...] = (
    QuerySubmitted(query="Why?", options=OPTIONS, grant="a.b.c", steps_name="assembly"),
    CancellationRequested(reason="changed my mind"),
    ApprovalDecided(round=2, is_approved=True, calls=("t1",), by="Ann", reason="It is due."),
    SessionOpened(
        limits=Limits(max_rounds=4, max_tool_calls=40, max_tokens=1000, deadline_s=60, summaries_max=2),
        options=OPTIONS,
        catalogue="abc",
        tools=("search",),
        model="",
        models=("m", "n"),
        conversation=(TURN,),
        deadline=NOON + timedelta(minutes=1),
    ),
    FallbackTaken(round=2, rung="other_model", because="m is out of order.", model="n"),
    AnswerRefused(round=2, because=("Property: level, Message: Required field 'level' is missing",)),
    StepBegun(round=3, step="planning", number=2, attempt=2, because=("It was cut off.",)),
    OutagesSeen(outages=Outages(tools=("search",), models=(ModelOutage(model="m", until=NOON),))),
    BriefingRequested(
        round=2,
        max_rounds=4,
        question=ENTRY,
        level="simplified",
        reasoning=ENTRY,
        results=ENTRY,
        untrusted=("t1",),
        summary=ENTRY,
        conversation=(TURN,),
        tokens_per_estimated=1.25,
        may_summarize=False,
        step=StepToBrief(number=2, attempt=1, begun=2, input=ENTRY, is_untrusted=True),
    ),
    BriefingReady(
        round=2,
        briefing=Outline(
            digest="c0ffee",
            tokens=4,
            shown=("F1-F3", "F5"),
            shortened=("F2",),
            omitted=2,
            missed=("F4", "F6"),
        ),
        to_summarize=ToSummarize(source="5eed", facts=("F4", "F6"), tokens=900, tokens_max=100),
        summary_refused="It lost the number 42 of F3.",
    ),
    ReasoningRequested(
        round=2,
        briefing="c0ffee",
        catalogue="abc",
        tools=("search",),
        last_round_because="no rounds left",
        notice="Every call failed.",
        model="m",
        output=ENTRY,
        step=2,
        tokens_left=100,
        deadline=NOON,
    ),
    ReasoningCompleted(
        round=2,
        text="I search.",
        tool_calls=(ToolCall(id="t1", name="search", arguments=ARGUMENTS, problem="cut off"),),
        stop_reason="tool_use",
        refused=("`arguments` must be a JSON object.",),
        model="m",
        usage=USAGE,
        attempts=2,
        prompt_tokens_estimated=14,
        duration_ms=900,
    ),
    ReasoningFailed(
        round=2, error=ERROR, model="m", usage=USAGE, attempts=5, retry_after_s=2.5, duration_ms=9
    ),
    SummaryRequested(
        round=2, source="5eed", facts=("F4", "F6"), tokens_max=100, tokens_left=5_000, deadline=NOON
    ),
    SummaryCompleted(
        round=2, text="F4, F6: both in 2024.", facts=("F4", "F6"), model="m", usage=USAGE, duration_ms=9
    ),
    SummaryFailed(round=2, error=ERROR, model="m", usage=USAGE, duration_ms=9),
    ApprovalRequested(
        round=2,
        calls=(CallToApprove(id="t1", tool="search", arguments=ARGUMENTS, because="a rule"),),
        until=NOON,
    ),
    QuestionAsked(round=2, questions=(Question(id="t1", question="Which?", choices=("a", "b")),), until=NOON),
    QuestionAnswered(round=2, answer="The first.", calls=("t1",), by="Ann"),
    PersonOverdue(round=2),
    ModelDue(round=2, wait=3),
    ToolsRequested(
        round=2,
        calls=(
            RequestedCall(
                id="t1",
                name="search",
                arguments=ARGUMENTS,
                problem="cut off",
                idempotency_key="acme/s1/2/t1",
                refused="limit",
                approval=ENTRY,
                answer=ENTRY,
            ),
        ),
        allowed=("search",),
        succeeded=("outline",),
        has_untrusted=True,
        tenant="acme",
        grant="a.b.c",
        deadline=NOON,
    ),
    ToolsCompleted(round=2, results=RESULTS, duration_ms=8),
    AssemblyRequested(
        question=ENTRY,
        status="partial",
        termination_reason="deadline_exceeded",
        reply=ENTRY,
        steps=(StepOutput(step="discovery", reply=ENTRY),),
        reasoning=ENTRY,
        results=ENTRY,
        batch=2,
        untrusted=("t1",),
        citations="strict",
        uncertainty=UNCERTAIN,
        rounds_used=2,
        tool_calls_used=3,
        usage=USAGE,
        opened=NOON,
    ),
    AssemblyOverdue(),
    ResponseReady(
        session_id="s1",
        status="partial",
        answer="Because.",
        termination_reason="deadline_exceeded",
        uncertainty=UNCERTAIN,
        sources=(Source(id="F1", number=1, tool="search", call_id="t1", title="T", excerpt="E"),),
        rounds_used=2,
        tool_calls_used=3,
        usage=USAGE,
        duration_ms=60_000,
    ),
    DeadlineReached(),
    ComponentFailed(component="tool_dispatcher", failed_event=FIRST_ID, error=ERROR),
    RunOpened(
        workflow="book_trip",
        specification="0" * 32,
        catalogue="abc",
        tools={
            "book": PinnedTool(is_write=True, is_idempotent=True, is_sequential=True, depends_on=("search",))
        },
        problem="There is no tool 'pay'.",
        timeout_s=60,
        person_s=10,
        tenant="acme",
    ),
    NodesSettled(nodes=(NodeSettled(path="each/0", status="failed", message="Sold out."),), more=3),
    NodeDue(node="retry", attempt=2),
    InputRequested(round=7, node="ask", message="Book it?", expects={"agreed": {"type": "bool"}}, until=NOON),
    InputGiven(round=7, values={"agreed": True}, by="Ann"),
    InputRefused(round=7, because="param 'agreed': 1 is int, and bool is needed"),
    OutcomeSettled(node="pay", happened=True, result=ARGUMENTS, by="Ann", reason="Seen on the statement."),
    ResumeRequested(by="Ann", reason="The service is back."),
    ChildBegun(round=2, child="s1~0123456789abcdef", node="choose", call_id="t1"),
    ChildWaiting(
        round=2,
        call_id="t1",
        child="s1~0123456789abcdef",
        request=7,
        message="Book it?",
        expects={"agreed": {"type": "bool"}},
        because="It is no bool.",
        until=NOON,
    ),
    ChildEnded(round=2, call_id="t1", response=RESPONSE_OF_A_RUN),
)


def an_event(data: EventData, session_id: str = "s1") -> AnyEvent:
    """Return `data` in an envelope with every field filled."""
    return ENVELOPES[type(data)](
        id=SECOND_ID,
        source="test",
        type=data.type,
        subject=session_id,
        time=NOON,
        correlationid=FIRST_ID,
        causationid=FIRST_ID,
        traceparent=TRACEPARENT,
        format=FORMAT,
        data=data,
    )


def named(data: EventData) -> str:
    """Return a test's id."""
    return type(data).__name__
