"""The interface of a model, for every wire format."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from reasoning_engine.prompt import Prompt

if TYPE_CHECKING:
    from anthropic.types import Message

OnText = Callable[[str], None]
"""Called with each piece of text as it arrives."""
OnHeaders = Callable[[Mapping[str, str]], None]
"""Called with the headers of a reply, before any of its text; those of an error are in its failure."""


class Model(Protocol):
    """A model that replies to a prompt."""

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> "Message":
        """Make one call and return one complete message. Raises one of MODEL_ERRORS."""


class OwnedModel(Model, Protocol):
    """A model with connections, which its owner closes."""

    @property
    def is_offline(self) -> bool: ...

    async def close(self) -> None: ...
