"""The redaction of secrets in the outcome of a call. Pure."""

import operator
from collections.abc import Sequence
from typing import Any, TypeVar

from antiphon_shared.process.offload import is_large
from antiphon_shared.redaction.redactor import MARKED_CHARACTERS_MIN, Redactor
from antiphon_shared.tools.calls import ToolError

T = TypeVar("T")

_PIECE_ITEMS = 500
_DEPTH_MAX = 4


def redacted(outcome: T, redactor: Redactor) -> T:
    """Return JSON values or a ToolError with every secret redacted; the same object if it contains no secret."""
    if not isinstance(outcome, ToolError):
        clean: T = _in_pieces(outcome, redactor, 0)
        return clean
    dumped = outcome.model_dump(mode="json")
    clean_dump = redactor.json(dumped)
    return outcome if clean_dump is dumped else type(outcome).model_validate(clean_dump)


def _in_pieces(value: object, redactor: Redactor, depth: int) -> Any:
    """Redact as `redactor.json` does, but long lists in pieces: one large search would hold the GIL."""
    if depth >= _DEPTH_MAX or not isinstance(value, list | dict) or not is_large(value):
        return redactor.json(value)
    if isinstance(value, list):
        pieces = [value[start : start + _PIECE_ITEMS] for start in range(0, len(value), _PIECE_ITEMS)]
        if len(pieces) == 1:
            cleaned = [_in_pieces(item, redactor, depth + 1) for item in value]
            return value if all(map(operator.is_, cleaned, value)) else cleaned
        clean = [redactor.json(piece) for piece in pieces]
        return value if all(map(operator.is_, clean, pieces)) else [item for piece in clean for item in piece]
    large = {key for key, item in value.items() if isinstance(item, list | dict) and is_large(item)}
    frame = redactor.json({key: None if key in large else item for key, item in value.items()})
    if not large or list(frame) != list(value):
        return redactor.json(value)
    merged = {
        key: _in_pieces(value[key], redactor, depth + 1) if key in large else item
        for key, item in frame.items()
    }
    return value if all(merged[key] is value[key] for key in value) else merged


def redact_call_secrets(secrets: Sequence[str], outcome: T) -> T:
    """Return the outcome without the arguments of one call that are marked as secret."""
    return redacted(outcome, Redactor(secrets, MARKED_CHARACTERS_MIN)) if secrets else outcome
