"""The record of a fork: the events that it delivers again, and the key for the changes of a run. Pure."""

from dataclasses import replace

from antiphon_shared.events.step_records import Redelivered
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.lines import EventLine
from antiphon.replay.steps.replay_state import RecordingContent

RUN_CHANGED = "run"
"""The key in a fork's record for the changes of a run."""


def redelivered(one: Redelivered, content: RecordingContent) -> EventLine:
    """Return the event as the fork delivered it, and add it to `content`. Raises UnreadableEvent."""
    line = content.lines.get(one.event)
    if line is None:
        raise UnreadableEvent(f"a fork has delivered the event {one.event}, which the recording lacks.")
    data = line.event.data
    if one.changed:
        try:
            data = type(data).model_validate({**data.model_dump(mode="json"), **one.changed})
        except ValueError as error:
            raise UnreadableEvent(f"event {line.n} as a fork has delivered it: {error}") from None
    line = replace(line, event=line.event.model_copy(update={"time": one.time, "data": data}))
    content.add(line)
    return line


def redelivered_as(recorded: EventLine, delivered: EventLine) -> Redelivered:
    """Return the record of an event that a fork changes and delivers, from which `redelivered` restores it.

    Results of tools are omitted, as they contain no time of the session and do not change.
    """
    then = recorded.event.data.model_dump(mode="json", exclude={"results"})
    now = delivered.event.data.model_dump(mode="json", exclude={"results"})
    return Redelivered(
        event=recorded.event.id,
        time=delivered.event.time,
        changed={name: value for name, value in now.items() if value != then[name]},
    )
