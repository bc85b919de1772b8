"""Schemas that the Messages API refuses: for the life of a process, answers with them are demanded by a tool."""

from hashlib import blake2b
from typing import Any

from antiphon_shared.values import JsonSchema
from pydantic_core import to_json

from reasoning_engine.shaped import OutputStyle

_DIGESTS_MAX = 1_000


class RefusedSchemas:
    """The refused schemas, by model."""

    def __init__(self) -> None:
        self._digests: dict[bytes, None] = {}

    def add(self, model_id: str, schema: JsonSchema) -> None:
        """Add a schema; the oldest one is dropped beyond the limit."""
        self._digests[_digest(model_id, schema)] = None
        if len(self._digests) > _DIGESTS_MAX:
            del self._digests[next(iter(self._digests))]

    def style(self, model_id: str, schema: dict[str, Any] | None, style: OutputStyle) -> OutputStyle:
        """Return the style in which to demand an answer, if the setting is `style`."""
        may_be_refused = style == "auto" and schema is not None and self._digests
        return "tool" if may_be_refused and _digest(model_id, schema) in self._digests else style


def _digest(model_id: str, schema: dict[str, Any] | None) -> bytes:
    return blake2b(to_json([model_id, schema]), digest_size=16).digest()
