"""The one response of a session, from its findings. Pure."""

from datetime import datetime, timedelta
from typing import Any

from antiphon_shared.events import AnyEvent, AssemblyRequested, ResponseReady
from antiphon_shared.events.session import FieldSources, Status
from antiphon_shared.memory.findings import Findings, ReadRecord, answer_in, findings_of
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


def response_from(
    event: AnyEvent, request: AssemblyRequested, read: ReadRecord, waited_ms: int = 0
) -> ResponseReady:
    """Return the response, from the readable part of the session's record.

    `event` carries the request, which waited `waited_ms` for an assembler.
    """
    composed_at = event.time + timedelta(milliseconds=waited_ms)
    return compose(event.subject, request, composed_at, findings_of(request, read))


def compose(
    session_id: str, request: AssemblyRequested, composed_at: datetime, findings: Findings
) -> ResponseReady:
    """Return the session's answer: the model's text if there is one, else the facts that the tools returned."""
    memory, reply = findings.memory, findings.reply
    result: Any = None
    result_sources: tuple[FieldSources, ...] = ()
    text = answer_in(reply, request.status, memory)
    closing = closing_note(request.termination_reason) if request.status != "complete" else ""
    unknown = unknown_section(memory, request.uncertainty)
    closing = "\n\n".join(filter(None, [steps_section(findings.steps), unknown, closing]))
    status = request.status
    if request.has_result and reply is not None:
        result = read_answer(reply.text).value
        answer, result_sources = shaped_answer(result, memory, closing)
    elif text is None:
        status, answer = _from_facts(request, findings)
    else:
        answer = cited_answer(text, memory, request.citations, closing)
    elapsed_s = (composed_at - request.opened).total_seconds()
    return ResponseReady(
        session_id=session_id,
        status=status,
        answer=answer.text,
        result=result,
        result_sources=result_sources,
        termination_reason=request.termination_reason,
        uncertainty=without_repeats(
            (
                *ending_uncertainties(request.termination_reason),
                *map(with_severity, request.uncertainty),
                *tool_uncertainties(memory, findings.unfinished),
                *memory_uncertainties(memory),
                *source_uncertainties(answer.sources),
                *answer.uncertainties,
                *(uncertain("record_missing", about=what) for what in findings.missing),
            )
        ),
        sources=answer.sources,
        rounds_used=request.rounds_used,
        tool_calls_used=request.tool_calls_used,
        usage=request.usage,
        duration_ms=max(0, round(elapsed_s * 1000)),
    )


def _from_facts(request: AssemblyRequested, findings: Findings) -> tuple[Status, Answer]:
    """Return the status and the answer of a session without an answer from the model."""
    memory = findings.memory
    status: Status = "partial" if request.status == "complete" else request.status
    text, quoted = compose_partial(
        memory, request.termination_reason, status, findings.unfinished, request.uncertainty
    )
    numbered = number_own(text, memory.facts)
    produced = steps_section(findings.steps)
    sources = cited_sources(memory, numbered.numbers)
    uncertainties = [uncertain("empty_reply")] if request.status == "complete" else []
    uncertainties += [uncertain("composed_from_facts")] if sources else []
    body = "\n\n".join(filter(None, [numbered.text, produced, sources_section(memory, sources, quoted)]))
    return status, Answer(body, sources, (*uncertainties, *outdated_facts(memory, numbered.numbers)))
