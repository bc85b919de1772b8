"""The points at which a fault can strike, for the docs and the chaos suite too. Pure."""

from dataclasses import dataclass
from typing import Literal

from antiphon_shared.events.base import COMPONENTS, Component

Action = Literal["kill", "raise", "unavailable", "delay", "hang", "freeze", "disconnect"]

ACTIONS: dict[Action, str] = {
    "kill": "the process kills itself, with SIGKILL",
    "raise": "an unexpected error is raised",
    "unavailable": "Redis is unavailable at this point",
    "delay": "`delay=S`: the task waits for S seconds, the others continue",
    "hang": "the task never continues, the others do",
    "freeze": "`freeze=S`: the event loop is blocked for S seconds",
    "disconnect": "the connection is closed",
}
"""The effect of each action."""

_MOST: tuple[Action, ...] = ("kill", "raise", "unavailable", "delay", "hang", "freeze")
_NO_ERRORS: tuple[Action, ...] = ("kill", "delay", "hang", "freeze")
_ON_A_CONNECTION: tuple[Action, ...] = (*_MOST, "disconnect")


@dataclass(frozen=True, slots=True)
class Point:
    """A point in the code, which exactly one `faults.pass_point` names."""

    name: str
    meaning: str
    components: tuple[Component, ...] = COMPONENTS
    """The components whose processes pass it."""
    actions: tuple[Action, ...] = _MOST
    """The actions that are possible there."""


_COORDINATOR: tuple[Component, ...] = ("coordinator",)
_ENGINE: tuple[Component, ...] = ("reasoning_engine",)
_DISPATCHER: tuple[Component, ...] = ("tool_dispatcher",)
_SYNTHESIZER: tuple[Component, ...] = ("context_synthesizer",)
_ASSEMBLER: tuple[Component, ...] = ("response_assembler",)

_ALL = (
    Point("reader.read.before", "A reader is about to ask for new entries."),
    Point("reader.read.after", "Entries were delivered; no worker handles them yet."),
    Point("reader.reclaimed", "Deliveries of a silent worker were reclaimed; no worker handles them yet."),
    Point(
        "redis.read.sent",
        "A reader has asked for entries and waits for them (on a plain server).",
        actions=_ON_A_CONNECTION,
    ),
    Point(
        "redis.commands.sent",
        "Commands were sent together; no reply has been read (on a plain server).",
        actions=_ON_A_CONNECTION,
    ),
    Point("delivery.decoded", "A message is understood; its handler has not begun."),
    Point("handler.before", "A handler is about to begin, for the first time or again."),
    Point("handler.after", "A handler has returned its outcome; nothing is committed."),
    Point("commit.before", "A commit is about to be sent."),
    Point("commit.after", "A commit is done; its reply has not been used."),
    Point("lease.renewal.before", "The leases of what is in flight are about to be renewed."),
    Point("heartbeat.before", "A worker is about to send its heartbeat."),
    Point("submission.open.before", "A submission was read; its session is not open.", _COORDINATOR),
    Point(
        "submission.acknowledge.before",
        "A submission's session is open, or the submission set aside; it is not acknowledged.",
        _COORDINATOR,
    ),
    Point("submission.acknowledge.after", "A submission is acknowledged.", _COORDINATOR),
    Point("timers.before", "Timers that are due are about to be moved into their inboxes.", _COORDINATOR),
    Point("timers.after", "Timers that were due have been moved.", _COORDINATOR),
    Point("retention.before", "What has outlived its retention is about to be dropped.", _COORDINATOR),
    Point("decision.made", "A coordinator has decided; nothing is committed.", _COORDINATOR),
    Point("briefing.filed", "A synthesizer has filed a round; nothing is committed.", _SYNTHESIZER),
    Point("model.before", "A model is about to be called.", _ENGINE),
    Point("model.begun", "The first of a model's reply has arrived.", _ENGINE),
    Point("model.text", "A piece of a reply's text has arrived; more is to come.", _ENGINE),
    Point("model.after", "A model's reply is complete.", _ENGINE),
    Point("catalogue.before", "A dispatcher is about to publish its catalogue.", _DISPATCHER),
    Point("write.claim.before", "A write is about to be claimed under its key.", _DISPATCHER),
    Point("write.claimed", "A write is claimed, or taken over; its tool has not been run.", _DISPATCHER),
    Point("write.settle.before", "A write has run; its outcome is not recorded.", _DISPATCHER),
    Point("tool.before", "A tool is about to be run.", _DISPATCHER),
    Point("tool.running", "A tool is running.", _DISPATCHER, _NO_ERRORS),
    Point("tool.after", "A tool has run; its outcome is not recorded.", _DISPATCHER),
    Point("journal.note.before", "A call's outcome is about to be noted in the journal.", _DISPATCHER),
    Point("journal.noted", "A call's outcome is noted; its batch is not answered.", _DISPATCHER),
    Point("answer.composed", "An assembler has composed an answer; nothing is committed.", _ASSEMBLER),
)

POINTS: dict[str, Point] = {point.name: point for point in _ALL}
"""The points by name, in the order in which a message passes them."""
