"""From what a session has to the one response it ends in. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from response_assembler.partial import closing_note, compose_partial
from response_assembler.sources import cited_ids, resolve, source_of
from response_assembler.uncertainty import KINDS, of_ending, of_tools, without_repeats
from shared.events import AssemblyRequested, ReasoningCompleted, ResponseReady
from shared.memory import Memory
from shared.session import Source, Status, Uncertainty


@dataclass(frozen=True)
class Material:
    """All that an answer is made of."""

    session_id: str
    request: AssemblyRequested
    requested_at: datetime
    memory: Memory
    reply: ReasoningCompleted | None = None
    unfinished: Sequence[tuple[str, str]] = ()
    """Id and tool of each call that was still under way."""
    doubts: tuple[Uncertainty, ...] = ()
    """What was doubtful about the material itself."""


def compose(material: Material) -> ResponseReady:
    """The session's answer: the model's words where there are any, else what the tools returned."""
    request = material.request
    text = _answer_in(material)
    if text is None:
        status, answer, sources, doubts = _from_facts(material)
    else:
        status, answer = request.status, text
        if status != "complete":
            answer += closing_note(request.termination_reason)
        sources, doubts = resolve(text, material.memory.facts)
    elapsed_s = (material.requested_at - request.opened).total_seconds()
    return ResponseReady(
        session_id=material.session_id,
        status=status,
        answer=answer,
        termination_reason=request.termination_reason,
        uncertainty=without_repeats(
            (
                *of_ending(request.termination_reason),
                *request.uncertainty,
                *of_tools(material.memory, material.unfinished),
                *doubts,
                *material.doubts,
            )
        ),
        sources=sources,
        rounds_used=request.rounds_used,
        tool_calls_used=request.tool_calls_used,
        usage=request.usage,
        duration_ms=max(0, round(elapsed_s * 1000)),
    )


def _answer_in(material: Material) -> str | None:
    """The model's text, when it is an answer. Words beside tool calls that were never run are only a plan."""
    reply = material.reply
    if reply is None or not reply.text.strip():
        return None
    is_plan = bool(reply.tool_calls) and material.request.status != "complete"
    if is_plan and material.memory.facts and not cited_ids(reply.text):
        return None
    return reply.text


def _from_facts(material: Material) -> tuple[Status, str, tuple[Source, ...], tuple[Uncertainty, ...]]:
    request = material.request
    status: Status = "partial" if request.status == "complete" else request.status
    answer, quoted = compose_partial(material.memory, request.termination_reason, status, material.unfinished)
    kinds = ["empty_reply"] if request.status == "complete" else []
    kinds += ["composed_from_facts"] if quoted else []
    doubts = tuple(Uncertainty(kind=kind, message=KINDS[kind], about="answer") for kind in kinds)
    return status, answer, tuple(source_of(fact) for fact in quoted), doubts
