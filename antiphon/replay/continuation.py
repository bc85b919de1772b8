"""The next step of a session after today's code has decided differently than recorded.

A verification starts each step from the record, so it does not show where a changed decision leads. Here today's
code continues from its first changed decision until it answers the session, or calls a model or a tool.
"""

from collections.abc import Sequence

from antiphon_shared.breakers.outages import Outages
from antiphon_shared.events.step_records import DecisionRecord

from antiphon.recording.lines import EventLine, Line, records_in
from antiphon.replay.forking.point import state_at
from antiphon.replay.injection.trace import Trace
from antiphon.replay.next_step import Next, next_step
from antiphon.replay.report import Divergence, Report


def continuation(lines: Sequence[Line], report: Report) -> Next | None:
    """Return the next step after today's first changed decision; None if no decision changes.

    Raises UnreadableEvent, and any error of today's code.
    """
    first = next((one for one in report.divergences if sends_otherwise(one)), None)
    if first is None:
        return None
    line = next(one for one in lines if isinstance(one, EventLine) and one.n == first.event)
    point = state_at(lines, line.n, unhandled=line.event.id)
    if point.session is None:
        return None
    records = records_in(lines, DecisionRecord)
    changed = next((one.changed for one in records if one.of == line.event.id), {})
    outages = Outages.model_validate(changed["outages"]) if "outages" in changed else None
    traced = Trace(point, point.session, line, outages).run()
    return next_step(first.event, traced.answer or traced.asks) or Next(kind="waits", event=first.event)


def sends_otherwise(divergence: Divergence) -> bool:
    """Return whether the coordinator sends other events, not only keeps another state."""
    return divergence.component == "coordinator" and divergence.output.startswith("antiphon.")
