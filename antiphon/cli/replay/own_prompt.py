"""The prompts in the arguments of a command."""

from pathlib import Path

from antiphon_shared.process.errors import ConfigurationError


def own_prompt(path: Path) -> str:
    """Return the text of a system prompt. Raises ConfigurationError."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"--prompt: {path} cannot be read: {error}.") from None
    if not text:
        raise ConfigurationError(
            f"--prompt: {path} is empty.", hint="Omit the option, or write a prompt to the file."
        )
    return text
