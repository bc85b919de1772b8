"""Schemas that the Messages API refuses: for the life of a process, answers with them are demanded by a tool."""

from hashlib import blake2b
from typing import Any

from pydantic_core import to_json

from reasoning_engine.shaped import OutputStyle

_KEPT_MAX = 1_000


class RefusedSchemas:
    """The refused schemas, by model."""

    def __init__(self) -> None:
        self._known: dict[bytes, None] = {}

    def add(self, model_id: str, schema: dict[str, Any]) -> None:
        """Add a schema; the oldest one is dropped beyond the limit."""
        self._known[_digest(model_id, schema)] = None
        if len(self._known) > _KEPT_MAX:
            del self._known[next(iter(self._known))]

    def style(self, model_id: str, schema: dict[str, Any] | None, style: OutputStyle) -> OutputStyle:
        """Return the style in which to demand an answer, if the setting is `style`."""
        is_known = style == "auto" and schema is not None and self._known
        return "tool" if is_known and _digest(model_id, schema) in self._known else style


def _digest(model_id: str, schema: dict[str, Any] | None) -> bytes:
    return blake2b(to_json([model_id, schema]), digest_size=16).digest()
