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
    """The limits, permissions and secrets of a tool dispatcher."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_TOOL_DISPATCHER_")
    section = "tool_dispatcher"

    concurrency: int = Field(
        default=64, ge=1, le=10_000, description="Maximum number of batches in flight per process."
    )
    batch_concurrency: int = Field(
        default=25, ge=1, le=1_000, description="Maximum number of concurrent calls of one batch."
    )
    threads: int = Field(
        default=16, ge=1, le=1_000, description="Number of threads that run plain functions."
    )
    result_bytes_max: int = Field(
        default=200_000,
        ge=1_000,
        le=10_000_000,
        description="Maximum size of a call's result as JSON, in bytes.",
    )
    catalogue_interval_s: float = Field(
        default=10.0, ge=0.1, le=3_600, description="Seconds between publications of the catalogue."
    )
    calls_max: int = Field(
        default=256,
        ge=1,
        le=100_000,
        description="Maximum number of concurrent calls in the process, over all batches.",
    )
    collapse_above: int = Field(
        default=3,
        ge=1,
        le=10_000,
        description="Maximum number of separate calls of one tool in a batch; more calls are merged "
        "into one call of its batch variant.",
    )
    stored_result_bytes_max: int = Field(
        default=10_000_000,
        ge=1_000,
        le=100_000_000,
        description="Maximum size of a stored result of which the model sees only the beginning, in bytes.",
    )
    cache: bool = Field(
        default=True,
        description="Answer reads from the cache if their contracts allow it.",
    )
    default_scopes: Scopes = Field(
        default=("read",),
        description="Comma list of the scopes of a session without a grant; a single comma means no scopes.",
    )
    grant_key_file: str = Field(
        default="",
        description="PEM file of the public keys that verify grants; without it, no grant is accepted.",
    )
    approval: ToolNames = Field(
        default=(),
        description="Comma list of tools whose calls a person must approve; `*` for all tools.",
    )
    approval_after_untrusted: bool = Field(
        default=False,
        description="Require a person's approval for every write after an open-world tool has "
        "returned content to the session.",
    )
    hints: str = Field(
        default="",
        description="YAML or JSON file, or a JSON object, with hints for models: the tools to call "
        "before and after each tool. It is read at start-up; set it to the same value "
        "for all dispatchers.",
    )
    secrets: VariableNames = Field(
        default=(),
        description="Comma list of environment variables with secret values, such as a tool's API "
        "key, which are masked in results and logs.",
    )

    sql_concurrency: int = Field(
        default=2,
        ge=1,
        le=100,
        description="Maximum number of concurrent SQL queries of workflows; each runs in its own process.",
    )
    sql_cpu_s: int = Field(
        default=10, ge=1, le=600, description="Maximum CPU time of an SQL query, in seconds."
    )
    sql_memory_mb: int = Field(
        default=256, ge=64, le=16_384, description="Maximum memory of DuckDB for an SQL query, in MiB."
    )
    sql_rows_max: int = Field(
        default=100_000, ge=1, le=10_000_000, description="Maximum number of rows that an SQL query returns."
    )

    @field_validator("secrets")
    @classmethod
    def _set(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse names of unset variables: a mistyped name would leave the secret unmasked."""
        for name in names:
            if load_environment(name) is None:
                raise ValueError(f"{name} is not set; set it, or remove it from the list")
        return names
