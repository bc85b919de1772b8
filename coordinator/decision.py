"""The inputs of a decision besides the session, and the decision itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from antiphon_shared import formats
from antiphon_shared.breakers.outages import NO_OUTAGES, Outages
from antiphon_shared.bus.handling import CancelTimer, Send, SetTimer
from antiphon_shared.events import AnyEvent, EventData
from antiphon_shared.events.session import Limits, Response, Turn
from antiphon_shared.output.schema import OutputSchema
from antiphon_shared.tools.calls import Catalogue, ToolCall
from antiphon_shared.values import LogEntry

from coordinator import document
from coordinator.session import Session
from coordinator.session_parts import replace


@dataclass(frozen=True, slots=True)
class OfferBounds:
    """Bounds on the number of tools that a model is offered."""

    all_max: int = 30
    """Up to this number, all tools are offered."""
    subset: int = 8
    """The number of tools offered in addition to the pinned ones, if there are more."""


@dataclass(frozen=True, slots=True)
class GrantCheck:
    """The result of verifying a session's grant when the session is opened."""

    problem: str = ""
    """The reason of a refusal, as a sentence that begins with `it`; empty if the grant is not refused."""
    is_ignored: bool = False
    """Whether the grant has no effect, because there was no key to verify it."""


GRANT_ACCEPTED = GrantCheck()
"""The check of a verified grant, or of a session without a grant."""
GRANT_IGNORED = GrantCheck(is_ignored=True)


@dataclass(frozen=True, slots=True)
class Opening:
    """The values that a session is opened with, in addition to its query and the tools."""

    limits: Limits
    catalogue: str
    """Content hash of the tool catalogue."""
    offer: OfferBounds = OfferBounds()
    is_catalogue_missing: bool = False
    is_too_late_for_tools: bool = False
    """Whether the query waited for a dispatcher until its deadline."""
    models: tuple[str, ...] = ()
    """The deployment's models, in the order in which they are asked."""
    conversation: tuple[Turn, ...] = ()
    """Earlier turns of the query's conversation, the oldest first."""
    grant: GrantCheck = GRANT_ACCEPTED
    cancelled_because: str | None = None
    """The reason why the query was cancelled before its session was opened, maybe empty; None if it was not."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event of the session's log, which a decision on another event needs."""

    entry: LogEntry
    event: AnyEvent


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of a decision besides the session and the event."""

    catalogue: Catalogue
    """The session's own catalogue; empty if it has expired."""
    outages: Outages = NO_OUTAGES
    needed: LoggedEvent | None = None
    """The event that lookup.py reads, if the log still holds it."""
    earlier: Mapping[str, ToolCall] = field(default_factory=dict)
    """The calls that a reply repeats: see repetitions.py."""
    schema: OutputSchema | None = None
    """The schema that the reply must fit if it is the answer."""
    is_served: bool = True
    """Whether a dispatcher is running; see dispatchers.py."""


@dataclass(frozen=True)
class Decision:
    """The session after an event, and the effects to commit. A command's id is derived from the event's id."""

    session: Session
    commands: tuple[EventData, ...] = ()
    timers: tuple[SetTimer | CancelTimer, ...] = ()
    closes: bool = False
    stops_work: bool = False
    """Whether engines and dispatchers should drop their work for the session."""
    answer: Response | None = None
    """The answer of a session that ends without having been opened."""
    own_answer_reason: str = ""
    """The reason why the coordinator answers by itself, as a sentence; empty if it does not. See own_answer.py."""
    sends: tuple[Send, ...] = ()
    """Events of other sessions."""
    unless_answered: bool = False
    """Whether a session that has an answer by now is closed, in place of this decision."""

    def in_format(self, format: int) -> "Decision":
        """Return the decision in the form that a release of `format` reads; the same object if nothing changes."""
        if format >= formats.FORMAT:
            return self
        return replace(
            self,
            session=document.in_format(self.session, format),
            commands=tuple(formats.in_format(command, format) for command in self.commands),
        )

    def with_events(self, *events: EventData) -> "Decision":
        """Return the decision with more events for the log, after its own commands, whose ids stay the same."""
        return replace(self, commands=(*self.commands, *events)) if events else self
