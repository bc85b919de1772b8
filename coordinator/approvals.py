"""When a person has to approve a call, and what their decision does. Pure.

The session waits as people.py says. Decisions come one by one or all at once; what is late, said twice or about
another call changes nothing. When the batch goes out, approved calls carry the decision's place in the log, so that
the dispatcher can see for itself, and denied ones are refused.
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
from coordinator.session import Session, doubt, replace

_NEVER_RAN: tuple[ErrorType, ...] = (
    "cancelled",
    "unknown_tool",
    "dependency_failed",
    "circuit_open",
    "repeated_write",
)
"""Errors of calls that reached nobody. A refusal for want of permission is not among them: a tool may say so
itself, in words it was given."""
_REPEATING = (READ_RESULT, RECALL)
"""Tools that return what others have returned before."""
_BLIND = (
    "a person has to approve it, and must see its arguments; make it again in the next reply, with the values "
    "themselves in place of the placeholders"
)
UNDECIDED = "a person has to approve it, and nobody decided in time"
_WHO_CHARACTERS, _REASON_CHARACTERS = 80, 300


def needed(
    session: Session, calls: Sequence[RequestedCall], allowed: Sequence[str], catalogue: Catalogue
) -> tuple[CallToApprove, ...]:
    """The calls that a person has to decide on. What will not run anyway is not asked about."""
    is_flowing = any(_may_bring_untrusted(call.name, catalogue) for call in calls if call.refused is None)
    found = []
    for call in calls:
        tool = catalogue.by_name.get(call.name)
        if tool is None or call.refused is not None or call.problem is not None or call.name not in allowed:
            continue
        if because := _because(tool, call, session, is_flowing):
            found.append(CallToApprove(id=call.id, tool=call.name, arguments=call.arguments, because=because))
    return tuple(found)


def without_blind(
    calls: tuple[RequestedCall, ...], asked: tuple[CallToApprove, ...]
) -> tuple[tuple[RequestedCall, ...], tuple[CallToApprove, ...]]:
    """The same without those that a person would decide on blindly: of a placeholder nobody sees the value."""
    blind = {one.id for one in asked if has_placeholder(one.arguments)}
    refused = {"refused": _BLIND}
    return (
        tuple(call.model_copy(update=refused) if call.id in blind else call for call in calls),
        tuple(one for one in asked if one.id not in blind),
    )


def after_decision(session: Session, log_entry: LogEntry, decision: ApprovalDecided) -> Session:
    """The session with what a person has decided; itself when the decision is about nothing that waits."""
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


def missing(session: Session, when: str, is_batch_lost: bool) -> tuple[Uncertainty, ...]:
    """What is to be said of calls that nobody has decided on; `when` ends the sentence."""
    waiting = [
        f"`{call.name}` ({call.id})" for call in session.people.pending if call.id in session.people.undecided
    ]
    if not waiting:
        return ()
    message = f"Nobody decided on {', '.join(waiting)} {when}; "
    if is_batch_lost and len(session.people.pending) > 1:
        message += "nothing of that batch was run."
    else:
        message += "it was not run." if len(waiting) == 1 else "they were not run."
    return (doubt("approval_missing", message, ", ".join(session.people.undecided)),)


def untrusted_calls(session: Session, completed: ToolsCompleted, catalogue: Catalogue) -> tuple[str, ...]:
    """The calls that brought something anybody may have written: a result, or an error in their words.

    A built-in tool that repeats earlier results does so once such words are in the session, or in the batch;
    which of them it repeats is not looked at.
    """
    spoke = [(result.call_id, name) for result in completed.results for name in _spoke(result)]
    is_in = session.material.has_untrusted or any(_is_open(name, catalogue) for _, name in spoke)
    found = [id for id, name in spoke if _is_open(name, catalogue) or (is_in and name in _REPEATING)]
    return tuple(dict.fromkeys(found))


def has_untrusted_source(response: Response, catalogue: Catalogue) -> bool:
    """Whether an answer tells what anybody may have written; a batch cut short brings that unseen by decisions."""
    tools = {source.tool for source in response.sources} - {CONVERSATION}
    return any(_is_open(tool, catalogue) for tool in tools)


def _because(tool: ToolDefinition, call: RequestedCall, session: Session, is_flowing: bool) -> str:
    """Which rule demands a person's approval, for the person; empty when none does."""
    if call.repeat_of is not None and (because := _because_repeated(tool, call.repeat_of, session)):
        why = f"; the model says why: {one_line(call.reason, _REASON_CHARACTERS)}" if call.reason else ""
        return because + why
    if tool.approval == "always":
        return f"every call of {tool.name} has to be approved"
    if tool.approval != "after_untrusted":
        return ""
    if session.material.has_untrusted:
        return "content that anybody may have written is in the session"
    if is_flowing and has_placeholder(call.arguments):
        return "what anybody may have written can get into its arguments, from another call of the batch"
    return ""


def _because_repeated(tool: ToolDefinition, id: str, session: Session) -> str:
    if repetitions.is_uncertain(session, id):
        return f"it is done once more, and it is unknown whether call {id} took effect"
    contract = contract_of(tool)
    if contract is not None and contract.repeat == "ask":
        return f"it is done once more, after call {id}"
    return ""


def _denial(decision: ApprovalDecided) -> str:
    """As the end of a sentence: `The call was not run: ...`."""
    who = one_line(decision.by, _WHO_CHARACTERS) or "a person"
    reason = one_line(decision.reason, _REASON_CHARACTERS).rstrip(".")
    return f"{who} denied it: {reason}" if reason else f"{who} denied it"


def _spoke(result: ToolResult) -> tuple[str, ...]:
    """The tools whose words are in a result."""
    if result.error is not None and result.error.error_type in _NEVER_RAN:
        return ()
    return tuple(filter(None, (result.tool, result.substitute)))


def _may_bring_untrusted(name: str, catalogue: Catalogue) -> bool:
    """Whether a call of the tool may be answered by anybody, itself or by one of its alternatives."""
    contract = contract_of(catalogue.by_name.get(name))
    if contract is None:
        return True  # of what nobody knows the worst is believed
    return contract.open_world or any(_is_open(other.tool, catalogue) for other in contract.alternatives)


def _is_open(name: str, catalogue: Catalogue) -> bool:
    contract = contract_of(catalogue.by_name.get(name))
    return contract is None or contract.open_world
