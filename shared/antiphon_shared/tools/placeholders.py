"""Placeholders: arguments that are replaced by the result of another call of the same reply. Pure.

    ${calls[0]}                       the whole result of the first call
    ${calls[0].documents[0].id}       a value in it
    ${calls[1]["odd key"][2]}         a quoted key, which is not a plain word
    $${calls[0]}                      an escaped placeholder: the text ${calls[0]}

A placeholder must be the whole string: a longer text is left unchanged. A string that begins like a placeholder and
cannot be parsed is refused, so that a mistake is never passed on as text.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic_core import to_json

from antiphon_shared.values import Json

PLACEHOLDER_HELP = (
    "An argument may be what another call of the same reply returns: write ${calls[0].documents[0].id} as "
    "the whole value, where calls[0] is the first call of the reply and the path leads to a value in its "
    'result (${calls[1]["odd key"]} for a key that is no plain word). The call it names is run first. '
    "Text that must look like this is written with one more $: $${calls[0]}."
)
"""The explanation for models."""

_NUMBER = r"(?:0|[1-9][0-9]{0,8})"
_PART = rf"""\.[^\W\d][\w-]*|\[{_NUMBER}\]|\["(?:[^"\\]|\\.)*"\]|\['[^'\\]*'\]"""
_BEGINNING = re.compile(r"(\$+)\{calls\[")
_READABLE = re.compile(rf"\$\{{calls\[({_NUMBER})\]((?:{_PART})*)", re.DOTALL)
_PARTS = re.compile(_PART, re.DOTALL)
_PLAIN_WORD = re.compile(r"[^\W\d][\w-]*")
_QUOTED_CHARACTERS_MAX = 80

Path = tuple[str | int, ...]
"""The path to a value: keys of objects and indexes of lists."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to the result of the call at an index of the reply, or to a value in it."""

    call: int
    path: Path = ()

    def __str__(self) -> str:
        return f"${{calls[{self.call}]{spelled(self.path)}}}"


@dataclass(frozen=True, slots=True)
class Malformed:
    """A string that begins like a placeholder and cannot be parsed; `problem` names the position."""

    problem: str


Placeholder = Reference | Malformed


def parse_placeholder(text: str) -> str | Placeholder:
    """Return the placeholder in `text`, or the text that it means: itself, with an escape removed."""
    beginning = _BEGINNING.match(text)
    if beginning is None:
        return text
    dollars = len(beginning[1])
    placeholder = _read(text[dollars - 1 :])
    if placeholder is None:
        return text
    return placeholder if dollars == 1 else text[1:]


def as_text(value: Json) -> Json:
    """Return JSON in which every string that looks like a placeholder is escaped, so that it is read unchanged."""
    if not _may_hold_one(value):
        return value
    if isinstance(value, str):
        return value if parse_placeholder(value) == value else f"${value}"
    if isinstance(value, dict):
        return {key: as_text(inner) for key, inner in value.items()}
    return [as_text(inner) for inner in value] if isinstance(value, list) else value


def find(value: object) -> Iterator[tuple[Path, Placeholder]]:
    """Yield every placeholder at any depth of JSON with its path, in order."""
    if not _may_hold_one(value):
        return
    for path, text in texts_in(value):
        parsed = parse_placeholder(text)
        if not isinstance(parsed, str):
            yield path, parsed


def texts_in(value: object) -> Iterator[tuple[Path, str]]:
    """Yield every text at any depth of JSON with its path, in order."""
    waiting: list[tuple[Path, object]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, str):
            yield path, item
        elif isinstance(item, dict):
            waiting += [((*path, key), inner) for key, inner in reversed(item.items())]
        elif isinstance(item, list | tuple):
            waiting += [((*path, index), item[index]) for index in reversed(range(len(item)))]


def has_placeholder(value: object) -> bool:
    """Return whether any string in it is a placeholder, a malformed one included."""
    return next(find(value), None) is not None


def _may_hold_one(value: object) -> bool:
    """Return quickly whether a value may hold a placeholder.

    Hardly any argument does, and each is searched repeatedly.
    """
    try:
        return b"${calls[" in to_json(value)
    except ValueError:  # a value that is not JSON has to be searched
        return True


def spelled(path: Path) -> str:
    """Return a path as text: `.documents[0]["odd key"]`."""
    return "".join(map(_spelled_part, path))


def _read(text: str) -> Placeholder | None:
    """Return the placeholder in a text; None for text that continues after one."""
    readable = _READABLE.match(text)
    if readable is None:
        return Malformed("after ${calls[ comes the place of a call, counted from 0, and ]")
    end = readable.end()
    if text[end : end + 1] == "}":
        return _reference(readable) if len(text) == end + 1 else None
    rest = text[end:]
    if not rest:
        return Malformed("the } at its end is missing")
    return Malformed(f"it can be read up to {_shortened(text[:end])}, but not {_shortened(rest)}")


def _reference(match: re.Match[str]) -> Placeholder:
    parts: list[str | int] = []
    for part in _PARTS.findall(match[2]):
        try:
            parts.append(_part(part))
        except ValueError:
            return Malformed(f"{_shortened(part)} is not a quoted key")
    return Reference(int(match[1]), tuple(parts))


def _part(written: str) -> str | int:
    if written[0] == ".":
        return written[1:]
    inner = written[1:-1]
    if inner[0] == '"':
        return str(json.loads(inner))
    return inner[1:-1] if inner[0] == "'" else int(inner)


def _spelled_part(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN_WORD.fullmatch(part) else f"[{json.dumps(part, ensure_ascii=False)}]"


def _shortened(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARACTERS_MAX else text[: _QUOTED_CHARACTERS_MAX - 1] + "…"
