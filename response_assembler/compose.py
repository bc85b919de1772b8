"""The one response of a session, from its material. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from antiphon_shared.events import AssemblyRequested, ReasoningCompleted, ResponseReady
from antiphon_shared.events.session import FieldSources, Status, Uncertainty
from antiphon_shared.memory.findings import answer_in
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.output.reading import read_answer

from response_assembler.cited import Answer, cited_answer
from response_assembler.fact_validity import outdated_facts
from response_assembler.missing import unknown_section
from response_assembler.numbering import number_own
from response_assembler.partial import closing_note, compose_partial
from response_assembler.produced import steps_section
from response_assembler.shaped import shaped_answer
from response_assembler.sources import cited_sources, sources_section
from response_assembler.uncertainty import (
    ending_uncertainties,
    memory_uncertainties,
    source_uncertainties,
    tool_uncertainties,
    uncertain,
    with_severity,
    without_repeats,
)


@dataclass(frozen=True)
class Material:
    """The material of an answer."""

    session_id: str
    request: AssemblyRequested
    composed_at: datetime
    memory: Memory
    reply: ReasoningCompleted | None = None
    unfinished: Sequence[tuple[str, str]] = ()
    """The id and tool of each call that was still in flight."""
    steps: Sequence[tuple[str, str]] = ()
    """The name and output of each finished step, if the session ended before its last step."""
    uncertainties: tuple[Uncertainty, ...] = ()
    """The uncertainties about the material itself."""


def compose(material: Material) -> ResponseReady:
    """Return the session's answer: the model's text if there is one, else the facts that the tools returned."""
    request = material.request
    result: Any = None
    result_sources: tuple[FieldSources, ...] = ()
    text = answer_in(material.reply, request.status, material.memory)
    closing = closing_note(request.termination_reason) if request.status != "complete" else ""
    unknown = unknown_section(material.memory, request.uncertainty)
    closing = "\n\n".join(filter(None, [steps_section(material.steps), unknown, closing]))
    status = request.status
    if request.has_result and material.reply is not None:
        result = read_answer(material.reply.text).value
        answer, result_sources = shaped_answer(result, material.memory, closing)
    elif text is None:
        status, answer = _from_facts(material)
    else:
        answer = cited_answer(text, material.memory, request.citations, closing)
    elapsed_s = (material.composed_at - request.opened).total_seconds()
    return ResponseReady(
        session_id=material.session_id,
        status=status,
        answer=answer.text,
        result=result,
        result_sources=result_sources,
        termination_reason=request.termination_reason,
        uncertainty=without_repeats(
            (
                *ending_uncertainties(request.termination_reason),
                *map(with_severity, request.uncertainty),
                *tool_uncertainties(material.memory, material.unfinished),
                *memory_uncertainties(material.memory),
                *source_uncertainties(answer.sources),
                *answer.uncertainties,
                *material.uncertainties,
            )
        ),
        sources=answer.sources,
        rounds_used=request.rounds_used,
        tool_calls_used=request.tool_calls_used,
        usage=request.usage,
        duration_ms=max(0, round(elapsed_s * 1000)),
    )


def _from_facts(material: Material) -> tuple[Status, Answer]:
    """Return the status and the answer of a session without an answer from the model."""
    request, memory = material.request, material.memory
    status: Status = "partial" if request.status == "complete" else request.status
    text, quoted = compose_partial(
        memory, request.termination_reason, status, material.unfinished, request.uncertainty
    )
    numbered = number_own(text, memory.facts)
    produced = steps_section(material.steps)
    sources = cited_sources(memory, numbered.numbers)
    uncertainties = [uncertain("empty_reply")] if request.status == "complete" else []
    uncertainties += [uncertain("composed_from_facts")] if sources else []
    body = "\n\n".join(filter(None, [numbered.text, produced, sources_section(memory, sources, quoted)]))
    return status, Answer(body, sources, (*uncertainties, *outdated_facts(memory, numbered.numbers)))
