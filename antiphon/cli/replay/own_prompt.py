"""The prompts in the arguments of a command."""

from pathlib import Path

from antiphon_shared.process.errors import ConfigurationError

from antiphon.cli.input_files import text_of


def own_prompt(path: Path) -> str:
    """Return the text of a system prompt. Raises ConfigurationError, and as `text_of`."""
    text = text_of(path, "--prompt").strip()
    if not text:
        raise ConfigurationError(
            f"--prompt: {path} is empty.", hint="Omit the option, or write a prompt to the file."
        )
    return text
