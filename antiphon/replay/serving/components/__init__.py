"""The five components of a rerun: today's code, with the recorded surroundings of each session.

Each is built by its `component.py`: once for the process, for its background tasks and the types of its events, and
once for each session, with the session's recorded settings. The surroundings behave as recorded: a failed step fails,
an unfinished step never ends, open breakers are open, and events keep their times. So a rerun need not wait for a
deadline, and today's code decides on the same inputs in the same order.
"""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import Component
from antiphon_shared.process.service import Service

from antiphon.replay.serving.components.context_synthesizer import SynthesizerPart
from antiphon.replay.serving.components.coordinator import CoordinatorPart
from antiphon.replay.serving.components.part import Part
from antiphon.replay.serving.components.reasoning_engine import EnginePart
from antiphon.replay.serving.components.response_assembler import AssemblerPart
from antiphon.replay.serving.components.tool_dispatcher import DispatcherPart
from antiphon.replay.serving.exchanges import Miss
from antiphon.replay.serving.recording_index import RecordingIndex

_PARTS: tuple[type[Part], ...] = (CoordinatorPart, EnginePart, DispatcherPart, SynthesizerPart, AssemblerPart)


def part_of(
    name: Component, bus: Bus, recordings: Mapping[str, RecordingIndex], misses: list[Miss]
) -> Service:
    """Return a component for these sessions; requests that were not recorded are added to `misses`.

    It must be built in the environment of the sessions. Raises ConfigurationError.
    """
    part = next(one for one in _PARTS if one.name == name)(bus, recordings, misses)
    program: Service = import_module(f"{name}.component").build(bus)
    return replace(
        program,
        handlers=dict.fromkeys(program.handlers, part.play),
        # A step that was stopped has no recorded output, and never ends here. A stop by the session would come at
        # different times on different machines, and would drop some outputs, such as a late summary.
        stops_with_session=False,
    )
