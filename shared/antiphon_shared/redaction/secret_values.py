"""The secrets in this process's environment: passwords, keys, and variables that an operator names."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote

from pydantic import SecretStr

from antiphon_shared.process.environment import load_environment

if TYPE_CHECKING:  # the settings are a large import, and commands without any need this module too
    from antiphon_shared.process.settings import Settings

ALWAYS_SECRET = (
    "ANTIPHON_REDIS_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
)
NAMES_VARIABLE = "ANTIPHON_TOOL_DISPATCHER_SECRETS"
"""The variable with the names of further variables, for instance of a tool's API key."""


def secret_values(*groups: "Settings") -> tuple[str, ...]:
    """Return the values that a Redactor searches for. Of an address only its password is secret.

    They come from the environment, and from the secret settings in `groups`, which may have another source. A
    named variable that is not set is skipped, as not every process has every secret.
    """
    values = [load_environment(name) or "" for name in ALWAYS_SECRET]
    for group in groups:
        settings = (getattr(group, name) for name in type(group).model_fields)
        values += [setting.get_secret_value() for setting in settings if isinstance(setting, SecretStr)]
    # each key of a comma list
    values += (load_environment("ANTIPHON_SIGNING_KEY") or "").split(",")
    names = (load_environment(NAMES_VARIABLE) or "").split(",")
    tool_values = [load_environment(name.strip()) or "" for name in names]
    secrets = [*(secret for value in values for secret in secrets_in(value)), *tool_values]
    secrets += [secret for value in tool_values if _is_address(value) for secret in secrets_in(value)]
    return tuple(dict.fromkeys(filter(None, secrets)))


def secrets_in(value: str) -> Iterator[str]:
    """Yield the value itself; of an address, its password, as it is written and decoded.

    It accepts any address, even one that a library cannot parse.
    """
    if not _is_address(value):
        yield value
        return
    rest = value.partition("://")[2]
    login, at, _ = rest.rpartition("@")
    if at and (password := login.partition(":")[2]):
        yield from (value, password, unquote(password))
    for name, query_values in parse_qs(rest.partition("?")[2], strict_parsing=False).items():
        if name in ("password", "sentinel_password"):
            yield from query_values


def _is_address(value: str) -> bool:
    return "://" in value
