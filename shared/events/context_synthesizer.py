"""What the context synthesizer says."""

from typing import ClassVar

from shared.briefing import Outline
from shared.events.base import Component, EventData
from shared.values import Round


class BriefingReady(EventData):
    """The round's briefing is rebuilt; its text stands in the session's document for it."""

    type: ClassVar[str] = "antiphon.briefing.ready.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    briefing: Outline
