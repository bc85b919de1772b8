"""A session's events as lines for people."""

from collections.abc import Iterable
from typing import get_args

from antiphon_shared.events import (
    AnswerRefused,
    ApprovalDecided,
    ApprovalRequested,
    AssemblyRequested,
    BriefingReady,
    BriefingRequested,
    CallToApprove,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    EventData,
    FallbackTaken,
    NodesSettled,
    OutagesSeen,
    PersonOverdue,
    QuerySubmitted,
    Question,
    QuestionAnswered,
    QuestionAsked,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ResponseReady,
    RunOpened,
    SessionOpened,
    StepBegun,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.events.session import Response, Severity, Uncertainty
from antiphon_shared.memory.briefing import ids_in
from antiphon_shared.process.logs import as_line
from antiphon_shared.tools.calls import ToolCall, ToolResult

from antiphon.cli.output import counted
from antiphon.cli.printer import one_line
from antiphon.cli.run_lines import failed_node, progress_of_run

_ARGUMENT_LENGTH = 60
_MESSAGE_LENGTH = 160
_TITLE_LENGTH = 100
_ABOUT_LENGTH = 80
_SEVERITIES = get_args(Severity)
"""In ascending order."""
_FALLBACKS = {
    "other_model": "asks {model} instead",
    "waiting_for_model": "waits for a model",
    "tools_failed": "reports it to the model",
    "facts_without_model": "answers without a model",
}
"""The fallback steps that have their own line; the next request shows the others."""
UNREACHABLE = "    cannot be {}: other programs cannot reach this pipeline. Press Ctrl-C to end it."
_TO_APPROVE_LENGTH = 1_000
"""The limit for an argument that a person decides on, long enough to recognise its effect."""


def progress(data: EventData) -> list[str]:
    """Return the lines about an event for a waiting person; often none."""
    match data:
        case ReasoningRequested(round=round, last_round_because=why):
            return [f"round {round}" + (f" (the last: {one_line(why, _MESSAGE_LENGTH)})" if why else "")]
        case ToolsRequested(calls=calls):
            return [f"  calls {call_text(call)}" for call in calls]
        case ApprovalRequested(calls=calls):
            return [f"  waits for approval: {to_approve(call)}" for call in calls]
        case ApprovalDecided() as decision:
            return [f"  {_decision(decision)}"]
        case QuestionAsked(questions=questions):
            return [line for question in questions for line in question_line(question)]
        case QuestionAnswered() as answer:
            return [f"  {_answer(answer)}"]
        case PersonOverdue():
            return ["  no person replied in time; continues without"]
        case ToolsCompleted(results=results):
            is_many = len(results) > 1
            return [
                f"  -> {f'{result.tool}: ' if is_many else ''}{result_text(result)}" for result in results
            ]
        case BriefingRequested(level=level) if level != "full":
            return [f"  tries again with a {level} briefing"]
        case ReasoningFailed(error=error):
            return [f"  the model failed: {one_line(error.message, _MESSAGE_LENGTH)}"]
        case AnswerRefused(because=because):
            return [f"  the answer is not accepted: {one_line(why, _MESSAGE_LENGTH)}" for why in because]
        case StepBegun(step=step, number=number, attempt=attempt, because=because):
            again = f" (attempt {attempt})" if attempt > 1 else ""
            failed = [f"  the previous attempt failed: {one_line(why, _MESSAGE_LENGTH)}" for why in because]
            return [f"step {number}: {step}{again}", *failed]
        case FallbackTaken(rung=name, because=why, model=model) if name in _FALLBACKS:
            return [f"  {_FALLBACKS[name].format(model=one_line(model))}: {one_line(why, _MESSAGE_LENGTH)}"]
        case ComponentFailed(component=component, error=error):
            return [f"  {component} failed: {one_line(error.message, _MESSAGE_LENGTH)}"]
        case CancellationRequested(reason=why):
            return [f"cancelling{f': {one_line(why, _MESSAGE_LENGTH)}' if why else ''}"]
        case DeadlineReached():
            return ["deadline reached"]
        case _:
            return progress_of_run(data)


def how_to_decide(session_id: str, command: str = "antiphon") -> list[str]:
    """Return the commands for a session that waits for approval; `command` is empty if none can reach it."""
    if not command:
        return [UNREACHABLE.format("approved")]
    return [
        f"    to approve: {command} sessions approve {session_id}",
        f"    to deny:    {command} sessions deny {session_id}",
    ]


def question_line(question: Question) -> list[str]:
    """Return a question, such as `asks: Which room? [toolu_1]`, and its numbered choices."""
    choices = (f"    {n}. {one_line(choice)}" for n, choice in enumerate(question.choices, 1))
    return [f"  asks: {one_line(question.question)} [{one_line(question.id)}]", *choices]


def how_to_answer(session_id: str, command: str = "antiphon") -> list[str]:
    """Return the command for a session that asks its user; `command` is empty if none can reach it."""
    if not command:
        return [UNREACHABLE.format("answered")]
    return [f'    to answer:  {command} sessions answer {session_id} "..."']


def detail(data: EventData) -> str:
    """Return an event in one line."""
    match data:
        case QuerySubmitted(query=query):
            return one_line(query, _MESSAGE_LENGTH)
        case RunOpened(workflow=workflow, problem=problem, timeout_s=timeout_s):
            why = one_line(problem, _MESSAGE_LENGTH)
            return f"{one_line(workflow)}: {why or f'at most {timeout_s:g} s of work'}"
        case SessionOpened(limits=limits, tools=tools, cancelled_because=reason):
            cancelled = f"; cancelled before: {one_line(reason, _MESSAGE_LENGTH)}" if reason else ""
            return (
                f"at most {counted(limits.max_rounds, 'round')}, {counted(limits.max_tool_calls, 'call')}; "
                f"{counted(len(tools), 'tool')}{cancelled}"
            )
        case ToolsRequested(node=node) if node:
            return f"{one_line(node)}: {'; '.join(line.strip() for line in progress(data))}"
        case NodesSettled(nodes=nodes, more=more):
            settled = ", ".join(f"{node.path} {node.status}" for node in nodes)
            return one_line(settled, _MESSAGE_LENGTH) + (f", and {more} more" if more else "")
        case BriefingRequested(round=round, level=level):
            return f"round {round}, {level}"
        case BriefingReady(round=round, briefing=briefing):
            facts = counted(len(ids_in(briefing.shown)), "fact")
            return f"round {round}, about {briefing.tokens} tokens, {facts}"
        case ReasoningRequested(round=round, tools=tools, last_round_because=why):
            last = f"; the last: {one_line(why, _MESSAGE_LENGTH)}" if why else ""
            return f"round {round}, {counted(len(tools), 'tool')} offered{last}"
        case ReasoningCompleted(stop_reason=stop, tool_calls=calls, usage=usage, model=model):
            return f"{model}: {stop}, {counted(len(calls), 'call')}, {usage.total_tokens} tokens"
        case OutagesSeen(outages=outages):
            names = (*outages.tools, *(outage.model for outage in outages.models))
            return f"unavailable: {one_line(', '.join(names), _MESSAGE_LENGTH) or 'none'}"
        case FallbackTaken(rung=fallback, because=why):
            return f"{fallback}: {one_line(why, _MESSAGE_LENGTH)}"
        case AssemblyRequested(status=status, termination_reason=reason):
            return f"{status}: {reason}"
        case ResponseReady() as response:
            failed = failed_node(response)
            return statistics(response) + (f": {failed}" if failed else "")
        case _:
            return "; ".join(line.strip() for line in progress(data))


def statistics(response: Response) -> str:
    """Return a session's end: `complete (natural_completion), 3 rounds, 2 tool calls, 5120 tokens, 0.4 s`."""
    if response.run is not None:
        calls, took_s = counted(response.tool_calls_used, "tool call"), response.duration_ms / 1000
        return f"{response.run.status}, {calls}, {took_s:.1f} s"
    cost = response.usage.cost_usd
    parts = [
        f"{response.status} ({response.termination_reason})",
        counted(response.rounds_used, "round"),
        counted(response.tool_calls_used, "tool call"),
        f"{response.usage.total_tokens} tokens",
        *([f"${cost:.4f}"] if cost is not None else []),
        f"{response.duration_ms / 1000:.1f} s",
    ]
    return ", ".join(parts)


def uncertainty_lines(uncertainty: Iterable[Uncertainty]) -> list[str]:
    """Return uncertainties as `serious: the message (what it is about)`, the most serious first."""
    ordered = sorted(uncertainty, key=lambda one: _SEVERITIES.index(one.severity), reverse=True)
    return [
        f"{one.severity}: {one_line(one.message)}"
        + (f" ({one_line(one.about, _ABOUT_LENGTH)})" if one.about else "")
        for one in ordered
    ]


def uncited_sources(response: Response) -> list[str]:
    """Return the sources that an answer does not cite; cited ones are in the answer itself."""
    return [
        f"{one_line(source.title or source.excerpt, _TITLE_LENGTH)} ({one_line(source.tool)})"
        for source in response.sources
        if not source.number
    ]


def call_text(call: ToolCall, argument_length: int = _ARGUMENT_LENGTH) -> str:
    """Return a call such as `search(query="...", limit=3)`, each argument cut to fit a line."""
    arguments = [
        f"{one_line(name, 40)}={one_line(as_line(value), argument_length)}"
        for name, value in call.arguments.items()
    ]
    return f"{one_line(call.name)}({', '.join(arguments)})"


def result_text(result: ToolResult) -> str:
    """Return a result as `ok, 5 results`, `valid`, `not valid: ...`, or the type and message of its error."""
    if result.error is not None:
        return f"{result.error.error_type}: {one_line(result.error.message, _MESSAGE_LENGTH)}"
    if result.status == "error":
        return "error"
    if result.validation is not None:
        errors = one_line("; ".join(result.validation.errors) or "no reason given", _MESSAGE_LENGTH)
        return "valid" if result.validation.has_passed else f"not valid: {errors}"
    count = _results_in(result.data)
    count_text = "nothing found" if count == 0 else counted(count, "result")
    remark = (", cached" if result.cached else "") + (", shown in part" if result.handle else "")
    by = f" from {one_line(result.substitute)} instead" if result.substitute else ""
    return f"ok, {count_text}{remark}{by}"


def _results_in(data: object) -> int:
    """Return the number of records in a result: in a list, or in an object's only list; any other content is one."""
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        data = lists[0] if len(lists) == 1 else data
    if isinstance(data, list):
        return len(data)
    return int(data not in (None, "", {}))


def to_approve(call: CallToApprove) -> str:
    """Return a call that waits: `book(room=7) [toolu_1]: every call of book has to be approved`."""
    request = ToolCall(id=call.id, name=call.tool, arguments=call.arguments)
    return f"{call_text(request, _TO_APPROVE_LENGTH)} [{one_line(call.id)}]: {one_line(call.because)}"


def _decision(decision: ApprovalDecided) -> str:
    """Return a decision: `approved by Ann: b1, b2 (it is due)`."""
    verdict = "approved" if decision.is_approved else "denied"
    by = f" by {one_line(decision.by, 40)}" if decision.by else ""
    calls = one_line(", ".join(decision.calls), _MESSAGE_LENGTH) or "all waiting calls"
    reason = f" ({one_line(decision.reason, _MESSAGE_LENGTH)})" if decision.reason else ""
    return f"{verdict}{by}: {calls}{reason}"


def _answer(answer: QuestionAnswered) -> str:
    """Return an answer: `answered by Ann: the red one`."""
    by = f" by {one_line(answer.by, 40)}" if answer.by else ""
    return f"answered{by}: {one_line(answer.answer, _MESSAGE_LENGTH)}"
