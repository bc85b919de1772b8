"""Places in a call's arguments, according to the schema. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from antiphon_shared.output.referred import referred
from antiphon_shared.values import Json, JsonSchema, ToolArguments

from tool_dispatcher.authoring.argument_errors import path_text
from tool_dispatcher.authoring.example import example_of
from tool_dispatcher.authoring.secret import Path

_DEPTH_MAX = 4
_LOCATIONS_MAX = 60
_BRANCHES_MAX = 12


@dataclass(frozen=True)
class Location:
    """A location in the arguments, with every schema that a value there may follow."""

    path: Path
    branches: tuple[JsonSchema, ...]
    example: Json
    """A value that is likely valid there."""

    @property
    def types(self) -> frozenset[str]:
        """Return the types that a value there may have; empty if any is allowed."""
        each = [_types(branch) for branch in self.branches]
        return frozenset().union(*each) if all(each) else frozenset()

    def accepts(self, *types: str) -> bool:
        return not self.types or not self.types.isdisjoint(types)

    @property
    def is_listed(self) -> bool:
        """Return whether the schema lists every value that is allowed here."""
        return all("enum" in branch or "const" in branch for branch in self.branches)

    @property
    def name(self) -> str:
        """Return the path as text: `filters[0].name`."""
        return path_text(self.path) or "the arguments"


def locations_in(schema: JsonSchema) -> list[Location]:
    """Return the location of all arguments, then every parameter and the locations in it, outer ones first."""
    locations = [Location((), tuple(_branches(schema, schema)), {})]
    for location in locations:
        if len(location.path) >= _DEPTH_MAX:
            continue
        for path, child in _children(location):
            if len(locations) >= _LOCATIONS_MAX:
                return locations
            if all(path != other.path for other in locations):
                locations.append(Location(path, tuple(_branches(child, schema)), _example(child, schema)))
    return locations


def put_value(
    arguments: ToolArguments, location: Location, value: object, locations: list[Location]
) -> ToolArguments:
    """Return a copy of the arguments with `value` at a location; examples fill missing parts around it."""
    examples = {one.path: one.example for one in locations}

    def within(node: object, depth: int) -> Any:
        if depth == len(location.path):
            return value
        part = location.path[depth]
        if not isinstance(node, list if isinstance(part, int) else dict):
            node = examples.get(location.path[:depth])
        if isinstance(part, int):
            items = list(node) if isinstance(node, list) and node else [None]
            items[part] = within(items[part], depth + 1)
            return items
        fields = dict(node) if isinstance(node, dict) else {}
        fields[part] = within(fields.get(part), depth + 1)
        return fields

    changed: ToolArguments = within(arguments, 0)
    return changed


def value_at(arguments: Json, path: Path) -> Json:
    """Return the value at a path, or None."""
    for part in path:
        if isinstance(arguments, dict):
            arguments = arguments.get(str(part))
        elif isinstance(arguments, list) and isinstance(part, int) and part < len(arguments):
            arguments = arguments[part]
        else:
            return None
    return arguments


def depth_of(value: object) -> int:
    """Return how deeply lists and objects are nested."""
    depth, level = 0, [value]
    while level := [node for node in level if isinstance(node, dict | list)]:
        depth += 1
        level = [child for node in level for child in (node.values() if isinstance(node, dict) else node)]
    return depth


def _children(location: Location) -> Iterator[tuple[Path, Json]]:
    for branch in location.branches:
        for name, child in branch.get("properties", {}).items():
            yield (*location.path, name), child
        items = branch.get("items")
        if "array" in _types(branch) and isinstance(items, dict) and items:
            yield (*location.path, 0), items


def _branches(schema: object, root: JsonSchema, depth: int = 0) -> Iterator[JsonSchema]:
    """Yield the schemas without references and choices, of which a valid value follows at least one."""
    if not isinstance(schema, dict) or depth > _BRANCHES_MAX:
        return
    if isinstance(target := schema.get("$ref"), str):
        yield from _branches(referred(target, root), root, depth + 1)
        return
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    if not choices or "properties" in schema:
        yield schema
    for choice in choices[:_BRANCHES_MAX]:
        yield from _branches(choice, root, depth + 1)


def _types(schema: JsonSchema) -> frozenset[str]:
    kinds = schema.get("type", ())
    listed = frozenset((kinds,) if isinstance(kinds, str) else kinds)
    values = schema.get("enum", [schema["const"]] if "const" in schema else ())
    return listed or frozenset(_type_of(value) for value in values)


def _type_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def _example(schema: object, root: JsonSchema) -> Json:
    wrapped = {**root, "properties": {"value": schema}, "required": ["value"]}
    for key in ("examples", "enum", "const", "default", "anyOf", "oneOf", "allOf", "$ref"):
        wrapped.pop(key, None)
    return example_of(wrapped).get("value")
