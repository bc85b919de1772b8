"""The recordings and prompts in the arguments of a command."""

from pathlib import Path

from antiphon_shared.process.errors import ConfigurationError, UnreadableEvent

from antiphon.recording.files import read_lines
from antiphon.recording.lines import Line
from antiphon.replay.verify_all import UNREADABLE, explained


def recording(path: Path) -> list[Line]:
    """Return all lines of a recording. Raises UnreadableEvent."""
    try:
        return list(read_lines(path))
    except UnreadableEvent:
        raise
    except UNREADABLE as error:
        raise UnreadableEvent(f"{path}: {explained(error, path)}") from None


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
