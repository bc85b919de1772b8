"""Schemas that the Messages API refuses: answers are asked for by a tool instead, for the life of a process."""

from hashlib import blake2b
from typing import Any

from pydantic_core import to_json

from reasoning_engine.shaped import OutputStyle

_KEPT_MAX = 1_000


class RefusedSchemas:
    """What has been refused, by model and schema."""

    def __init__(self) -> None:
        self._known: dict[bytes, None] = {}

    def add(self, model_id: str, schema: dict[str, Any]) -> None:
        """Remember a schema; the one longest known gives way."""
        self._known[_digest(model_id, schema)] = None
        if len(self._known) > _KEPT_MAX:
            del self._known[next(iter(self._known))]

    def style(self, model_id: str, schema: dict[str, Any] | None, style: OutputStyle) -> OutputStyle:
        """Return how an answer is asked for, where the setting is `style`."""
        is_known = style == "auto" and schema is not None and self._known
        return "tool" if is_known and _digest(model_id, schema) in self._known else style


def _digest(model_id: str, schema: dict[str, Any] | None) -> bytes:
    return blake2b(to_json([model_id, schema]), digest_size=16).digest()
