"""Events of the context synthesizer."""

from typing import ClassVar

from pydantic import Field

from antiphon_shared.events.base import Component, EventData
from antiphon_shared.memory.briefing import Outline
from antiphon_shared.values import Round, Value


class ToSummarize(Value):
    """Facts that no longer fit into the briefing, for a model to summarize."""

    source: str = Field(
        description="Digest of the text to shorten, which stands in a document of the session."
    )
    facts: tuple[str, ...] = Field(description="Ids of the facts in it; neighbours as `F3-F9`.")
    tokens: int = Field(ge=1, description="Of the text, estimated.")
    tokens_max: int = Field(ge=1, description="Of the summary.")


class BriefingReady(EventData):
    """The round's briefing is rebuilt; its text stands in the session's document for it."""

    type: ClassVar[str] = "antiphon.briefing.ready.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    briefing: Outline
    to_summarize: ToSummarize | None = Field(
        default=None, description="What is better summarized, if a model is there for it."
    )
    salience: dict[str, float] = Field(
        default={},
        description="Of the facts filed for it, and of the closest filed before, what embeddings have made of it: a"
        " replay's input.",
    )
    summary_refused: str = Field(
        default="", description="Why the summary that came with the request is not used; empty when it is."
    )
