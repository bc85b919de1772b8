"""API keys and addresses of model servers, from the environment."""

from dataclasses import dataclass

import httpx2
from antiphon_shared.process.environment import load_environment
from antiphon_shared.process.errors import ConfigurationError

CONNECT_TIMEOUT_S = 10.0
_KEYLESS = "no-key"
"""A key for a server that needs none, as the SDKs require one."""


@dataclass(frozen=True, slots=True)
class Access:
    """The values of the SDKs' own variables; None if one is unset or empty."""

    api_key: str | None = None
    base_url: str | None = None
    """The address of a server of the Messages API."""
    openai_api_key: str | None = None
    openai_base_url: str | None = None
    """The address of a server of chat completions."""

    @property
    def to_messages(self) -> bool:
        """Return whether models of the Messages API can be accessed."""
        return bool(self.api_key or self.base_url)

    @property
    def to_chat(self) -> bool:
        """Return whether models of chat completions can be accessed."""
        return bool(self.openai_api_key or self.openai_base_url)


def load_access() -> Access:
    """Return this process's access, from its environment."""
    return Access(
        load_environment("ANTHROPIC_API_KEY"),
        load_environment("ANTHROPIC_BASE_URL"),
        load_environment("OPENAI_API_KEY"),
        load_environment("OPENAI_BASE_URL"),
    )


def timeout_of(timeout_s: float) -> httpx2.Timeout:
    return httpx2.Timeout(timeout_s, connect=min(timeout_s, CONNECT_TIMEOUT_S))


def checked_key(api_key: str | None, variable: str) -> str:
    """Return the key, or one for a server that needs none. Raises ConfigurationError."""
    if not api_key:
        return _KEYLESS
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise ConfigurationError(
            f"{variable} contains a character that is not valid in a key.",
            hint="Set it again, without quotes or spaces.",
        )
    return api_key


def checked_url(base_url: str | None, variable: str) -> str | None:
    """Return the address; None for the SDK's own. Raises ConfigurationError."""
    if not base_url:
        return None
    hint = "Use the form https://host or https://host/path."
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL as error:
        raise ConfigurationError(f"{variable} is not an address: {error}.", hint=hint) from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError(f"{variable} is not an http or https address.", hint=hint)
    if variable == "ANTHROPIC_BASE_URL" and url.path.rstrip("/").endswith("/v1"):
        raise ConfigurationError("ANTHROPIC_BASE_URL ends in /v1.", hint="Remove it: every request adds it.")
    return base_url
