"""Keys and addresses of models' servers, from the environment."""

from dataclasses import dataclass

from antiphon_shared.process.environment import load_environment


@dataclass(frozen=True, slots=True)
class Access:
    """What the SDKs' own variables say; None where one is unset or empty."""

    api_key: str | None = None
    base_url: str | None = None
    """Of a server that speaks the Messages API."""
    openai_api_key: str | None = None
    openai_base_url: str | None = None
    """Of a server that speaks chat completions."""

    @property
    def to_messages(self) -> bool:
        """Whether there is access to models by the Messages API."""
        return bool(self.api_key or self.base_url)

    @property
    def to_chat(self) -> bool:
        """Whether there is access to models by chat completions."""
        return bool(self.openai_api_key or self.openai_base_url)


def load_access() -> Access:
    """Return the access that this process has."""
    return Access(
        load_environment("ANTHROPIC_API_KEY"),
        load_environment("ANTHROPIC_BASE_URL"),
        load_environment("OPENAI_API_KEY"),
        load_environment("OPENAI_BASE_URL"),
    )
