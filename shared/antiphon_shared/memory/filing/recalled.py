"""Results of the tool `recall`: parts of earlier results, each with its origin. Pure."""

from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from antiphon_shared.values import Round


class Recalled(NamedTuple):
    """A whole part of an earlier result."""

    round: int
    call_id: str
    tool: str
    position: str
    content: Any


_ROUND: TypeAdapter[int] = TypeAdapter(Round)


def recalled_parts(data: object) -> tuple[Recalled, ...] | None:
    """Return the parts of `{"id": ..., "parts": [{"tool", "call_id", "round", "position", "content"}, ...]}`.

    None if it has another shape, so that it is filed like any other result.
    """
    parts = data.get("parts") if isinstance(data, dict) else None
    if not isinstance(parts, list) or not parts:
        return None
    recalled = [_recalled(part) for part in parts]
    return None if None in recalled else tuple(one for one in recalled if one is not None)


def _recalled(part: object) -> Recalled | None:
    if not isinstance(part, dict) or "content" not in part:
        return None
    tool, call_id, position = part.get("tool"), part.get("call_id"), part.get("position", "$")
    if not (isinstance(tool, str) and isinstance(call_id, str) and isinstance(position, str)):
        return None
    try:
        round = _ROUND.validate_python(part.get("round"), strict=True)
    except ValidationError:
        return None
    return Recalled(round, call_id, tool, position, part["content"])
