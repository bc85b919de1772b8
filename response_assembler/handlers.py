"""The async shell: read the session's material, compose its answer, and return it to be committed once."""

from collections.abc import Callable
from datetime import datetime
from functools import partial

from antiphon_shared import faults
from antiphon_shared.bus.handling import (
    NOTHING,
    RESPONSE,
    Delivery,
    Handlers,
    Outcome,
    PutDocument,
    SessionStore,
)
from antiphon_shared.events import AnyEvent, AssemblyRequested
from antiphon_shared.events.session import RESPONSE_KIND
from antiphon_shared.events.step_records import AssemblyRecord
from antiphon_shared.memory.reading import Reading
from antiphon_shared.process.clock import milliseconds
from antiphon_shared.process.offload import is_large, offload_if

from response_assembler.compose import response_from

_WAITED_MS_MIN = 1_000
"""The wait from which a delay is counted; clocks may differ by less."""
_FACTS_AT_ONCE_MAX = 200
"""The number of facts above which an answer is composed in a thread."""

Clock = Callable[[], datetime]


async def on_assembly_requested(
    delivery: Delivery, session: SessionStore, now: Clock | None = None
) -> Outcome:
    """Compose the session's answer from the readable part of its record; do nothing if it has an answer already.

    Without a clock, the waiting time of the request counts as zero.
    """
    request = delivery.event.data
    assert isinstance(request, AssemblyRequested)
    version, answered = await session.document(RESPONSE)
    if answered is not None:
        return NOTHING
    reading, waited_ms = Reading(session), _waited_ms(delivery.event, now)
    read = await reading.of(request)
    is_heavy = len(read.memory.facts) > _FACTS_AT_ONCE_MAX or is_large(read.results)
    response = await offload_if(is_heavy, response_from, delivery.event, request, read, waited_ms)
    await faults.pass_point("answer.composed")
    return Outcome(
        events=(response,),
        writes=(PutDocument(RESPONSE, version, RESPONSE_KIND.write(response, delivery.event.format)),),
        record=AssemblyRecord.trusted(
            of=delivery.event.id,
            outputs=0,
            filings=reading.filings,
            batch=reading.batch,
            missing=tuple(reading.missing),
            kind="assembly",
            waited_ms=waited_ms,
        ),
    )


def handlers(now: Clock | None) -> Handlers:
    """Return the handlers of an assembler with that clock."""
    return {AssemblyRequested: partial(on_assembly_requested, now=now)}


def _waited_ms(event: AnyEvent, now: Clock | None) -> int:
    """Return how long a request has waited; 0 for a normal wait, or if the session's format cannot record it."""
    if now is None or event.format < 2:
        return 0
    waited_ms = milliseconds((now() - event.time).total_seconds())
    return waited_ms if waited_ms >= _WAITED_MS_MIN else 0
