"""The provider that replies for a given model."""

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import load

from antiphon.replay.forking.changes import OFFLINE
from reasoning_engine.access import load_access
from reasoning_engine.settings import EngineSettings, Provider
from reasoning_engine.wires import wire_of


def provider_of(model: str) -> Provider:
    """Return the provider of a model; for an empty name, the configured provider.

    Raises ConfigurationError if there is no access to the model, as the offline model would reply in its name.
    """
    if model == OFFLINE:
        return "offline"
    provider = load(EngineSettings).provider
    access = load_access()
    is_chat = wire_of(model) == "chat"
    has_access = access.to_chat if is_chat else access.to_messages
    if model and (provider == "offline" or not has_access):
        prefix = "OPENAI" if is_chat else "ANTHROPIC"
        raise ConfigurationError(
            f"--model {model}: no API key or base URL is set for it.",
            hint=f"Set {prefix}_API_KEY or {prefix}_BASE_URL, or use --model offline.",
        )
    return provider
