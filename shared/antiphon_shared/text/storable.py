"""Values in a form that can be stored: JSON that every reader accepts. Pure."""

from math import isfinite, isnan
from typing import Any

from pydantic_core import to_json

_DEPTH_MAX = 60
_INTEGER_BITS_MAX = 1_024


def storable(value: object) -> Any:
    """Return the value itself, unless JSON cannot represent it.

    Then lone surrogates become `?`, infinite numbers and NaN their names, and a value that is nested too
    deeply, too large or not JSON becomes a remark.
    """
    try:
        written = to_json(value, inf_nan_mode="constants")
    except (ValueError, RecursionError):
        return _mended(value, _DEPTH_MAX)
    return _mended(value, _DEPTH_MAX) if b"Infinity" in written or b"NaN" in written else value


def storable_text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _mended(value: object, depth: int) -> Any:
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, dict | list) and depth == 0:
        return "(nested too deeply to be kept)"
    if isinstance(value, dict):
        return {storable_text(str(key)): _mended(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mended(inner, depth - 1) for inner in value]
    if isinstance(value, int) and value.bit_length() > _INTEGER_BITS_MAX:
        return "(a number too large to be kept)"
    if isinstance(value, float) and not isfinite(value):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if value is None or isinstance(value, bool | int | float) else "(not JSON)"
