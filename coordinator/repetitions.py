"""Writes that the model repeats on purpose. Pure.

A call of `repeat_call` is handed out as a call of the repeated tool, with the arguments of the earlier call and
`repeat_of`, so that the tool's scopes, approval, order and bounds apply. Only the dispatcher decides on the
idempotency key of the call.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from antiphon_shared.events import ReasoningCompleted, ToolsCompleted
from antiphon_shared.tools.calls import REPEAT_CALL, Catalogue, RequestedCall, ToolCall
from antiphon_shared.tools.placeholders import has_placeholder
from antiphon_shared.tools.repeating import arguments_digest, read_repetition
from antiphon_shared.values import LogEntry

from coordinator.offer import contract_of
from coordinator.session import Session
from coordinator.session_parts import MadeWrite

_WRITES_MAX = 300
"""Bound on the writes of a session that can be repeated; the oldest are dropped."""
_LISTED_MAX = 8
NO_CALLS: Mapping[str, ToolCall] = {}


def calls_to_repeat(session: Session, reply: ReasoningCompleted) -> dict[str, tuple[LogEntry, str]]:
    """Return the log entry and the id of each call that a reply repeats, by the id that the reply names."""
    made = {write.id: write for write in session.writes.made}
    requests = (read_repetition(call.arguments) for call in reply.tool_calls if call.name == REPEAT_CALL)
    ids = [repetition[0] for repetition in requests if repetition is not None]
    return {id: (made[id].asked, made[id].source) for id in ids if id in made}


def with_repetitions(
    session: Session,
    calls: tuple[RequestedCall, ...],
    allowed: Sequence[str],
    catalogue: Catalogue,
    earlier: Mapping[str, ToolCall],
) -> tuple[RequestedCall, ...]:
    """Return the batch with its repetitions; `earlier` are the calls to repeat, by the id that the model names."""
    made = {write.id: write for write in session.writes.made}
    return tuple(_with_repetition(call, session, made, allowed, catalogue, earlier) for call in calls)


def is_uncertain(session: Session, id: str) -> bool:
    """Return whether it is unknown if the call, or one like it, took effect."""
    roots = {write.root for write in session.writes.made if write.id == id}
    return any(write.state == "unknown" for write in session.writes.made if write.root in roots)


def with_batch_writes(session: Session, calls: Iterable[RequestedCall]) -> tuple[MadeWrite, ...]:
    """Return the session's writes, including the writes of the batch that is being requested."""
    if session.material.reasoning is None:
        return session.writes.made
    made = {write.id: write for write in session.writes.made}
    for call in calls:
        earlier = made.get(call.repeat_of or "")
        made.pop(call.id, None)
        made[call.id] = MadeWrite(
            id=call.id,
            tool=call.name,
            asked=session.material.reasoning if earlier is None else earlier.asked,
            source=call.id if earlier is None else earlier.source,
            root=call.id if earlier is None else earlier.root,
            digest=arguments_digest(call.name, call.arguments),
        )
    return tuple(made.values())[-_WRITES_MAX:]


def after_results(session: Session, completed: ToolsCompleted) -> tuple[MadeWrite, ...]:
    """Return the session's writes with their states after the results."""
    made = {write.id: write for write in session.writes.made}
    for result in completed.results:
        write = made.get(result.call_id)
        if write is None:
            continue
        first = made.get(result.repeated.call_id if result.repeated else result.settles)
        root = write.root if first is None else first.root
        error = result.error.error_type if result.error else None
        if error == "repeated_write" or (error and error not in ("outcome_unknown", "internal_error")):
            made[write.id] = write.model_copy(update={"root": root})
            if result.settles:  # no effect of this call means no effect of the first one
                made |= _with_state(made, root, "asked")
            continue
        made[write.id] = write.model_copy(
            update={"root": root, "state": "done" if error is None else "unknown"}
        )
        if (result.repeated or result.settles) and error is None:  # its outcome is known now
            made |= _with_state(made, root, "done")
    return tuple(made.values())


def _with_state(
    writes: Mapping[str, MadeWrite], root: str, state: Literal["asked", "done"]
) -> dict[str, MadeWrite]:
    """Return the writes that do the same as `root`, in that state."""
    return {id: one.model_copy(update={"state": state}) for id, one in writes.items() if one.root == root}


def _with_repetition(
    call: RequestedCall,
    session: Session,
    made: Mapping[str, MadeWrite],
    allowed: Sequence[str],
    catalogue: Catalogue,
    earlier: Mapping[str, ToolCall],
) -> RequestedCall:
    if call.refused is not None or call.problem is not None or call.name not in allowed:
        return call
    if call.name != REPEAT_CALL:
        repeated_id = _identical_write(call, session, catalogue)
        return call if repeated_id is None else call.model_copy(update={"repeat_of": repeated_id})
    if (repetition := read_repetition(call.arguments)) is None:
        return call  # the dispatcher describes the errors in its arguments
    id, reason = repetition
    if id not in made or id not in earlier:
        return call.model_copy(update={"refused": _refusal_of_unknown(id, session)})
    original = earlier[id]
    if has_placeholder(original.arguments):
        refused = (
            f"values of other calls stand in the arguments of {id}; call {original.name} again with the values "
            "themselves, which does nothing by itself, then repeat that call"
        )
        return call.model_copy(update={"refused": refused})
    return call.model_copy(
        update={"name": original.name, "arguments": original.arguments, "repeat_of": id, "reason": reason}
    )


def _identical_write(call: RequestedCall, session: Session, catalogue: Catalogue) -> str | None:
    """Return the id of the write that the call would repeat, when its contract requires a person's approval."""
    contract = contract_of(catalogue.by_name.get(call.name))
    if contract is None or contract.repeat != "ask" or has_placeholder(call.arguments):
        return None
    digest = arguments_digest(call.name, call.arguments)
    same = [write.id for write in session.writes.made if write.digest == digest and write.state != "asked"]
    return same[-1] if same else None


def _refusal_of_unknown(id: str, session: Session) -> str:
    ids = ", ".join(write.id for write in session.writes.made[-_LISTED_MAX:])
    return f"there is no earlier call {id[:200]!r} of a writing tool{f'; there are: {ids}' if ids else ''}"
