"""What a decision is made of, beside the session: what it is given, and what it says is to happen."""

from dataclasses import dataclass

from antiphon_shared import formats
from antiphon_shared.bus.handling import CancelTimer, Send, SetTimer
from antiphon_shared.events import AnyEvent, EventData
from antiphon_shared.events.session import Limits, Response, Turn
from antiphon_shared.values import LogEntry

from coordinator import document
from coordinator.session import Session, replace


@dataclass(frozen=True, slots=True)
class OfferBounds:
    """How many tools a model is shown."""

    all_max: int = 30
    """As long as there are no more, all are offered."""
    subset: int = 8
    """Else so many, beside those that are pinned."""


@dataclass(frozen=True, slots=True)
class GrantCheck:
    """What a session's grant is worth, as verified where the session is opened."""

    problem: str = ""
    """Why it is refused, as a sentence on `it`; empty when it is not."""
    is_ignored: bool = False
    """Whether there was no key to verify it with, so that it counts for nothing."""


BELIEVED = GrantCheck()
"""A grant that says what the session may do, or none at all."""
IGNORED = GrantCheck(is_ignored=True)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session is opened with, beside its query and the tools there are."""

    limits: Limits
    catalogue: str
    """Content hash of the tool catalogue."""
    offer: OfferBounds = OfferBounds()
    is_catalogue_missing: bool = False
    models: tuple[str, ...] = ()
    """Of the deployment, in the order they are asked in."""
    conversation: tuple[Turn, ...] = ()
    """Earlier turns of the query's conversation, the oldest first."""
    grant: GrantCheck = BELIEVED


@dataclass(frozen=True, slots=True)
class Logged:
    """An event of the session's log, that a decision on another one needs."""

    entry: LogEntry
    event: AnyEvent


@dataclass(frozen=True)
class Decision:
    """The session as it is now, and what has to happen. The n-th command's id is derived from the event's."""

    session: Session
    commands: tuple[EventData, ...] = ()
    timers: tuple[SetTimer | CancelTimer, ...] = ()
    closes: bool = False
    stops_work: bool = False
    """Whether what engines and dispatchers do for the session is to be dropped."""
    answer: Response | None = None
    """That of a session that is ended without having been opened."""
    alone: str = ""
    """Why the coordinator answers by itself, in a sentence; empty where it does not. See `alone.py`."""
    sends: tuple[Send, ...] = ()
    """Events of other sessions."""
    unless_answered: bool = False
    """Whether it holds only where there is no answer yet; a session that has one is closed instead."""

    def in_format(self, format: int) -> "Decision":
        """Return the decision as a release of `format` reads it; the session itself, where that is all the same."""
        if format >= formats.FORMAT:
            return self
        return replace(
            self,
            session=document.in_format(self.session, format),
            commands=tuple(formats.in_format(command, format) for command in self.commands),
        )

    def telling(self, *events: EventData) -> "Decision":
        """The decision with more for the log, behind its own commands, whose ids stay as they are."""
        return replace(self, commands=(*self.commands, *events)) if events else self
