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

    concurrency: int = Field(
        default=128, ge=1, le=10_000, description="Maximum number of messages in flight per process."
    )
    embeddings: str = Field(
        default="",
        description="Embeddings of facts: `minilm`, the built-in model of the extra `embeddings`, or "
        "`package.module:function`, an async function from texts to vectors. When empty, "
        "facts are ranked by words only.",
    )
    briefing_tokens: int = Field(
        default=8_000,
        ge=500,
        le=1_000_000,
        description="Maximum size of a briefing, in estimated tokens. A longer question is kept "
        "whole and takes the whole briefing.",
    )
    memory_bytes_max: int = Field(
        default=4_000_000,
        ge=10_000,
        le=1_000_000_000,
        description="Maximum size of the facts in a session's memory, in bytes. Later facts are "
        "dropped, and the answer reports it.",
    )

    @field_validator("embeddings")
    @classmethod
    def _names_a_function(cls, path: str) -> str:
        if path and path != "minilm" and not _PATH.fullmatch(path):
            raise ValueError("use minilm, name a function as package.module:function, or omit the setting")
        return path
