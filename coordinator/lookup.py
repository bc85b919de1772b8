"""Reads of a session's log before `decide` is called; a replay takes the same values from the recording."""

from contextlib import suppress
from uuid import UUID

from antiphon_shared.bus.handling import Delivery, SessionStore
from antiphon_shared.events import (
    AnyEvent,
    AssemblyOverdue,
    CancellationRequested,
    ChildEnded,
    ChildWaiting,
    ComponentFailed,
    EventData,
    PersonOverdue,
    QuerySubmitted,
    ReasoningCompleted,
)
from antiphon_shared.output.schema import OutputSchema, output_schema
from antiphon_shared.process.errors import TryLater, UnreadableEvent
from antiphon_shared.tools.calls import ToolCall

from coordinator import repetitions
from coordinator.decision import LoggedEvent
from coordinator.session import Session

_LONG_CHARACTERS = 10_000
"""The length from which a reply is validated against its schema in another thread."""
_ANSWER_WAIT_S = 2.0
"""The time that a cancellation leaves to an assembler at work."""


async def read_needed_event(session: Session, delivery: Delivery, store: SessionStore) -> LoggedEvent | None:
    """Return the logged event that the decision needs, if any. Raises TryLater."""
    id = needed_event_id(session, delivery.event)
    if id is None:
        return None
    if isinstance(delivery.event.data, CancellationRequested) and not delivery.attempt:
        raise TryLater("the answer is about to be put together", delay_s=_ANSWER_WAIT_S)
    found = await store.logged(id)
    return None if found is None else LoggedEvent(*found)


def schema_of(asked: EventData | None, step: int = 0) -> OutputSchema | None:
    """Return the answer's schema that a query demands, if any; `asked` is None if a decision does not need it.

    Args: `step` is the number of the current step; 0 if the query has no steps.
    """
    schema, _ = asked.options.demanded(step) if isinstance(asked, QuerySubmitted) else (None, ())
    return None if schema is None else output_schema(schema)


def needs_query(session: Session, event: AnyEvent) -> bool:
    """Return whether a decision on `event` needs the query, for the schema that the answer must fit."""
    reply = event.data
    return session.output.is_demanded and isinstance(reply, ReasoningCompleted)


async def calls_to_repeat(before: Session, data: EventData, session: SessionStore) -> dict[str, ToolCall]:
    """Return the calls of the log that a reply wants repeated."""
    if not before.writes.made or not isinstance(data, ReasoningCompleted):
        return {}
    found: dict[str, ToolCall] = {}
    for id, (entry, source) in repetitions.calls_to_repeat(before, data).items():
        with suppress(UnreadableEvent):
            reply = (await session.event(entry)).data
            calls = reply.tool_calls if isinstance(reply, ReasoningCompleted) else ()
            found.update((id, call) for call in calls if call.id == source)
    return found


def is_long_answer(session: Session, event: AnyEvent) -> bool:
    """Return whether validating a reply against the schema would block the event loop for too long."""
    reply = event.data
    return (
        isinstance(reply, ReasoningCompleted)
        and needs_query(session, event)
        and len(reply.text) > _LONG_CHARACTERS
    )


def needed_event_id(session: Session, event: AnyEvent) -> UUID | None:
    """Return the id of the logged event that a decision on `event` needs, if any.

    For news of a run that a call began, it is the results of the batch's other calls; for a session that
    waits for its answer, the request for it; for a step at which the coordinator failed, the step's event.
    """
    match event.data:
        case ChildEnded() | ChildWaiting() | PersonOverdue() if session.children.batch is not None:
            return session.children.batch
        case AssemblyOverdue() | CancellationRequested() if session.phase == "assembling":
            return session.awaited
        case ComponentFailed(component="response_assembler") if session.phase == "assembling":
            return session.awaited
        case ComponentFailed(component="coordinator", failed_event=failed) if session.phase not in (
            "assembling",
            "closed",
        ):
            return failed
        case _:
            return None
