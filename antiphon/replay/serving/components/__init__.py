"""The five components of a rerun: today's code, with each session's recorded surroundings.

Each is built by its own `component.py`: once for the process, for the background duties and the types of its
events; and once for each session, with the session's recorded settings. Its surroundings behave as recorded:
a failed step fails, an unfinished step never ends, open breakers are open, and events keep their times. So a
rerun needs no clock to reach a deadline, and today's code decides on the same inputs in the same order.
"""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import Component
from antiphon_shared.process.service import Service

from antiphon.replay.serving.components.part import Part
from antiphon.replay.serving.exchanges import Match
from antiphon.replay.serving.recording_index import RecordingIndex


def part_of(name: Component, bus: Bus, scores: Mapping[str, RecordingIndex], match: Match) -> Service:
    """Return one component for the sessions of these scores.

    Build it in their environment. Raises ConfigurationError.
    """
    # By its name: the process of one component does not need the code of the others.
    part: Part = import_module(f"{__name__}.{name}").PART(bus, scores, match)
    program: Service = import_module(f"{name}.component").build(bus)
    return replace(
        program,
        handlers=dict.fromkeys(program.handlers, part.play),
        # A step that was stopped then has no output, and never ends here. Whether a stop comes in time depends on
        # the machine: a summary that came just after the answer would be dropped in one rerun, and come in another.
        stops_with_session=False,
    )
