"""Secret values: the mark that an author sets, and where a schema or a type carries it. Pure.

In a JSON Schema the mark is `"writeOnly": true` or `"format": "password"`, as pydantic writes for SecretStr
too.
"""

import dataclasses
import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import get_args, get_origin, get_type_hints

import pydantic
from antiphon_shared.values import Json, JsonSchema
from pydantic import BaseModel, GetJsonSchemaHandler, SecretBytes, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema
from referencing import Registry as References
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

Schema = JsonSchema
Path = tuple[str | int, ...]

ANY = "*"
"""In a path of `secret_paths`: every item of a list, every value of a mapping."""

_SAME_VALUE = ("allOf", "anyOf", "oneOf")
_CONDITIONAL = ("if", "then", "else")
_OTHER_KEYS = ("additionalProperties", "unevaluatedProperties")
_OTHER_ITEMS = ("items", "additionalItems", "unevaluatedItems", "contains")
_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_SCHEMAS = (*_SAME_VALUE, *_CONDITIONAL, *_OTHER_KEYS, *_OTHER_ITEMS, "prefixItems", "not")
_SECRET_TYPES = (SecretStr, SecretBytes, pydantic.Secret)


class Secret:
    """The mark of a parameter, or of a field of a result, whose value is never shown: `Annotated[str, Secret]`."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        schema = {**handler(core), "writeOnly": True}
        kinds = {branch.get("type") for branch in (schema, *schema.get("anyOf", ()))}
        return {**schema, "format": "password"} if "string" in kinds else schema


def secrets_in(schema: Schema, arguments: object) -> tuple[str, ...]:
    """Return the texts of the arguments that the schema marks as secret, each once, without empty ones.

    A number is returned as text too.
    """
    found: dict[str, None] = {}
    todo: list[tuple[object, list[Schema]]] = [(arguments, _unfolded([schema], schema))]
    while todo:
        value, nodes = todo.pop()
        if any(map(_is_marked, nodes)):
            found |= dict.fromkeys(_texts(value))
            continue
        for key, item in _items(value):
            if below := _unfolded(_schemas_at(nodes, key), schema):
                todo.append((item, below))
    return tuple(text for text in found if text)


def secret_paths(schema: Schema) -> tuple[Path, ...]:
    """Return the secret places of a schema, each once, by its shortest path; `*` is any item."""
    return tuple(dict.fromkeys(path for path, node in _all_schemas([schema], schema) if _is_marked(node)))


def is_secret_at(schema: Schema, path: Path) -> bool:
    """Return whether the value at the path is a secret, or part of one."""
    return _reached(schema, path) is None


def holds_secret(schema: Schema, path: Path) -> bool:
    """Return whether the value at the path is a secret, is part of one, or may hold one."""
    nodes = _reached(schema, path)
    return nodes is None or any(_is_marked(node) for _, node in _all_schemas(nodes, schema))


def without_defaults(schema: Schema) -> Schema:
    """Return the schema without the defaults and examples of secrets, so that it can be published."""
    bare = _bare(schema, schema) if secret_paths(schema) else schema
    assert isinstance(bare, dict), "a schema stays an object"
    return bare


def is_secret(kind: object) -> bool:
    """Return whether a type hint or a pydantic field carries the mark, itself or in one of its parts."""
    if isinstance(kind, FieldInfo):
        extra = kind.json_schema_extra
        is_said = isinstance(extra, dict) and _is_marked(extra)
        return is_said or any(map(_is_mark, kind.metadata)) or is_secret(kind.annotation)
    named = get_origin(kind) or kind
    if _is_mark(kind) or (isinstance(named, type) and issubclass(named, _SECRET_TYPES)):
        return True
    return any(map(is_secret, get_args(kind)))


@lru_cache(1_024)
def secret_fields(kind: type) -> frozenset[str]:
    """Return the names of the marked fields of a pydantic model or dataclass; an empty set for any other type."""
    if issubclass(kind, BaseModel):
        return frozenset(name for name, field in kind.model_fields.items() if is_secret(field))
    if not dataclasses.is_dataclass(kind):
        return frozenset()
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception:  # noqa: BLE001  # hints given as text may hold anything; better hidden than shown
        hints = {}
    return frozenset(
        field.name
        for field in dataclasses.fields(kind)
        if is_secret(hints.get(field.name, field.type)) or "Secret" in str(hints.get(field.name, field.type))
    )


def _is_mark(value: object) -> bool:
    return value is Secret or isinstance(value, Secret)


def _is_marked(node: JsonSchema) -> bool:
    return node.get("writeOnly") is True or node.get("format") == "password"


def _texts(value: object) -> Iterator[str]:
    todo = [value]
    while todo:
        match todo.pop():
            case bool():
                pass
            case str() | int() | float() as scalar:
                yield str(scalar)
            case dict(mapping):
                todo += mapping.values()
            case list(items):
                todo += items


def _items(value: object) -> Iterator[tuple[str | int, object]]:
    match value:
        case dict(mapping):
            yield from mapping.items()
        case list(items):
            yield from enumerate(items)


def _unfolded(nodes: list[Schema], root: Schema) -> list[Schema]:
    """Return the schemas and all those that apply to the same value: references, branches, conditions."""
    found: dict[int, Schema] = {}
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if not isinstance(node, dict) or id(node) in found:
            continue
        found[id(node)] = node
        todo += [part for key in _SAME_VALUE for part in _listed(node.get(key))]
        todo += [node[key] for key in _CONDITIONAL if key in node]
        todo += _referred(node, root)
    return list(found.values())


def _referred(node: Schema, root: Schema) -> list[Schema]:
    if not isinstance(target := node.get("$ref"), str):
        return []
    resource = Resource.from_contents(root, default_specification=DRAFT202012)
    try:
        return [References().with_resource("", resource).resolver().lookup(target).contents]
    except Unresolvable:
        return []


def _reached(schema: Schema, path: Path) -> list[Schema] | None:
    """Return the schemas of the value at the path; None if the path leads into a secret."""
    nodes = _unfolded([schema], schema)
    for part in path:
        if any(map(_is_marked, nodes)):
            return None
        nodes = _unfolded(_schemas_at(nodes, part), schema)
    return None if any(map(_is_marked, nodes)) else nodes


def _schemas_at(nodes: list[Schema], part: str | int) -> list[Schema]:
    """Return the schemas of the value under a key, or at an index of a list."""
    return [child for node in nodes for child in _part(node, part)]


def _part(node: Schema, part: str | int) -> list[Schema]:
    if isinstance(part, int):
        placed = _in_order(node)
        if part < len(placed):
            return [placed[part]]
        return [node[key] for key in _OTHER_ITEMS if isinstance(node.get(key), dict)]
    named = [child for name, child in _mapped(node.get("properties")) if name == part]
    named += [child for name, child in _mapped(node.get("patternProperties")) if _fits(name, part)]
    return named or [node[key] for key in _OTHER_KEYS if isinstance(node.get(key), dict)]


def _parts(node: Schema) -> Iterator[tuple[str | int, Schema]]:
    """Yield the schemas of everything that a value may hold, each with its key."""
    yield from _mapped(node.get("properties"))
    yield from enumerate(_in_order(node))
    others = [child for _, child in _mapped(node.get("patternProperties"))]
    others += [node[key] for key in (*_OTHER_KEYS, *_OTHER_ITEMS) if isinstance(node.get(key), dict)]
    yield from ((ANY, other) for other in others)


def _all_schemas(nodes: list[Schema], root: Schema) -> Iterator[tuple[Path, Schema]]:
    """Yield every schema at and below these once, with its path from them: breadth first."""
    seen: set[int] = set()
    todo: deque[tuple[Path, list[Schema]]] = deque([((), nodes)])
    while todo:
        path, heads = todo.popleft()
        fresh = [node for node in _unfolded(heads, root) if id(node) not in seen]
        seen.update(map(id, fresh))
        for node in fresh:
            yield path, node
            todo += [((*path, part), [child]) for part, child in _parts(node)]


def _bare(node: Json, root: Schema) -> Json:
    if isinstance(node, list):
        return [_bare(item, root) for item in node]
    if not isinstance(node, dict):
        return node
    holds_secret = any(_is_marked(place) for _, place in _all_schemas([node], root))
    hidden = {"default"} if holds_secret else set()
    hidden |= {"examples"} if _is_marked(node) else set()
    return {key: _bare_under(key, child, root) for key, child in node.items() if key not in hidden}


def _bare_under(key: str, child: Json, root: Schema) -> Json:
    if key in _MAPS:
        return {name: _bare(one, root) for name, one in _mapped(child)}
    return _bare(child, root) if isinstance(child, dict | list) and key in _SCHEMAS else child


def _in_order(node: Schema) -> list[Schema]:
    """Return the schemas of the first items; before draft 2020-12 they were under `items`."""
    return _listed(node.get("prefixItems")) or _listed(node.get("items"))


def _mapped(value: object) -> list[tuple[str, Schema]]:
    return [(name, child) for name, child in value.items()] if isinstance(value, dict) else []


def _listed(value: object) -> list[Schema]:
    return value if isinstance(value, list) else []


def _fits(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:  # written for another regex engine: better hidden than shown
        return True
