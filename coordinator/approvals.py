"""Calls that need a person's approval, and the effect of the person's decision. Pure.

people.py describes the wait. Decisions arrive one by one or all at once. A late or repeated decision, or one
about another call, changes nothing. When the batch is handed out, approved calls carry the log entry of the
decision, so that the dispatcher can verify it; denied calls are refused.
"""

from collections.abc import Sequence

from antiphon_shared.events import ApprovalDecided, CallToApprove, ToolsCompleted
from antiphon_shared.events.session import Response, Uncertainty
from antiphon_shared.memory.conversation import CONVERSATION
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.calls import Catalogue, ErrorType, RequestedCall, ToolDefinition, ToolResult
from antiphon_shared.tools.placeholders import has_placeholder
from antiphon_shared.tools.relevance import READ_RESULT, RECALL
from antiphon_shared.values import LogEntry

from coordinator import repetitions
from coordinator.offer import contract_of
from coordinator.session import Session, new_uncertainty
from coordinator.session_parts import replace

_NEVER_RAN: tuple[ErrorType, ...] = (
    "cancelled",
    "unknown_tool",
    "dependency_failed",
    "circuit_open",
    "repeated_write",
)
"""Errors of calls that never reached a tool; without `permission_denied`, which a tool may return with its text."""
_REPEATING = (READ_RESULT, RECALL)
"""Built-in tools that return earlier results again."""
_PLACEHOLDER = (
    "a person has to approve it, and must see its arguments; make it again in the next reply, with the values "
    "themselves in place of the placeholders"
)
UNDECIDED = "a person has to approve it, but no person decided in time"
_WHO_CHARACTERS, _REASON_CHARACTERS = 80, 300


def calls_to_approve(
    session: Session, calls: Sequence[RequestedCall], allowed: Sequence[str], catalogue: Catalogue
) -> tuple[CallToApprove, ...]:
    """Return the calls that a person has to approve, except calls that are refused anyway."""
    is_flowing = any(_may_bring_untrusted(call.name, catalogue) for call in calls if call.refused is None)
    to_approve = []
    for call in calls:
        tool = catalogue.by_name.get(call.name)
        if tool is None or call.refused is not None or call.problem is not None or call.name not in allowed:
            continue
        if because := _approval_reason(tool, call, session, is_flowing):
            to_approve.append(
                CallToApprove(id=call.id, tool=call.name, arguments=call.arguments, because=because)
            )
    return tuple(to_approve)


def without_placeholders(
    calls: tuple[RequestedCall, ...], calls_to_approve: tuple[CallToApprove, ...]
) -> tuple[tuple[RequestedCall, ...], tuple[CallToApprove, ...]]:
    """Refuse the calls whose arguments contain a placeholder, whose value the person would not see.

    Returns: The batch, and the calls to approve without the refused ones.
    """
    hidden = {one.id for one in calls_to_approve if has_placeholder(one.arguments)}
    refused = {"refused": _PLACEHOLDER}
    return (
        tuple(call.model_copy(update=refused) if call.id in hidden else call for call in calls),
        tuple(one for one in calls_to_approve if one.id not in hidden),
    )


def after_decision(session: Session, log_entry: LogEntry, decision: ApprovalDecided) -> Session:
    """Return the session after a person's decision; the same object when no call waits for this decision."""
    if session.phase != "approval" or decision.round != session.round:
        return session
    decided = {id for id in session.people.undecided if not decision.calls or id in decision.calls}
    if not decided:
        return session
    outcome = {"approval": log_entry} if decision.is_approved else {"refused": _denial(decision)}
    pending = tuple(
        call.model_copy(update=outcome) if call.id in decided and call.refused is None else call
        for call in session.people.pending
    )
    left = tuple(id for id in session.people.undecided if id not in decided)
    people = replace(session.people, pending=pending, undecided=left)
    return replace(session, people=people)


