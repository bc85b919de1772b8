"""What the context synthesizer says."""

from typing import ClassVar

from shared.briefing import Briefing
from shared.events.base import Component, EventData
from shared.values import Round


class BriefingReady(EventData):
    """The round's briefing, rebuilt; later events name it by its log entry."""

    type: ClassVar[str] = "antiphon.briefing.ready.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    briefing: Briefing
