"""Reads of a session's log for `decide`; a replay takes the same values from the recording."""

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
"""The delay of a cancellation while an assembler works on the answer."""


async def read_needed_event(session: Session, delivery: Delivery, store: SessionStore) -> LoggedEvent | None:
    """Return the logged event that the decision needs, if any. Raises TryLater."""
    id = needed_event_id(session, delivery.event)
    if id is None:
        return None
    if isinstance(delivery.event.data, CancellationRequested) and not delivery.attempt:
        raise TryLater("the answer is about to be put together", delay_s=_ANSWER_WAIT_S)
    logged = await store.logged(id)
    return None if logged is None else LoggedEvent(*logged)


async def read_calls_to_repeat(session: Session, data: EventData, store: SessionStore) -> dict[str, ToolCall]:
    """Return the logged calls that a reply wants repeated, by the id that the reply names."""
    if not session.writes.made or not isinstance(data, ReasoningCompleted):
        return {}
    calls_by_id: dict[str, ToolCall] = {}
    for id, (entry, source) in repetitions.calls_to_repeat(session, data).items():
        with suppress(UnreadableEvent):
            reply = (await store.event(entry)).data
            calls = reply.tool_calls if isinstance(reply, ReasoningCompleted) else ()
            calls_by_id.update((id, call) for call in calls if call.id == source)
    return calls_by_id


async def read_question(session: Session, store: SessionStore) -> EventData:
    """Return the query of a session; for a session that was never opened, the event that could not be handled."""
    question = (await store.event(session.query.question)).data
    if (
        isinstance(question, ComponentFailed)
        and (logged := await store.logged(question.failed_event)) is not None
    ):
        return logged[1].data
    return question


def schema_of(query: EventData | None, step: int = 0) -> OutputSchema | None:
    """Return the answer's schema that a query demands, if any; `query` is None if a decision does not need it.

    Args: `step` is the number of the current step; 0 if the query has no steps.
    """
    schema, _ = query.options.demanded(step) if isinstance(query, QuerySubmitted) else (None, ())
    return None if schema is None else output_schema(schema)


def needs_query(session: Session, data: EventData) -> bool:
    """Return whether a decision on `data` needs the query, for the schema that the answer must fit."""
    return session.output.is_demanded and isinstance(data, ReasoningCompleted)


def is_long_answer(session: Session, data: EventData) -> bool:
    """Return whether validating a reply against the schema would block the event loop for too long."""
    is_long = isinstance(data, ReasoningCompleted) and len(data.text) > _LONG_CHARACTERS
    return is_long and needs_query(session, data)


def needed_event_id(session: Session, event: AnyEvent) -> UUID | None:
    """Return the id of the logged event that a decision on `event` needs, if any.

    For an event about a run that a call began: the results of the batch's other calls. For a session that waits for
    its answer: the request for it. For a step at which the coordinator failed: the event of the step.
    """
    match event.data:
        case ChildEnded() | ChildWaiting() | PersonOverdue() if session.children.batch is not None:
            return session.children.batch
        case AssemblyOverdue() | CancellationRequested() if session.phase == "assembling":
            return session.pending_request
        case ComponentFailed(component="response_assembler") if session.phase == "assembling":
            return session.pending_request
        case ComponentFailed(component="coordinator", failed_event=failed) if session.phase not in (
            "assembling",
            "closed",
        ):
            return failed
        case _:
            return None
