"""The redaction of JSON by its shape. Pure."""

import re
from enum import IntEnum
from typing import Any

from antiphon_shared.redaction.harmless import looks_random
from antiphon_shared.redaction.redactor import free_key
from antiphon_shared.values import JsonObject

from antiphon.recording.lines import Rules
from antiphon.recording.redaction.json_paths import Path, remaining_paths
from antiphon.recording.redaction.redacted_text import RedactedText, as_name
from antiphon.recording.redaction.shapes import (
    Each,
    Exchange,
    Fields,
    Fixed,
    Grant,
    Headers,
    Name,
    Open,
    References,
    Schema,
    Shape,
    Text,
)
from antiphon.recording.redaction.unsigned import unsigned

Paths = tuple[Path, ...]
_INSIDE: dict[str, Shape] = {"input": Open(), "input_schema": Schema(), "metadata": Open()}
"""The parts of a request or reply with foreign keys."""
_EXAMPLES = ("default", "examples", "example", "const")
_ARGUMENTS = ("arguments", "input")
_REFERENCE = re.compile(r"\$\{?[A-Za-z_][A-Za-z0-9_]*\??(?:\.[A-Za-z0-9_]+)*\}?")
"""A text that is one reference of a workflow."""


class Hidden(IntEnum):
    """The extent to which a whole value is replaced."""

    NO = 0
    IF_RANDOM = 1
    """Only in a foreign form, and if it looks random, because its key often means something else."""
    IF_OPEN = 2
    """Only in a foreign form, because the keys of this project mean other things."""
    YES = 3


class RedactedValue:
    """The redaction of a line's value by its shape."""

    def __init__(self, text: RedactedText, rules: Rules) -> None:
        self.paths = tuple(map(Path.of, rules.paths))
        self.marked: dict[str, Paths] = {}
        """The paths to secret arguments, by tool."""
        self._text = text
        self._headers = tuple(name.lower() for name in rules.headers)

    def redacted(self, value: object, shape: Shape) -> Any:
        """Return a value of that shape without its secrets."""
        return self._walk(value, shape, self.paths, Hidden.NO)

    def keeps_header(self, name: str) -> bool:
        """Return whether the rules keep a header."""
        name = name.lower()
        return any(
            name == pattern or (pattern[-1:] == "*" and name.startswith(pattern[:-1]))
            for pattern in self._headers
        )

    def _walk(self, value: Any, shape: Shape, paths: Paths, hidden: Hidden) -> Any:
        if isinstance(shape, Fixed) or value is None or isinstance(value, bool):
            return value
        hidden = max(hidden, _hidden_by_paths(paths))
        if isinstance(value, dict):
            return self._object(value, shape, paths, hidden)
        if isinstance(value, list):
            each = shape.shape if isinstance(shape, Each) else shape
            return [self._walk(item, each, remaining_paths(paths, n), hidden) for n, item in enumerate(value)]
        if isinstance(value, str):
            return self._string(value, shape, hidden)
        return self._number(value, hidden) if isinstance(shape, Open) else value

    def _object(self, value: JsonObject, shape: Shape, paths: Paths, hidden: Hidden) -> dict[str, Any]:
        if isinstance(shape, Headers):
            value = self._redacted_headers(value)
        marked = self._marked_in(value)
        hidden = Hidden.NO if hidden is Hidden.IF_RANDOM else hidden
        clean: dict[str, Any] = {}
        for key, item in value.items():
            inner_paths = remaining_paths(paths, key) + (marked if key in _ARGUMENTS else ())
            inside, is_hidden = self._shape_under(shape, key, hidden)
            new = key if isinstance(shape, Fields | Schema) else free_key(self._text.text(key), clean)
            clean[new] = self._walk(item, inside, inner_paths, is_hidden)
        return clean

    def _shape_under(self, shape: Shape, key: str, hidden: Hidden) -> tuple[Shape, Hidden]:
        """Return the shape of the value under a key, and the extent of its replacement."""
        keys = self._text.keys
        may_be = Hidden.IF_RANDOM if keys.may_match(key) else Hidden.NO
        by_key = Hidden.IF_OPEN if keys.matches(key) else may_be
        match shape:
            case Fields(shapes):
                return shapes.get(key, Text()), hidden
            case Each(each):
                return each, hidden
            case Exchange():
                return _INSIDE.get(key, shape), hidden
            case Schema() if key in _EXAMPLES:
                return Open(), hidden
            case Schema():
                return shape, max(hidden, by_key)
            case Open():
                return shape, max(hidden, by_key)
            case _:
                return Text(), hidden

    def _string(self, value: str, shape: Shape, hidden: Hidden) -> str:
        if isinstance(shape, Grant):
            return self._unsigned(value)
        if isinstance(shape, References) and _REFERENCE.fullmatch(value):
            return value
        if isinstance(shape, Open):
            is_secret = hidden > Hidden.IF_RANDOM or (hidden is Hidden.IF_RANDOM and looks_random(value))
        else:
            is_secret = hidden is Hidden.YES and not isinstance(shape, Schema)
        clean = self._text.placeholder(value) if is_secret else self._text.text(value)
        if isinstance(shape, Name):
            return clean if clean is value else as_name(clean)[: shape.characters_max]
        return clean[: shape.characters_max] if isinstance(shape, Text) else clean

    def _number(self, value: float, hidden: Hidden) -> float:
        if not value or not (hidden > Hidden.IF_RANDOM or self._text.is_known(str(value))):
            return value
        self._text.placeholder(str(value))
        return type(value)(0)

    def _unsigned(self, grant: str) -> str:
        clean = unsigned(grant, self._text.name)
        if clean != grant:
            self._text.count += 1
        return clean

    def _redacted_headers(self, headers: JsonObject) -> dict[str, Any]:
        plain_headers = {name: value for name, value in headers.items() if self.keeps_header(name)}
        self._text.count += len(headers) - len(plain_headers)
        return plain_headers

    def _marked_in(self, value: JsonObject) -> Paths:
        """Return the paths to secret arguments of a call."""
        if not self.marked:
            return ()
        tool = value.get("name", value.get("tool"))
        return self.marked.get(tool, ()) if isinstance(tool, str) else ()


def _hidden_by_paths(paths: Paths) -> Hidden:
    reached = [Hidden.IF_OPEN if path.is_loose else Hidden.YES for path in paths if path.is_reached]
    return max(reached, default=Hidden.NO)
