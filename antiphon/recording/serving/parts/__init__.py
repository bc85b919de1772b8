"""The five components of a rerun: today's code, set up for each session as it was when it was recorded.

Each is built as its program builds it, by its own `component.py`: once for the process, whose background duties run
and whose handlers say what it consumes; and once for each session, with what that session had. What surrounds a
component in between is done again: a step that failed fails, what never ended never ends, the breakers are open that
were open, and events have the times that they had. So it takes no clock to reach a deadline, and what is decided is
what today's code makes of the same inputs, in the same order.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from importlib import import_module

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import Component
from antiphon_shared.process.service import Service

from antiphon.recording.serving.parts.part import Part
from antiphon.recording.serving.score import Score


def part_of(name: Component, bus: Bus, scores: Mapping[str, Score], model_url: str) -> Service:
    """One component, for the sessions of these scores; to be built in their surroundings. Raises ConfigurationError."""
    # By its name: the process of one component has no use for the code of the others.
    part: Part = import_module(f"{__name__}.{name}").PART(bus, scores, model_url)
    program: Service = import_module(f"{name}.component").build(bus)
    return replace(
        program,
        handlers=dict.fromkeys(program.handlers, part.play),
        # What was stopped then is what nothing came of. Whether a stop comes in time depends on the machine: a
        # summary that came just behind the answer would be dropped in one rerun, and come in another.
        stops_with_session=False,
        close=_both(part.close, program.close),
    )


def _both(
    first: Callable[[], Awaitable[None]], second: Callable[[], Awaitable[None]] | None
) -> Callable[[], Awaitable[None]]:
    async def close() -> None:
        await first()
        if second is not None:
            await second()

    return close
