"""Answers that must fit a schema: what counts as one, and what the model is told of one that does not. Pure."""

from antiphon_shared.events import AnswerRefused, AnyEvent, ReasoningCompleted
from antiphon_shared.output.reading import read_answer
from antiphon_shared.output.schema import OutputSchema
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.values import LogEntry

from coordinator.decision import Decision
from coordinator.endings import end
from coordinator.requests import request_briefing
from coordinator.session import Session, replace

_ATTEMPT_CHARACTERS = 300


def problems(reply: ReasoningCompleted, schema: OutputSchema) -> tuple[str, ...]:
    """Return what is wrong with a reply as the answer, a sentence each; nothing when it counts."""
    given = read_answer(reply.text)
    return (given.problem,) if given.problem else tuple(map(str, schema.faults(given.value)))


def refuse(
    session: Session,
    event: AnyEvent,
    log_entry: LogEntry,
    reply: ReasoningCompleted,
    because: tuple[str, ...],
) -> Decision:
    """Go on in the next round, in which the model is told why its answer does not count; or end where there is none."""
    attempt = one_line(reply.text, _ATTEMPT_CHARACTERS)
    output = replace(session.output, refusals=session.output.refusals + 1, because=because, attempt=attempt)
    refused = replace(session, output=output)
    noted = AnswerRefused(round=session.round, because=because)
    if session.last_round is not None or session.round >= session.limits.max_rounds:
        return end(refused, event, "partial", "output_invalid", log_entry).telling(noted)
    return request_briefing(replace(refused, round=session.round + 1), event).telling(noted)
