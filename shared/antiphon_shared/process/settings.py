"""Settings, which are read once from the environment, and refused if unknown or out of range.

Every setting is `ANTIPHON_<NAME>` or `ANTIPHON_<SECTION>_<NAME>`; a section is a component, `bus`, `breaker`,
`recording` or `recipes`.
"""

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError
from pydantic_settings import PydanticBaseSettingsSource as Source

from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.process.clock import milliseconds
from antiphon_shared.process.errors import ConfigurationError

SECTIONS: tuple[str, ...] = (*COMPONENTS, "bus", "breaker", "recording", "recipes")

SettingsT = TypeVar("SettingsT", bound="Settings")


class Settings(BaseSettings):
    """The base of every group of settings, which are read only from environment variables."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)
    section: ClassVar[str] = ""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: Source,
        env_settings: Source,
        dotenv_settings: Source,
        file_secret_settings: Source,
    ) -> tuple[Source, ...]:
        """Return the sources to read. Without the two kinds of files, reading takes a third less time."""
        return init_settings, env_settings


def comma_list(what: str, pattern: str) -> tuple[Any, ...]:
    """Return the annotations of a setting that is a comma list.

    They make `tuple[str, ...]` a list of entries like `pattern`:

        scopes: Annotated[tuple[str, ...], *comma_list("a scope", r"[a-z]+")]

    A single comma is the empty list, as an empty variable counts as not set.
    """

    def read(value: object) -> object:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, Iterable):
            return value
        entries = [str(entry).strip() for entry in parts]
        for entry in filter(None, entries):
            if not re.fullmatch(pattern, entry):
                raise ValueError(
                    f"{entry[:100]!r} is not {what}; use a comma list whose entries match {pattern}"
                )
        return tuple(dict.fromkeys(filter(None, entries)))

    return NoDecode, BeforeValidator(read)


class PipelineSettings(Settings):
    """The settings that all processes of one deployment share: `ANTIPHON_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_")

    redis_url: SecretStr | None = Field(
        default=None,
        description="Address of Redis: `redis://USER:PASSWORD@HOST:PORT/DB`, several HOST:PORT for a "
        "cluster, `redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/SERVICE/DB` for "
        "sentinels; `rediss://` and `rediss+sentinel://` use TLS. Components use "
        "`redis://localhost:6379/0` by default.",
    )
    redis_tls_ca: str = Field(
        default="",
        description="PEM file of the certificate authorities for Redis's certificate. When empty, "
        "the system's authorities.",
    )
    redis_tls_cert: str = Field(
        default="",
        description="PEM file of the client certificate of this process for Redis.",
    )
    redis_tls_key: str = Field(default="", description="PEM file of the client certificate's private key.")
    namespace: str = Field(
        default="antiphon", pattern=r"^[A-Za-z0-9_.-]{1,64}$", description="Prefix of every Redis key."
    )
    partitions: int = Field(
        default=1,
        ge=1,
        le=1024,
        description="Number of partitions for sessions; never change it on a running deployment.",
    )
    tools: str = Field(
        default="",
        description="Comma list of Python modules with tools, `package.module` or "
        "`package.module:attribute`, for the dispatcher.",
    )
    workflows: Annotated[tuple[str, ...], *comma_list("a path", r"[^?*]+")] = Field(
        default=(),
        description="Comma list of workflow files, or folders of workflow files, that coordinators "
        "publish at start-up; see docs/workflows.md. Set it to the same value for all "
        "coordinators.",
    )
    model: str = Field(
        default="claude-sonnet-5-5",
        description="Id of the model. The coordinator uses it to choose: set it to the same value "
        "for all components.",
    )
    models: Annotated[tuple[str, ...], *comma_list("a model id", r"[A-Za-z0-9._:/@-]{1,200}")] = Field(
        default=(),
        description="Comma list of fallback model ids, in order of preference, used while "
        "ANTIPHON_MODEL is unavailable. Set it where coordinators run.",
    )
    signing_key: SecretStr | None = Field(
        default=None,
        description="Key that signs every message, at least 16 bytes, the same for all processes and "
        "clients. In a comma list, the first key signs and all keys verify.",
    )
    log_level: str = Field(
        default="info",
        pattern=r"^(debug|info|warning|error)$",
        description="Minimum severity of log lines.",
    )
    log_format: Literal["auto", "json", "text"] = Field(
        default="auto",
        description="Format of logs: `auto` is text on a terminal, and one JSON object per line elsewhere.",
    )
    faults: str = Field(
        default="",
        description="Development only: injected faults, such as `commit.before:kill@3`; see "
        "docs/reliability.md.",
    )
    faults_allowed: str = Field(
        default="",
        description="Required value `yes-this-is-no-production` when ANTIPHON_FAULTS is set.",
    )


