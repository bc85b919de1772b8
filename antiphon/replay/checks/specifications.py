"""Specifications of workflows and their graphs, cached for all recordings that share one."""

from functools import lru_cache
from typing import Any

from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.workflows.graph import Graph, TooLarge, compile_graph
from antiphon_shared.workflows.publication import SPECIFICATION
from antiphon_shared.workflows.specification import Specification, canonical, specification_hash
from pydantic_core import to_json

from antiphon.replay.checks.by_identity import ByIdentity
from antiphon.replay.steps.replay_state import RecordingContent

_CACHED_MAX = 64
_REDACTED = b"[redacted"


def specification_in(content: RecordingContent, content_hash: str) -> Specification:
    """Return the recorded specification of that hash.

    Raises UnreadableEvent if it is missing, for example because it was redacted.
    """
    if content_hash not in content.specifications:
        raise UnreadableEvent(f"the recording lacks the specification {content_hash}.")
    fields = ByIdentity(content.specifications[content_hash])
    if _hash(fields) not in ("", content_hash):
        raise UnreadableEvent(f"the recorded specification is not the one of the hash {content_hash}.")
    return _read(fields)


def as_stored(specification: Specification) -> Specification:
    """Return a specification as a coordinator reads it, with its names in order."""
    return SPECIFICATION.read(canonical(specification))


def graph_of(specification: Specification, workflow: str) -> Graph:
    """Return one of its workflows, compiled. Raises UnreadableEvent."""
    return _compiled(ByIdentity(specification), workflow)


@lru_cache(_CACHED_MAX)
def _read(fields: ByIdentity[dict[str, Any]]) -> Specification:
    return SPECIFICATION.read(to_json(fields.value))


@lru_cache(_CACHED_MAX)
def _hash(fields: ByIdentity[dict[str, Any]]) -> str:
    """Return the specification's hash; empty if redaction has changed it."""
    return "" if _REDACTED in to_json(fields.value) else specification_hash(_read(fields))


@lru_cache(_CACHED_MAX)
def _compiled(specification: ByIdentity[Specification], workflow: str) -> Graph:
    try:
        return compile_graph(specification.value, workflow)
    except (TooLarge, KeyError) as error:
        raise UnreadableEvent(f"the recorded workflow {workflow!r} cannot be compiled: {error}.") from None
