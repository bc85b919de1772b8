"""The material of an answer, from the readable part of a session. Pure."""

from datetime import timedelta

from antiphon_shared.events import AnyEvent, AssemblyRequested
from antiphon_shared.memory.findings import ReadRecord, findings_of

from response_assembler.compose import Material
from response_assembler.uncertainty import uncertain


def material_of(
    event: AnyEvent, request: AssemblyRequested, read: ReadRecord, waited_ms: int = 0
) -> Material:
    """Return the material, with the last round filed into memory, and its uncertainties.

    `event` carries the request, which waited `waited_ms` for an assembler.
    """
    findings = findings_of(request, read)
    return Material(
        session_id=event.subject,
        request=request,
        composed_at=event.time + timedelta(milliseconds=waited_ms),
        memory=findings.memory,
        reply=findings.reply,
        unfinished=findings.unfinished,
        steps=findings.steps,
        uncertainties=tuple(uncertain("record_missing", about=what) for what in findings.missing),
    )
