"""YAML as JSON values, with the line and column of each. Pure.

It is read by the rules of JSON: only `true` and `false` are booleans, dates stay text, keys are texts. An alias may
repeat a value, but a value must not contain itself, nor may aliases make a small text large.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

BYTES_MAX = 1_000_000
_VALUES_MAX = 100_000
"""Once aliases are written out."""
_LEVELS_MAX = 64

Path = tuple[str | int, ...]


class UnreadableYaml(ValueError):
    """The text is no YAML that can be used; the message begins with line and column where these are known."""


@dataclass(frozen=True)
class YamlText:
    """What a text holds."""

    value: Any
    _marks: dict[Path, yaml.Mark] = field(default_factory=dict, repr=False)

    def position(self, path: Sequence[str | int]) -> str:
        """Return `line 3, column 5` for a value, or for the nearest one around it that there is."""
        at = tuple(path)
        while at and at not in self._marks:
            at = at[:-1]
        return _position(self._marks[at])


class _Loader(yaml.SafeLoader):
    """YAML with the plain scalars of JSON."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":merge", ":value"))
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    if first not in "yYnNoO"  # yes, no, on, off
}


def read_yaml(text: str) -> YamlText:
    """Return what a text holds. Raises UnreadableYaml."""
    if len(text) > BYTES_MAX:
        raise UnreadableYaml(f"it has {len(text):,} characters, of at most {BYTES_MAX:,}")
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                raise UnreadableYaml("it is empty")
            marks: dict[Path, yaml.Mark] = {}
            value = _read(loader, node, (), frozenset(), marks)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        where = f"{_position(error.problem_mark)}: " if error.problem_mark else ""
        raise UnreadableYaml(f"{where}{error.problem or error}") from None
    except RecursionError:
        raise UnreadableYaml("it is nested too deeply") from None
    except yaml.YAMLError as error:
        raise UnreadableYaml(str(error).partition("\n")[0]) from None
    return YamlText(value, marks)


def _read(
    loader: _Loader, node: yaml.Node, path: Path, around: frozenset[int], marks: dict[Path, yaml.Mark]
) -> Any:
    if id(node) in around:
        raise UnreadableYaml(f"{_position(node.start_mark)}: the value contains itself")
    marks[path] = node.start_mark
    if len(marks) > _VALUES_MAX or len(path) > _LEVELS_MAX:
        raise UnreadableYaml(
            f"{_position(node.start_mark)}: it has more than {_VALUES_MAX:,} values or {_LEVELS_MAX} levels"
        )
    inside = around | {id(node)}
    if isinstance(node, yaml.SequenceNode):
        return [_read(loader, one, (*path, n), inside, marks) for n, one in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        return _fields(loader, node, path, inside, marks)
    if node.tag.startswith("tag:yaml.org,2002:"):
        value = loader.construct_object(node)
        if value is None or isinstance(value, str | int | float):
            return value
    raise UnreadableYaml(f"{_position(node.start_mark)}: {node.tag} is no type of JSON")


def _fields(
    loader: _Loader,
    node: yaml.MappingNode,
    path: Path,
    around: frozenset[int],
    marks: dict[Path, yaml.Mark],
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or not isinstance(key.value, str):
            raise UnreadableYaml(f"{_position(key.start_mark)}: a key is no text")
        if key.value in fields:
            raise UnreadableYaml(f"{_position(key.start_mark)}: {key.value!r} stands here a second time")
        fields[key.value] = _read(loader, value, (*path, key.value), around, marks)
    return fields


def _position(mark: yaml.Mark) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}"
