"""The answer that the coordinator gives by itself if the assembler does not answer. Pure.

It is simple, so that the cause of the assembler's failure is unlikely to stop it too. It shows the model's last
reply unchanged, the facts that the reply cites (or, without a reply, the newest facts), and every write with
its outcome.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from antiphon_shared.events import AssemblyRequested
from antiphon_shared.events.session import Response, Severity, Source, Status, Uncertainty
from antiphon_shared.memory.findings import Findings, answer_in
from antiphon_shared.memory.layers import ToolUse
from antiphon_shared.memory.repeated import calls_of_unknown_outcome, repetitions
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.memory.source import EXCERPT_CHARACTERS, source_of
from antiphon_shared.output.reading import read_answer
from antiphon_shared.text.citations import CITATION, cited_ids
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.calls import Catalogue

from coordinator.requests import unknown_call_name
from coordinator.session import Session, new_uncertainty

_SOURCES_MAX, _WRITES_MAX = 50, 100
_UNCITED_MAX = 20
_MESSAGE_CHARACTERS = 200
_REFUSED = (
    *("validation_error", "permission_denied", "unknown_tool", "dependency_failed", "cancelled"),
    "circuit_open",
)
"""Outcomes of calls that did not run."""
_OUTCOME_TEXTS = {
    "unknown": "whether it took effect is unknown; check before doing it again",
    "refused": "not run",
    "failed": "failed",
    "not begun": "not run: the session ended first",
    "repeated": "not done again",
    "not repeated": "not run again",
    "settled": "a later call shows the outcome",
}


@dataclass(frozen=True, slots=True)
class _Write:
    """A write of the session, with its outcome."""

    tool: str
    call_id: str
    outcome: str
    """`done`, or a key of `_OUTCOME_TEXTS`."""
    message: str = ""

    @property
    def description(self) -> str:
        return unknown_call_name(self.tool, self.call_id)

    @property
    def line(self) -> str:
        message = one_line(self.message, _MESSAGE_CHARACTERS)
        text = _OUTCOME_TEXTS.get(self.outcome, self.outcome) + (f": {message}" if message else "")
        return f"- `{self.tool}` ({self.call_id}): {text}"


def answer_without_assembler(
    session: Session,
    request: AssemblyRequested,
    findings: Findings,
    catalogue: Catalogue,
    at: datetime,
    why: str,
) -> Response:
    """Return the session's answer at the moment `at`; `why` is a sentence about the assembler's failure.

    Its status is never `complete`, as no text is checked against its sources.
    """
    writes = tuple(_writes(session, findings, catalogue))
    text = answer_in(findings.reply, request.status, findings.memory)
    cited = [id for id in cited_ids(text or "") if id in findings.memory.facts][:_SOURCES_MAX]
    numbers = {id: number for number, id in enumerate(cited, 1)}
    quoted = cited or list(findings.memory.facts)[-_UNCITED_MAX:]
    sources = tuple(source_of(findings.memory, id, numbers.get(id, 0)) for id in quoted)
    parts = [_numbered(text, numbers) if text else _without_reply(findings.memory, sources)]
    parts += [f"---\n\n*{why} {_AS_IT_STANDS if text else _FROM_FACTS}*", _writes_section(writes)]
    parts += [_sources_section(sources)] if numbers else []
    elapsed_s = (at - request.opened).total_seconds()
    return Response(
        session_id=session.id,
        status=_status(request.status),
        answer="\n\n".join(filter(None, parts)),
        result=read_answer(findings.reply.text).value if request.has_result and findings.reply else None,
        termination_reason=request.termination_reason,
        uncertainty=tuple(dict.fromkeys(_uncertainties(session, request, findings, writes, why))),
        sources=sources,
        rounds_used=request.rounds_used,
        tool_calls_used=request.tool_calls_used,
        usage=request.usage,
        duration_ms=max(0, round(elapsed_s * 1000)),
    )


_AS_IT_STANDS = "This is the model's last reply as it stands, not checked against its sources."
_FROM_FACTS = "The facts are quoted as they were stored."


def _status(requested: Status) -> Status:
    return "partial" if requested == "complete" else requested


def _uncertainties(
    session: Session, request: AssemblyRequested, findings: Findings, writes: tuple[_Write, ...], why: str
) -> Iterator[Uncertainty]:
    yield from request.uncertainty
    for write in writes:
        if write.outcome == "unknown":
            message = f"Whether `{write.tool}` took effect is unknown. Check before doing it again."
            yield new_uncertainty("outcome_unknown", message, write.description, "serious")
        elif write.outcome == "not begun":
            message = f"`{write.tool}` had not begun when the session ended."
            yield new_uncertainty("call_unfinished", message, write.description)
        elif write.outcome in ("refused", "failed"):
            message = f"`{write.tool}` {_OUTCOME_TEXTS[write.outcome]}: {one_line(write.message, _MESSAGE_CHARACTERS)}"
            yield new_uncertainty("tool_failed", message, write.description)
    for kind, use, message in repetitions(findings.memory.tool_usage):
        severity: Severity = "note" if kind == "write_repeated" else "caution"
        yield new_uncertainty(kind, message, unknown_call_name(use.tool, use.call_id), severity)
    listed = {write.call_id for write in writes}
    for call_id, tool in findings.unfinished:
        if call_id not in listed:
            message = f"`{tool}` had not finished when the session ended."
            yield new_uncertainty("call_unfinished", message, unknown_call_name(tool, call_id))
    for part in findings.missing:
        yield new_uncertainty("record_missing", "A part of the session's record could not be read.", part)
    yield new_uncertainty("component_failed", why, "response_assembler", "serious")


def _writes(session: Session, findings: Findings, catalogue: Catalogue) -> Iterator[_Write]:
    """Yield every write that was handed out, in the order of the calls."""
    listed = set[str]()
    uses = findings.memory.tool_usage
    open_ids = {use.call_id for use in calls_of_unknown_outcome(uses)}
    for use in uses:
        about = unknown_call_name(use.tool, use.call_id)
        if about in session.writes.in_doubt or _is_write(use, catalogue):
            listed.add(about)
            outcome, message = _outcome(use, is_open=use.call_id in open_ids)
            yield _Write(use.tool, use.call_id, outcome, message)
    not_begun = {unknown_call_name(tool, call_id) for call_id, tool in findings.unfinished}
    for about in session.writes.in_doubt:
        if about not in listed:
            tool, _, call_id = about.partition(" ")
            yield _Write(tool, call_id, "not begun" if about in not_begun else "unknown")


def _is_write(use: ToolUse, catalogue: Catalogue) -> bool:
    tool = catalogue.by_name.get(use.substitute or use.tool)
    return tool is not None and tool.effect == "write"


def _outcome(use: ToolUse, *, is_open: bool) -> tuple[str, str]:
    match use.outcome:
        case "ok" if use.repeated:
            return "repeated", f"call {use.repeated} has done the same"
        case "ok":
            return "done", ""
        case "outcome_unknown" if use.repeated:
            return "not repeated", f"call {use.repeated} has asked for the same"
        case "outcome_unknown":
            return "unknown" if is_open else "settled", ""
        case "repeated_write":
            return "not repeated", use.what_happened or use.message
        case other:
            return "refused" if other in _REFUSED else "failed", use.message or other


def _numbered(text: str, numbers: dict[str, int]) -> str:
    """Return the text with `[1][2]` for `[F7, F3]`; a citation of facts that are not listed stays."""
    return CITATION.sub(
        lambda match: "".join(f"[{numbers[id]}]" for id in cited_ids(match[0]) if id in numbers) or match[0],
        text,
    )


def _without_reply(memory: Memory, sources: tuple[Source, ...]) -> str:
    if not sources:
        return "There is no finished answer, and nothing was found that could be quoted."
    last = next((one.text for one in reversed(memory.reasoning) if one.text), "")
    plan = f"The model's last reply: {one_line(last, EXCERPT_CHARACTERS)}" if last else ""
    facts = "\n".join(f"- {_source_line(source)}" for source in sources)
    return "\n\n".join(filter(None, ["There is no finished answer. What was found:", facts, plan]))


def _writes_section(writes: tuple[_Write, ...]) -> str:
    if not writes:
        return ""
    lines = [write.line for write in writes[:_WRITES_MAX]]
    more = [f"- and {len(writes) - _WRITES_MAX} more"] if len(writes) > _WRITES_MAX else []
    return "\n".join(["**Writes**\n", *lines, *more])


def _sources_section(sources: tuple[Source, ...]) -> str:
    lines = [f"{source.number}. {_source_line(source)}" for source in sources]
    return "\n".join(["**Sources**\n", *lines])


def _source_line(source: Source) -> str:
    excerpt = one_line(source.excerpt, EXCERPT_CHARACTERS)
    return f"{excerpt} (`{source.tool}`, {source.call_id})"
