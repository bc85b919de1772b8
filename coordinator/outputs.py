"""Answers that must fit a schema or end a step: accept them, or refuse them and begin the next round. Pure."""

from typing import NamedTuple

from antiphon_shared.events import AnswerRefused, AnyEvent, ReasoningCompleted, ToolsCompleted
from antiphon_shared.events.session import TerminationReason
from antiphon_shared.output.reading import read_answer
from antiphon_shared.output.schema import FAULTS_MAX, OutputSchema
from antiphon_shared.output.validation import content_digest
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.values import LogEntry

from coordinator import attempts, fallbacks
from coordinator.decision import Decision
from coordinator.endings import end
from coordinator.limits import explain, is_answer
from coordinator.requests import request_briefing
from coordinator.session import Session, new_uncertainty
from coordinator.session_output import ValidationRun
from coordinator.session_parts import replace

_ATTEMPT_CHARACTERS = 300
_ATTEMPT_REASONS: tuple[TerminationReason, ...] = ("step_failed", "all_tools_failed")
"""Reasons that end only an attempt at a step; the next attempt begins without them."""
_RUNS_MAX = 30
"""Bound on the runs of validating tools that the session remembers; the model has to repeat older ones."""


class Problems(NamedTuple):
    """The faults of a final answer."""

    because: tuple[str, ...] = ()
    """A sentence for each fault; empty if the answer counts."""
    is_unvalidated: bool = False
    """Whether it fits the schema, and lacks only validations."""


def conclude(
    session: Session,
    event: AnyEvent,
    log_entry: LogEntry,
    reply: ReasoningCompleted,
    schema: OutputSchema | None,
) -> Decision:
    """Return the decision on a reply without calls: the end, the next step, or another round to correct it."""
    if (faults := problems(session, reply, schema)).because:
        return refuse(session, event, log_entry, reply, faults)
    limit = None if _is_last_of_attempt(session) else session.last_round
    if not session.steps.is_last:
        return attempts.after_output(session, event, log_entry, limit)
    has_result = schema is not None
    if reply.stop_reason in ("max_tokens", "context_window") and not has_result:
        return end(session, event, "partial", "reply_truncated", log_entry)
    if limit is None or is_answer(limit, reply):
        return end(session, event, "complete", "natural_completion", log_entry, has_result)
    return end(session, event, "partial", limit, log_entry, has_result)


def problems(session: Session, reply: ReasoningCompleted, schema: OutputSchema | None) -> Problems:
    """Return the faults of a reply as the answer, or as the output of a step."""
    if reply.refused:
        return Problems(reply.refused)
    if schema is None:
        return Problems(_problems_of_text(session, reply) if session.steps.number else ())
    answer = read_answer(reply.text)
    if answer.problem:
        return Problems((answer.problem,))
    if faults := schema.faults(answer.value):
        return Problems(tuple(map(str, faults)))
    digest = content_digest(answer.value)
    runs = {run.tool: run for run in session.output.validations if run.of == digest}
    missing = [
        line for tool in session.output.validation_tools for line in _unvalidated(tool, runs.get(tool))
    ]
    return Problems(tuple(missing[:FAULTS_MAX]), is_unvalidated=True)


def missing_tools(session: Session) -> tuple[str, ...]:
    """Return the tools that steps or validations need and the session may not use; with any, no answer is accepted."""
    needed = session.output.validation_tools
    return session.steps.lacking or tuple(name for name in needed if name not in session.tools.usable)


def end_without(session: Session, event: AnyEvent, tools: tuple[str, ...]) -> Decision:
    """End a session that needs tools that it cannot use."""
    listed = ", ".join(f"`{name}`" for name in tools)
    reason: TerminationReason = "validation_incomplete"
    needs, about = "The answer must pass", "validation_tools"
    if session.steps.number:
        reason, needs, about = "step_failed", "The steps need", "steps"
    message = f"{needs} {listed}, which this session cannot use. See `antiphon tools list`."
    reported = session.with_uncertainties(new_uncertainty("tools_unavailable", message, about, "serious"))
    return end(reported, event, "failed", reason)


def after_results(session: Session, completed: ToolsCompleted) -> Session:
    """Return the session with the results of validating tools; the newest run on a value counts."""
    tool_names = session.output.validation_tools
    runs = {(run.tool, run.of): run for run in session.output.validations}
    for result in completed.results:
        if result.tool in tool_names and result.validation is not None:
            run = ValidationRun(tool=result.tool, **dict(result.validation))
            runs.pop((run.tool, run.of), None)
            runs[run.tool, run.of] = run
    validations = tuple(runs.values())[-_RUNS_MAX:]
    if validations == session.output.validations:
        return session
    return replace(session, output=replace(session.output, validations=validations))


def _is_last_of_attempt(session: Session) -> bool:
    """Return whether the round was the last of the attempt at its step, but not of the session."""
    return session.steps.number > 0 and session.last_round in _ATTEMPT_REASONS


def _problems_of_text(session: Session, reply: ReasoningCompleted) -> tuple[str, ...]:
    """Return the faults of a text as the output of a step without a schema."""
    if session.last_round == "all_tools_failed":
        return (explain(session.last_round, session),)
    if reply.stop_reason in ("max_tokens", "context_window"):
        return ("It was cut off; give it again in fewer words.",)
    if reply.tool_calls:
        return ("It calls tools, but no more calls are allowed; answer with what there is.",)
    return () if reply.text.strip() else ("It is empty; say what the step has found.",)


def after_calls(session: Session) -> Session:
    """Return the session without the faults of a refused reply, if only its form was wrong."""
    if session.output.is_demanded or session.steps.number or not session.output.because:
        return session
    return replace(session, output=replace(session.output, because=()))


def _unvalidated(tool: str, run: ValidationRun | None) -> tuple[str, ...]:
    if run is None:
        return (f"`{tool}` has not been called on what you returned; call it with exactly that value.",)
    return () if run.has_passed else tuple(f"`{tool}`: {error}" for error in run.errors)


def refuse(
    session: Session,
    event: AnyEvent,
    log_entry: LogEntry,
    reply: ReasoningCompleted,
    faults: Problems,
) -> Decision:
    """Begin the next round, which shows the model why its answer was refused; end the session if no round remains."""
    attempt = one_line(reply.text, _ATTEMPT_CHARACTERS)
    output = replace(session.output, attempt=attempt, **faults._asdict())
    output = replace(output, refusals=output.refusals + 1)
    refused = fallbacks.without_failed_rounds(replace(session, output=output))
    noted = AnswerRefused(round=session.round, because=faults.because)
    if _is_last_of_attempt(session):
        return attempts.after_failure(refused, event, faults.because, log_entry).with_events(noted)
    if session.last_round is not None or session.round >= session.limits.max_rounds:
        reason: TerminationReason = "validation_incomplete" if faults.is_unvalidated else "output_invalid"
        if reply.refused and not session.output.is_demanded and not session.steps.number:
            reason = session.last_round or "max_rounds_reached"
        return end(refused, event, "partial", reason, log_entry).with_events(noted)
    return request_briefing(replace(refused, round=session.round + 1), event).with_events(noted)
