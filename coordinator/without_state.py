"""The answer of a session that has no stored state: it was never opened, or Redis has lost the state."""

from antiphon_shared.bus.handling import NOTHING, RESPONSE, Delivery, Outcome, SessionStore
from antiphon_shared.events import ComponentFailed, DeadlineReached

from coordinator.decision import Decision
from coordinator.opening import end_unopened, without_state
from coordinator.outcomes import outcome_of_unopened

_LOST = "The state of the session is no longer stored in Redis, so what it has found is lost."


async def answer_without_state(delivery: Delivery, session: SessionStore) -> Outcome:
    """Answer a session that failed to open or is at its deadline, unless it has an answer; ignore other events."""
    decision = await _decided(delivery, session)
    if decision is None:
        return NOTHING
    version, _ = await session.document(RESPONSE)
    return NOTHING if version else outcome_of_unopened(delivery.event, decision)


async def _decided(delivery: Delivery, session: SessionStore) -> Decision | None:
    event = delivery.event
    match event.data:
        case ComponentFailed(component="coordinator") as failure:
            return end_unopened(event, delivery.log_entry, failure)
        case DeadlineReached():
            query = await session.logged(event.correlationid)
            return None if query is None else without_state(event, query[0], _LOST)
        case _:
            return None
