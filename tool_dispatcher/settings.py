"""Settings of the tool dispatcher: `ANTIPHON_TOOL_DISPATCHER_<NAME>`."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from shared.settings import Settings


class ToolDispatcherSettings(Settings):
    """The dispatcher's own bounds."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_TOOL_DISPATCHER_")
    section = "tool_dispatcher"

    concurrency: int = Field(default=64, ge=1, le=10_000, description="Batches in hand at once.")
    batch_concurrency: int = Field(default=8, ge=1, le=1_000, description="Calls of one batch run at once.")
    threads: int = Field(default=16, ge=1, le=1_000, description="Threads that run plain functions.")
    result_bytes_max: int = Field(
        default=200_000, ge=1_000, le=10_000_000, description="Bytes of one call's result, as JSON."
    )
    catalogue_interval_s: float = Field(
        default=10.0, ge=0.1, le=3_600, description="Seconds between publications of the catalogue."
    )
