"""Who replies in the place of a model that is named."""

from antiphon_shared.process.environment import load_environment
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import load

from antiphon.recording.forking.changes import OFFLINE
from reasoning_engine.settings import EngineSettings, Provider


def provider_of(model: str) -> Provider:
    """Who is asked for a model; as the settings say where none is named.

    Raises ConfigurationError where only the offline model could reply in the name of another.
    """
    if model == OFFLINE:
        return "offline"
    provider = load(EngineSettings).provider
    has_access = load_environment("ANTHROPIC_API_KEY") or load_environment("ANTHROPIC_BASE_URL")
    if model and (provider == "offline" or not has_access):
        raise ConfigurationError(
            f"--model {model}: there is no access to it.",
            hint="Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL, or take --model offline.",
        )
    return provider
