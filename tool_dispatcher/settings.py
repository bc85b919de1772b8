"""Settings of the tool dispatcher: `ANTIPHON_TOOL_DISPATCHER_<NAME>`."""

from typing import Annotated

from antiphon_shared.process.environment import load_environment
from antiphon_shared.process.settings import Settings, comma_list
from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

Scopes = Annotated[tuple[str, ...], *comma_list("a scope", r"[a-zA-Z0-9_.:/-]{1,100}")]
ToolNames = Annotated[tuple[str, ...], *comma_list("a tool's name or *", r"\*|[a-zA-Z0-9_-]{1,64}")]
VariableNames = Annotated[
    tuple[str, ...], *comma_list("the name of a variable", "[A-Za-z_][A-Za-z0-9_]{0,199}")
]


class ToolDispatcherSettings(Settings):
    """The dispatcher's own bounds."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_TOOL_DISPATCHER_")
    section = "tool_dispatcher"

    concurrency: int = Field(default=64, ge=1, le=10_000, description="Batches in hand at once.")
    batch_concurrency: int = Field(default=25, ge=1, le=1_000, description="Calls of one batch run at once.")
    threads: int = Field(default=16, ge=1, le=1_000, description="Threads that run plain functions.")
    result_bytes_max: int = Field(
        default=200_000, ge=1_000, le=10_000_000, description="Bytes of one call's result, as JSON."
    )
    catalogue_interval_s: float = Field(
        default=10.0, ge=0.1, le=3_600, description="Seconds between publications of the catalogue."
    )
    calls_max: int = Field(
        default=256, ge=1, le=100_000, description="Calls under way at once, of all batches of the process."
    )
    collapse_above: int = Field(
        default=3,
        ge=1,
        le=10_000,
        description="More calls of one tool in a batch than this become one call of its batch variant.",
    )
    stored_result_bytes_max: int = Field(
        default=10_000_000,
        ge=1_000,
        le=100_000_000,
        description="Bytes of a result that is kept whole where only its beginning is shown.",
    )
    cache: bool = Field(
        default=True,
        description="Whether reads are answered from the cache where their contracts allow it.",
    )
    default_scopes: Scopes = Field(
        default=("read",),
        description="Comma list: what a session without a grant may do; a single comma for nothing.",
    )
    grant_key_file: str = Field(
        default="",
        description="PEM file of the public keys that verify grants; without one no grant is accepted.",
    )
    approval: ToolNames = Field(
        default=(),
        description="Comma list of tools whose every call a person has to approve; `*` for all.",
    )
    approval_after_untrusted: bool = Field(
        default=False,
        description="Whether a person has to approve every write once a tool that is open to the world has "
        "brought something into the session.",
    )
    hints: str = Field(
        default="",
        description="YAML or JSON file, or a JSON object itself, with hints for models on which tool a call requires "
        "and which comes next. Read at the start; set it alike for all dispatchers.",
    )
    secrets: VariableNames = Field(
        default=(),
        description="Comma list of environment variables whose values must not be seen, as a tool's API key.",
    )

    sql_concurrency: int = Field(
        default=2,
        ge=1,
        le=100,
        description="SQL queries of workflows run at once, each in a process of its own.",
    )
    sql_cpu_s: int = Field(
        default=10, ge=1, le=600, description="Seconds of CPU time that a SQL query may use."
    )
    sql_memory_mb: int = Field(
        default=256, ge=64, le=16_384, description="MiB of memory that DuckDB may use for a SQL query."
    )
    sql_rows_max: int = Field(
        default=100_000, ge=1, le=10_000_000, description="Rows that a SQL query may return."
    )

    @field_validator("secrets")
    @classmethod
    def _set(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """A name that is mistyped would leave the secret unguarded."""
        for name in names:
            if load_environment(name) is None:
                raise ValueError(f"{name} is not set; set it, or take it off the list")
        return names
