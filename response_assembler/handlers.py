"""The async shell: gather what the session has, compose its answer, and let it be committed once."""

from antiphon_shared import faults
from antiphon_shared.bus.handling import NOTHING, RESPONSE, Delivery, Handlers, Outcome, Put, SessionStore
from antiphon_shared.events import AnyEvent, AssemblyRequested, ResponseReady
from antiphon_shared.events.session import RESPONSE_KIND
from antiphon_shared.events.step_records import AssemblyRecord
from antiphon_shared.memory.reading import Read, Reading
from antiphon_shared.process.aside import aside_if, is_large

from response_assembler.compose import compose
from response_assembler.material import material_of

_FACTS_AT_ONCE_MAX = 200
"""An answer from more facts is composed beside the event loop."""


async def on_assembly_requested(delivery: Delivery, session: SessionStore) -> Outcome:
    """Compose the session's answer from whatever of its record can be read; nothing if it has one already."""
    request = delivery.event.data
    assert isinstance(request, AssemblyRequested)
    version, answered = await session.document(RESPONSE)
    if answered is not None:
        return NOTHING
    reading = Reading(session)
    read = await reading.of(request)
    is_heavy = len(read.memory.facts) > _FACTS_AT_ONCE_MAX or is_large(read.results)
    response = await aside_if(is_heavy, _composed, delivery.event, request, read)
    await faults.at("answer.composed")
    return Outcome(
        events=(response,),
        writes=(Put(RESPONSE, version, RESPONSE_KIND.write(response, delivery.event.format)),),
        record=AssemblyRecord(
            of=delivery.event.id,
            filings=reading.filings,
            batch=reading.batch,
            missing=tuple(reading.missing),
        ),
    )


def _composed(event: AnyEvent, request: AssemblyRequested, read: Read) -> ResponseReady:
    return compose(material_of(event, request, read))


HANDLERS: Handlers = {AssemblyRequested: on_assembly_requested}
