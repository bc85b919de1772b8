"""Values derived from a recorded specification, once for all recordings that share it."""

from functools import lru_cache
from typing import Any

from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.workflows.graph import Graph, TooLarge, compile_graph
from antiphon_shared.workflows.publication import SPECIFICATION
from antiphon_shared.workflows.specification import Specification, specification_hash
from pydantic_core import to_json

_KEPT_MAX = 64
_REDACTED = b"[redacted"


def specification_of(fields: dict[str, Any]) -> Specification:
    """Return the recorded specification. Raises UnreadableEvent, for example where it was redacted."""
    return _read(_ByIdentity(fields))


def is_another(fields: dict[str, Any], content_hash: str) -> bool:
    """Return whether a recorded specification has another hash, although nothing in it was redacted."""
    return _hash(_ByIdentity(fields)) not in ("", content_hash)


def graph_of(fields: dict[str, Any], workflow: str) -> Graph:
    """Return one of its workflows, compiled. Raises UnreadableEvent."""
    return _compiled(_ByIdentity(fields), workflow)


class _ByIdentity:
    """A recorded specification as a key by identity: a comparison of two would cost as much as the cache saves."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and self.fields is other.fields

    def __hash__(self) -> int:
        return id(self.fields)


@lru_cache(_KEPT_MAX)
def _read(key: _ByIdentity) -> Specification:
    return SPECIFICATION.read(to_json(key.fields))


@lru_cache(_KEPT_MAX)
def _hash(key: _ByIdentity) -> str:
    """Return the specification's hash; empty where redaction has changed it."""
    return "" if _REDACTED in to_json(key.fields) else specification_hash(_read(key))


@lru_cache(_KEPT_MAX)
def _compiled(key: _ByIdentity, workflow: str) -> Graph:
    try:
        return compile_graph(_read(key), workflow)
    except (TooLarge, KeyError) as error:
        raise UnreadableEvent(f"the recorded workflow {workflow!r} cannot be compiled: {error}.") from None
