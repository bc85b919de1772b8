"""What the engine asks of a model, whatever its wire format."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from reasoning_engine.prompt import Prompt

if TYPE_CHECKING:
    from anthropic.types import Message

OnText = Callable[[str], None]
"""Told each piece of text as it arrives."""
OnHeaders = Callable[[Mapping[str, str]], None]
"""Told the headers of a reply, before anything else of it; those of an error are in its failure."""


class Model(Protocol):
    """Whoever replies to a prompt."""

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> "Message":
        """One call, one whole message. Raises one of MODEL_ERRORS."""


class OwnedModel(Model, Protocol):
    """A model with connections, which are closed at the end."""

    @property
    def is_offline(self) -> bool: ...

    async def close(self) -> None: ...
