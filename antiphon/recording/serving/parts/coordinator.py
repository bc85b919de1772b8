"""The coordinator of a rerun."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from antiphon.recording.serving.parts.part import Part, at_its_time
from antiphon.recording.serving.score import Score
from coordinator.handlers import Coordinator
from coordinator.session import OfferBounds
from coordinator.settings import CoordinatorSettings
from shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from shared.bus.redis_bus import Bus
from shared.conversation import OpenTurn, Said
from shared.events import (
    AnyEvent,
    ApprovalDecided,
    AssemblyOverdue,
    BriefingReady,
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    ModelDue,
    OutagesSeen,
    PersonOverdue,
    QuerySubmitted,
    QuestionAnswered,
    ReasoningCompleted,
    ReasoningFailed,
    ResponseReady,
    SummaryCompleted,
    SummaryFailed,
    ToolsCompleted,
)
from shared.outages import NO_OUTAGES
from shared.session import Turn
from shared.tools import Catalogue


class CoordinatorPart(Part):
    """Decides at the times of then, knows the outages of then, and sets no timers: what they tell is told it."""

    name = "coordinator"
    kinds = (
        QuerySubmitted,
        BriefingReady,
        ReasoningCompleted,
        ReasoningFailed,
        SummaryCompleted,
        SummaryFailed,
        ToolsCompleted,
        ResponseReady,
        ComponentFailed,
        CancellationRequested,
        ApprovalDecided,
        DeadlineReached,
        AssemblyOverdue,
        QuestionAnswered,
        PersonOverdue,
        ModelDue,
    )

    def __init__(self, bus: Bus, scores: Mapping[str, Score]) -> None:
        super().__init__(bus, scores)
        self._locks = {id: asyncio.Lock() for id in scores}
        self._outages = dict.fromkeys(scores, NO_OUTAGES)
        self._latest = {id: score.query.time for id, score in scores.items()}

    def handlers(self, score: Score) -> Handlers:
        id, opened, defaults = score.session_id, score.opened, CoordinatorSettings.model_construct()

        async def current_catalogue() -> str | None:
            return opened.catalogue or None if opened else None

        async def catalogue(content_hash: str) -> Catalogue:
            return score.catalogue(content_hash)

        return Coordinator(
            limits=opened.limits if opened else defaults.limits(0, defaults.deadline_s),
            catalogue_wait_s=0,
            current_catalogue=current_catalogue,
            catalogue=catalogue,
            offer=OfferBounds(opened.tools_offered_all_max, opened.tools_offered) if opened else None,
            models=opened.models if opened else (),
            outages=lambda: self._outages[id],
            turns=_RecordedTurns(opened.conversation if opened else ()),
        ).handlers

    async def play(self, delivery: Delivery, session: SessionStore) -> Outcome:
        return replace(await super().play(delivery, session), timers=())

    async def never_end(self, score: Score, delivery: Delivery, session: SessionStore) -> None:
        """It ends: that nothing came of an event is a decision."""

    def alone(self, session_id: str) -> asyncio.Lock:
        return self._locks[session_id]

    def before(self, score: Score, event: AnyEvent) -> None:
        if (seen := score.output(event.id, OutagesSeen)) is not None:
            self._outages[score.session_id] = seen.outages

    def as_then(self, score: Score, event: AnyEvent) -> AnyEvent:
        then = at_its_time(score, event, self._latest[score.session_id])
        self._latest[score.session_id] = then.time
        return then


def build(bus: Bus, scores: Mapping[str, Score], model_url: str) -> Part:
    return CoordinatorPart(bus, scores)


class _RecordedTurns:
    """The conversation that a session went on, as it was when it was opened; nothing is added to it."""

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self._turns = turns

    async def said(self, tenant: str, conversation: str, at: datetime | None = None) -> Said:
        return Said(turns=self._turns)

    async def begin(self, tenant: str, conversation: str, turn: OpenTurn) -> None:
        """Not kept."""

    async def begun(self, tenant: str, conversation: str, session_id: str) -> OpenTurn | None:
        return None

    async def keep(self, tenant: str, conversation: str, turn: Turn) -> None:
        """Not kept."""
