"""A limit on the size of a reply while it arrives."""

from reasoning_engine.model_errors import UnreadableReply

REPLY_CHARACTERS_MAX = 500_000
REPLY_PARTS_MAX = 1_000


class ReplySize:
    """The size of a reply so far."""

    def __init__(self) -> None:
        self._characters = self._parts = 0

    def add_text(self, text: str) -> None:
        """Count a piece of text or arguments. Raises UnreadableReply."""
        self._characters += len(text)
        if self._characters > REPLY_CHARACTERS_MAX:
            raise UnreadableReply(f"it is longer than {REPLY_CHARACTERS_MAX} characters")

    def add_part(self) -> None:
        """Count a content block or a tool call. Raises UnreadableReply."""
        self._parts += 1
        if self._parts > REPLY_PARTS_MAX:
            raise UnreadableReply(f"it has more than {REPLY_PARTS_MAX} parts")
