"""Settings of the response assembler: `ANTIPHON_RESPONSE_ASSEMBLER_<NAME>`."""

from antiphon_shared.process.settings import Settings
from pydantic import Field
from pydantic_settings import SettingsConfigDict


class ResponseAssemblerSettings(Settings):
    """The limits of a response assembler."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_RESPONSE_ASSEMBLER_")
    section = "response_assembler"

    concurrency: int = Field(
        default=128, ge=1, le=10_000, description="Maximum number of messages in flight per process."
    )
