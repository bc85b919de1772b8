"""Settings of the context synthesizer: `ANTIPHON_CONTEXT_SYNTHESIZER_<NAME>`."""

import re

from antiphon_shared.process.settings import Settings
from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

_PATH = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class ContextSynthesizerSettings(Settings):
    """Bounds on briefings and memories, and the choice of embeddings."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_CONTEXT_SYNTHESIZER_")
    section = "context_synthesizer"

    concurrency: int = Field(default=128, ge=1, le=10_000, description="Messages in hand at once.")
    embeddings: str = Field(
        default="",
        description="`minilm`, the built-in model of the extra `embeddings`; or `package.module:function`, an async"
        " function from texts to vectors. Words alone when empty.",
    )
    briefing_tokens: int = Field(
        default=8_000,
        ge=500,
        le=1_000_000,
        description="Estimated tokens of a briefing at most; a longer question is kept whole, alone.",
    )
    memory_bytes_max: int = Field(
        default=4_000_000,
        ge=10_000,
        le=1_000_000_000,
        description="Bytes of facts a session's memory keeps; what comes later is not kept, and said so.",
    )

    @field_validator("embeddings")
    @classmethod
    def _names_a_function(cls, path: str) -> str:
        if path and path != "minilm" and not _PATH.fullmatch(path):
            raise ValueError(
                "say minilm, name a function as package.module:function, or leave the setting out"
            )
        return path
