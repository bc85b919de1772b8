"""YAML as JSON values, with the line and column of each. Pure.

It is read by the rules of JSON: a plain scalar is a number, `true`, `false` or `null` where JSON would read
it so, null if it is empty, and text otherwise. An alias may repeat a value if that is allowed, but a
value must not contain itself, and aliases must not make a small text large. The reader does not recurse, and
bounds the depth of a text.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic_core import from_json

BYTES_MAX = 1_000_000
_VALUES_MAX = 100_000
"""Bound on the values, with aliases expanded."""
_LEVELS_MAX = 64
_PROBLEMS_MAX = 100
_INTEGER_MAX = 2**63 - 1
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_SURROGATES = re.compile(r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_WORDS = {"": None, "null": None, "true": True, "false": False}
_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml if it is installed: it takes a tenth of the time."""

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """The position of a value in a text; both numbers count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True)
class YamlProblem:
    """A reason why a text cannot be used."""

    position: Position | None
    message: str

    def __str__(self) -> str:
        return f"{self.position}: {self.message}" if self.position else self.message


@dataclass(frozen=True)
class YamlText:
    """The content of a text, with the positions of its values."""

    value: Any
    _positions: dict[Path, Position] = field(default_factory=dict, repr=False)
    _keys: dict[Path, Position] = field(default_factory=dict, repr=False)

    def position(self, path: Sequence[str | int]) -> Position:
        """Return the position of a value, or of the nearest value around it that has one."""
        at = tuple(path)
        while at and at not in self._positions:
            at = at[:-1]
        return self._positions[at]

    def key_position(self, path: Sequence[str | int]) -> Position:
        """Return the position of a value's key; that of the value when it has no key."""
        return self._keys.get(tuple(path)) or self.position(path)


class UnreadableYaml(ValueError):
    """Raised for a text that is not usable YAML; the message has a line for each problem, with its position."""

    def __init__(self, *problems: YamlProblem, text: YamlText | None = None) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems
        self.text = text
        """The content of the text, if it could be read to its end, for further checks."""