class BusSettings(Settings):
    """The settings of message delivery: `ANTIPHON_BUS_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_BUS_")
    section = "bus"

    lease_s: float = Field(
        default=20.0,
        ge=0.2,
        le=600,
        description="Seconds without a sign of life after which a worker's deliveries, write claims and slots are "
        "taken over. The watchdog's limit and the coordinator's wait for the assembler are multiples of it.",
    )
    max_deliveries: int = Field(
        default=5,
        ge=2,
        le=100,
        description="Maximum number of deliveries of a message; then it becomes a dead letter.",
    )
    max_attempts: int = Field(
        default=5,
        ge=1,
        le=100,
        description="Maximum number of handler failures for a message; then it becomes a dead letter.",
    )
    retry_delay_s: float = Field(
        default=0.5,
        ge=0.01,
        le=600,
        description="Delay before the first retry of a failed handler; it doubles with each retry.",
    )
    retention_s: float = Field(
        default=172_800,
        ge=1,
        le=31_536_000,
        description="Seconds that the data of a session is kept after its last change. Deadlines are "
        "limited to half of it. A client's value counts for what it stores itself: cancellations of queued queries "
        "(2 days at least), imported sessions, published workflows.",
    )
    feed_length: int = Field(
        default=10_000,
        ge=0,
        le=10_000_000,
        description="Approximate maximum number of entries in a partition's live feed.",
    )
    responses_length: int = Field(
        default=100_000,
        ge=1,
        le=100_000_000,
        description="Approximate maximum number of entries in a partition's stream of responses.",
    )
    dead_length: int = Field(
        default=10_000,
        ge=1,
        le=10_000_000,
        description="Approximate maximum number of dead letters in a partition.",
    )
    max_open_sessions: int = Field(
        default=32,
        ge=1,
        le=10_000_000,
        description="Maximum number of open sessions per partition; further queries wait, and "
        "tenants take turns. Set it to about twice the engines' concurrency: see "
        "docs/overload.md.",
    )
    max_waiting_sessions: int = Field(
        default=20_000,
        ge=1,
        le=10_000_000,
        description="Maximum number of waiting queries per partition; further queries are rejected "
        "as `overloaded`, except those of tenants below their share.",
    )
    wait_replicas: int = Field(
        default=0,
        ge=0,
        le=16,
        description="Number of Redis replicas that must confirm the claim of a write before its call "
        "starts; see docs/operations.md. Set it where dispatchers run.",
    )
    wait_replicas_timeout_s: float = Field(
        default=1.0,
        ge=0.01,
        le=8,
        description="Seconds to wait for these replicas; then the call does not start.",
    )
    unsigned_queries: bool = Field(
        default=False,
        description="Accept unsigned submissions even if ANTIPHON_SIGNING_KEY is set.",
    )
    max_event_bytes: int = Field(
        default=4_000_000, ge=10_000, le=100_000_000, description="Maximum size of an event, in bytes."
    )
    recording: bool = Field(
        default=True,
        description="Store the data that a replay needs with each session: prompts and replies in "
        "their wire form, and the changes of each decision.",
    )

    @cached_property
    def retention_ms(self) -> int:
        """Return the retention in milliseconds, for Redis."""
        return milliseconds(self.retention_s)

    @property
    def deadline_max_s(self) -> float:
        """Return the longest deadline of a query, in seconds, as its session must be stored beyond it."""
        return 0.5 * self.retention_s


def load(kind: type[SettingsT]) -> SettingsT:
    """Return the settings of one kind. Raises ConfigurationError, which names the variable and the remedy."""
    prefix = str(kind.model_config.get("env_prefix", ""))
    _refuse_unknown(prefix, kind)
    try:
        return kind()
    except ValidationError as error:
        problems = [f"{_variable(prefix, fault['loc'])}: {fault['msg']}" for fault in error.errors()]
        raise ConfigurationError("; ".join(problems) + ".", hint=_HINT) from None
    except SettingsError as error:
        match = re.search(r'field "(\w+)"', str(error))
        variable = prefix + (match[1].upper() if match else "*")
        raise ConfigurationError(f"{variable}: not JSON.", hint=_HINT) from None


def _refuse_unknown(prefix: str, kind: type[Settings]) -> None:
    variables = {prefix + name.upper() for name in kind.model_fields}
    others = tuple(f"ANTIPHON_{section.upper()}_" for section in SECTIONS if section != kind.section)
    for variable in os.environ:
        if variable.startswith(prefix) and variable not in variables and not variable.startswith(others):
            nearest = get_close_matches(variable, variables, n=1)
            suggestion = f"Did you mean {nearest[0]}? " if nearest else ""
            raise ConfigurationError(f"{variable} is not a setting.", hint=f"{suggestion}{_HINT}")
        if variable in variables and not _is_text(os.environ[variable]):
            raise ConfigurationError(f"{variable}: not UTF-8 text.", hint=_HINT)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _variable(prefix: str, location: tuple[int | str, ...]) -> str:
    """Return the variable of an error, or the group if the error concerns several variables."""
    return prefix + (str(location[0]).upper() if location else "*")


_HINT = "`antiphon settings` lists every setting."
