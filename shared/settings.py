"""Settings: read once from the environment, typed, and refused when unknown or out of range.

Every setting is `ANTIPHON_<NAME>` or `ANTIPHON_<SECTION>_<NAME>`, a section being a component or `bus`.
"""

import os
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from shared.errors import ConfigurationError
from shared.events.base import COMPONENTS

SECTIONS: tuple[str, ...] = (*COMPONENTS, "bus")

SettingsT = TypeVar("SettingsT", bound="Settings")


class Settings(BaseSettings):
    """What every group of settings is: frozen, from environment variables alone."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)
    section: ClassVar[str] = ""


class PipelineSettings(Settings):
    """What all processes of one deployment share: `ANTIPHON_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_")

    redis_url: SecretStr | None = Field(
        default=None,
        description="redis:// or rediss:// address; `redis://localhost:6379/0` when a component starts without.",
    )
    namespace: str = Field(
        default="antiphon", pattern=r"^[A-Za-z0-9_.-]{1,64}$", description="First part of every Redis key."
    )
    partitions: int = Field(
        default=1,
        ge=1,
        le=1024,
        description="Parts the sessions are spread over; never change it on a running deployment.",
    )
    tools: str = Field(
        default="",
        description="Comma list of `package.module` or `package.module:attribute` the dispatcher imports.",
    )
    model: str = Field(default="claude-sonnet-5-5", description="Model id the reasoning engine uses.")
    log_level: str = Field(
        default="info",
        pattern=r"^(debug|info|warning|error)$",
        description="Least severe line that is logged.",
    )


class BusSettings(Settings):
    """How messages are handed over: `ANTIPHON_BUS_<NAME>`."""

    model_config = SettingsConfigDict(env_prefix="ANTIPHON_BUS_")
    section = "bus"

    lease_s: float = Field(
        default=20.0,
        ge=0.2,
        le=600,
        description="Seconds a worker may be silent before its deliveries are taken over.",
    )
    max_deliveries: int = Field(
        default=5, ge=2, le=100, description="Deliveries of one message before it becomes a dead letter."
    )
    max_attempts: int = Field(
        default=5,
        ge=1,
        le=100,
        description="Failures of a handler at one message before it becomes a dead letter.",
    )
    retry_delay_s: float = Field(
        default=0.5,
        ge=0.01,
        le=600,
        description="Delay before the first retry of a failed handler; doubles each time.",
    )
    retention_s: float = Field(
        default=86_400,
        ge=1,
        le=31_536_000,
        description="Seconds what belongs to a session is kept after its last change.",
    )
    feed_length: int = Field(
        default=10_000, ge=0, le=10_000_000, description="Entries of a partition's live feed, about."
    )
    responses_length: int = Field(
        default=100_000,
        ge=1,
        le=100_000_000,
        description="Entries of a partition's stream of responses, about.",
    )
    dead_length: int = Field(
        default=10_000, ge=1, le=10_000_000, description="Dead letters a partition keeps, about."
    )
    max_open_sessions: int = Field(
        default=1_000,
        ge=1,
        le=10_000_000,
        description="Sessions open at once per partition; further queries wait in the queue.",
    )
    max_event_bytes: int = Field(
        default=4_000_000, ge=10_000, le=100_000_000, description="Bytes of one event at most."
    )


def load(kind: type[SettingsT]) -> SettingsT:
    """The settings of one kind. Raises ConfigurationError that names the variable and the way out."""
    prefix = str(kind.model_config.get("env_prefix", ""))
    _refuse_unknown(prefix, kind)
    try:
        return kind()
    except ValidationError as error:
        faults = [f"{prefix}{str(fault['loc'][0]).upper()}: {fault['msg']}" for fault in error.errors()]
        raise ConfigurationError(
            "; ".join(faults) + ".", hint="`antiphon settings` lists every setting."
        ) from None


def load_environment(name: str) -> str | None:
    """One variable that is not ours to name, such as ANTHROPIC_API_KEY; None when unset or empty."""
    return os.environ.get(name) or None


def variables(kind: type[Settings]) -> list[tuple[str, str, str, str]]:
    """(variable, type and range, default, description) of each setting, for the generated table."""
    prefix = str(kind.model_config.get("env_prefix", ""))
    rows = []
    for name, info in kind.model_fields.items():
        annotation = info.annotation
        words = [getattr(part, "__name__", str(part)) for part in get_args(annotation) or (annotation,)]
        bounds = [_bound(rule) for rule in info.metadata]
        kind_of = " ".join([" or ".join(word for word in words if word != "NoneType"), *filter(None, bounds)])
        default = "" if info.default is None else str(info.default)
        rows.append(
            (prefix + name.upper(), kind_of.replace("SecretStr", "str"), default, info.description or "")
        )
    return rows


def _refuse_unknown(prefix: str, kind: type[Settings]) -> None:
    known = {prefix + name.upper() for name in kind.model_fields}
    others = tuple(f"ANTIPHON_{section.upper()}_" for section in SECTIONS if section != kind.section)
    for variable in os.environ:
        if variable.startswith(prefix) and variable not in known and not variable.startswith(others):
            raise ConfigurationError(
                f"{variable} is not a setting.", hint="`antiphon settings` lists every setting."
            )


def _bound(rule: Any) -> str:
    for attribute, sign in (("ge", ">="), ("gt", ">"), ("le", "<="), ("lt", "<"), ("pattern", "")):
        value = getattr(rule, attribute, None)
        if value is not None:
            return f"{sign} {value}".strip()
    return ""