def read_yaml(text: str, *, allows_aliases: bool = True) -> YamlText:
    """Return the content of a text. Raises UnreadableYaml."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise _problem(None, "it contains a lone surrogate; save it as UTF-8") from None
    if size > BYTES_MAX:
        raise _problem(None, f"it has more than {BYTES_MAX:,} bytes; split it")
    reader = _Reader(allows_aliases)
    try:
        for event in yaml.parse(_with_yaml_escapes(text), _PARSER):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        position = _position(error.problem_mark) if error.problem_mark else None
        message = str(error.problem or error)
        if "',' or '" in message:
            message += "; within { } and [ ], quote a text that contains one of [ ] { } , :"
        raise _problem(position, message, *reader.problems) from None
    except yaml.YAMLError as error:
        raise _problem(None, str(error).partition("\n")[0], *reader.problems) from None
    return reader.end()


def _with_yaml_escapes(text: str) -> str:
    """Return JSON with its pairs of surrogates in the escapes of YAML; any other text unchanged."""
    if not _SURROGATES.search(text):
        return text
    try:
        from_json(text)
    except ValueError:
        return text
    return _SURROGATES.sub(lambda pair: f"{pair[1]}\\U{_code_point(pair[2], pair[3]):08X}", text)


def _code_point(high: str, low: str) -> int:
    return 0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00


@dataclass(slots=True)
class _Open:
    """A list or an object that has begun and not ended."""

    value: Any
    path: Path
    values_before: int
    anchor: str | None
    key: str | None = None
    depth: int = 0
    """The number of levels inside it."""


class _Reader:
    """A builder of a value from the events of a parser."""

    def __init__(self, allows_aliases: bool) -> None:
        self._allows_aliases = allows_aliases
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int, int] | None] = {}
        """Each anchor's value, its number of values and its levels; None while it is being read."""
        self._positions: dict[Path, Position] = {}
        self._keys: dict[Path, Position] = {}
        self._values = 0
        self._documents = 0
        self._value: Any = None
        self._is_complete = True
        """Whether every value could be read."""
        self.problems: list[YamlProblem] = []

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise _problem(
                        _position(event.start_mark), "a second document begins; use only one", *self.problems
                    )
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close()
            case yaml.NodeEvent():
                self._begin(event, _position(event.start_mark))

    def end(self) -> YamlText:
        if self.problems:
            problems = sorted(self.problems, key=lambda problem: problem.position or Position(0, 0))
            text = YamlText(self._value, self._positions, self._keys) if self._is_complete else None
            raise UnreadableYaml(*problems, text=text)
        if not self._documents or (self._value is None and self._values <= 1):
            raise _problem(None, "it is empty")
        return YamlText(self._value, self._positions, self._keys)

    def _begin(self, event: yaml.NodeEvent, position: Position) -> None:
        if self._awaits_key():
            return self._take_key(event, position)
        path = self._path()
        self._positions[path] = position
        self._count(1, len(path), position)
        self._refuse_marks(event, position)
        if isinstance(event, yaml.AliasEvent):
            return self._repeat(event, position)
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event.value) if event.implicit[0] else event.value
            if isinstance(value, _TooLarge):
                self._complain(
                    position, f"{event.value[:40]} is not a 64-bit number; put it in quotes as text"
                )
                self._is_complete = False
            if event.anchor:
                self._anchors[event.anchor] = (value, 1, 0)
            return self._put(value)
        if event.anchor:
            self._anchors[event.anchor] = None
        value = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._open.append(_Open(value, path, self._values - 1, event.anchor))
        return None

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _take_key(self, event: yaml.NodeEvent, position: Position) -> None:
        around = self._open[-1]
        if not isinstance(event, yaml.ScalarEvent):
            raise _problem(position, "a key must be a text", *self.problems)
        self._refuse_marks(event, position)
        if event.value in around.value:
            self._complain(position, f"{event.value[:100]!r} is repeated; keep one of them")
        around.key = event.value
        self._keys[(*around.path, event.value)] = position

    def _path(self) -> Path:
        if not self._open:
            return ()
        around = self._open[-1]
        return (*around.path, len(around.value) if around.key is None else around.key)

    def _put(self, value: Any) -> None:
        if not self._open:
            self._value = value
            return
        around = self._open[-1]
        if around.key is None:
            around.value.append(value)
        else:
            around.value[around.key] = value
            around.key = None

    def _close(self) -> None:
        done = self._open.pop()
        if done.anchor:
            self._anchors[done.anchor] = (done.value, self._values - done.values_before, done.depth + 1)
        if self._open:
            self._open[-1].depth = max(self._open[-1].depth, done.depth + 1)
        self._put(done.value)

    def _repeat(self, event: yaml.AliasEvent, position: Position) -> None:
        if event.anchor not in self._anchors:
            raise _problem(position, f"there is no anchor &{str(event.anchor)[:100]}", *self.problems)
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise _problem(position, "the value contains itself", *self.problems)
        value, values, depth = anchored
        if self._open:
            self._open[-1].depth = max(self._open[-1].depth, depth)
        self._count(values - 1, len(self._open) + depth, position)
        self._put(value)

    def _count(self, values: int, levels: int, position: Position) -> None:
        self._values += values
        if self._values > _VALUES_MAX or levels > _LEVELS_MAX:
            raise _problem(
                position, f"it has more than {_VALUES_MAX:,} values or {_LEVELS_MAX} levels", *self.problems
            )

    def _refuse_marks(self, event: yaml.NodeEvent, position: Position) -> None:
        if tag := getattr(event, "tag", None):
            self._complain(position, f"the tag {tag[:100]} is not supported; leave it out")
        if event.anchor and not self._allows_aliases:
            mark = (
                f"the alias *{event.anchor[:100]}"
                if isinstance(event, yaml.AliasEvent)
                else (f"the anchor &{event.anchor[:100]}")
            )
            self._complain(position, f"{mark} is not supported; write the value out")

    def _complain(self, position: Position, message: str) -> None:
        self.problems.append(YamlProblem(position, message))
        if len(self.problems) >= _PROBLEMS_MAX:
            raise UnreadableYaml(*self.problems)


class _TooLarge:
    """The marker of a number that does not fit into 64 bits."""


def _scalar(text: str) -> Any:
    """Return a plain scalar as JSON reads it."""
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    if number[1] or number[2]:
        return value if math.isfinite(value := float(text)) else _TooLarge()
    return (
        value if len(text) < 25 and -_INTEGER_MAX - 1 <= (value := int(text)) <= _INTEGER_MAX else _TooLarge()
    )


def _position(mark: Any) -> Position:
    """Return the position of a mark of either parser."""
    return Position(mark.line + 1, mark.column + 1)


def _problem(position: Position | None, message: str, *before: YamlProblem) -> UnreadableYaml:
    return UnreadableYaml(*before, YamlProblem(position, message))
