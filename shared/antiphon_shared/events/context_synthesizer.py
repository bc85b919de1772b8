"""Events of the context synthesizer."""

from typing import ClassVar

from pydantic import Field

from antiphon_shared.events.base import Component, EventData
from antiphon_shared.memory.briefing import Outline
from antiphon_shared.values import Round, Value


class ToSummarize(Value):
    """Facts that no longer fit into the briefing, for a model to summarize."""

    source: str = Field(description="Digest of the text to shorten, which is in a document of the session.")
    facts: tuple[str, ...] = Field(description="Ids of the facts in it; neighbours as `F3-F9`.")
    tokens: int = Field(ge=1, description="Estimated number of tokens of the text.")
    tokens_max: int = Field(ge=1, description="Maximum number of tokens of the summary.")


class BriefingReady(EventData):
    """The round's briefing is rebuilt; its text is in the session's document for it."""

    type: ClassVar[str] = "antiphon.briefing.ready.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    briefing: Outline
    to_summarize: ToSummarize | None = Field(
        default=None, description="Text that a model should summarize, if one is available."
    )
    salience: dict[str, float] = Field(
        default={},
        description="Salience from embeddings of the newly filed facts and of the closest earlier "
        "facts; an input of replays.",
    )
    summary_refused: str = Field(
        default="", description="Reason why the summary of the request is not used; empty when it is used."
    )