def approval_missing(session: Session, when: str, is_batch_lost: bool) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about calls without a decision.

    Args: `when` says until when, as the end of a sentence; `is_batch_lost`: no call of the batch was run.
    """
    waiting = [
        f"`{call.name}` ({call.id})" for call in session.people.pending if call.id in session.people.undecided
    ]
    if not waiting:
        return ()
    message = f"No person decided on {', '.join(waiting)} {when}; "
    if is_batch_lost and len(session.people.pending) > 1:
        message += "no call of that batch was run."
    else:
        message += "it was not run." if len(waiting) == 1 else "they were not run."
    return (new_uncertainty("approval_missing", message, ", ".join(session.people.undecided)),)


def untrusted_calls(session: Session, completed: ToolsCompleted, catalogue: Catalogue) -> tuple[str, ...]:
    """Return the ids of the calls that brought untrusted content, in a result or in the text of an error.

    A built-in tool that repeats earlier results counts as soon as untrusted content is in the session or in
    the batch, whichever result it repeats.
    """
    texts = [(result.call_id, name) for result in completed.results for name in _tools_with_text(result)]
    has_untrusted = session.material.has_untrusted or any(_is_open(name, catalogue) for _, name in texts)
    ids = [id for id, name in texts if _is_open(name, catalogue) or (has_untrusted and name in _REPEATING)]
    return tuple(dict.fromkeys(ids))


def has_untrusted_source(response: Response, catalogue: Catalogue) -> bool:
    """Return whether an answer cites a tool with untrusted content, which may come from an interrupted batch."""
    tools = {source.tool for source in response.sources} - {CONVERSATION}
    return any(_is_open(tool, catalogue) for tool in tools)


def _approval_reason(tool: ToolDefinition, call: RequestedCall, session: Session, is_flowing: bool) -> str:
    """Return the reason for a person's approval, in words for that person; empty if the call needs none."""
    if call.repeat_of is not None and (because := _repetition_reason(tool, call.repeat_of, session)):
        why = f"; the model says why: {one_line(call.reason, _REASON_CHARACTERS)}" if call.reason else ""
        return because + why
    if tool.approval == "always":
        return f"every call of {tool.name} has to be approved"
    if tool.approval != "after_untrusted":
        return ""
    if session.material.has_untrusted:
        return "the session contains content from an untrusted source"
    if is_flowing and has_placeholder(call.arguments):
        return "content from an untrusted source can reach its arguments, from another call of the batch"
    return ""


def _repetition_reason(tool: ToolDefinition, repeated_id: str, session: Session) -> str:
    if repetitions.is_uncertain(session, repeated_id):
        return f"it repeats call {repeated_id}, and it is unknown whether that call took effect"
    contract = contract_of(tool)
    if contract is not None and contract.repeat == "ask":
        return f"it repeats call {repeated_id}"
    return ""


def _denial(decision: ApprovalDecided) -> str:
    """Return the reason of a denial, as the end of the sentence `The call was not run: ...`."""
    person = one_line(decision.by, _WHO_CHARACTERS) or "a person"
    reason = one_line(decision.reason, _REASON_CHARACTERS).rstrip(".")
    return f"{person} denied it: {reason}" if reason else f"{person} denied it"


def _tools_with_text(result: ToolResult) -> tuple[str, ...]:
    """Return the tools whose text is in a result."""
    if result.error is not None and result.error.error_type in _NEVER_RAN:
        return ()
    return tuple(filter(None, (result.tool, result.substitute)))


def _may_bring_untrusted(name: str, catalogue: Catalogue) -> bool:
    """Return whether the tool, or one of its alternatives, may return untrusted content; True without a contract."""
    contract = contract_of(catalogue.by_name.get(name))
    if contract is None:
        return True
    return contract.open_world or any(_is_open(other.tool, catalogue) for other in contract.alternatives)


def _is_open(name: str, catalogue: Catalogue) -> bool:
    """Return whether the tool may return untrusted content; True without a contract."""
    contract = contract_of(catalogue.by_name.get(name))
    return contract is None or contract.open_world
