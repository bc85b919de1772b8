"""Secret values: the mark that an author sets, and the search for it in schemas and types. Pure.

In a JSON Schema the mark is `"writeOnly": true` or `"format": "password"`; pydantic writes both for SecretStr.
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

Path = tuple[str | int, ...]

ANY = "*"
"""In a path of `secret_paths`: every item of a list, or every value of a mapping."""

_SAME_VALUE = ("allOf", "anyOf", "oneOf")
_CONDITIONAL = ("if", "then", "else")
_OTHER_KEYS = ("additionalProperties", "unevaluatedProperties")
_OTHER_ITEMS = ("items", "additionalItems", "unevaluatedItems", "contains")
_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_SCHEMAS = (*_SAME_VALUE, *_CONDITIONAL, *_OTHER_KEYS, *_OTHER_ITEMS, "prefixItems", "not")
SECRET_TYPES = (SecretStr, SecretBytes, pydantic.Secret)


class Secret:
    """The mark of a parameter, or of a field of a result, whose value is never shown: `Annotated[str, Secret]`."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchema:
        schema = {**handler(core), "writeOnly": True}
        kinds = {branch.get("type") for branch in (schema, *schema.get("anyOf", ()))}
        return {**schema, "format": "password"} if "string" in kinds else schema


def secrets_in(schema: JsonSchema, arguments: object) -> tuple[str, ...]:
    """Return the arguments that the schema marks as secret, as texts: each once, without empty ones."""
    texts: dict[str, None] = {}
    todo: list[tuple[object, list[JsonSchema]]] = [(arguments, _applying_schemas([schema], schema))]
    while todo:
        value, nodes = todo.pop()
        if any(map(_is_marked, nodes)):
            texts |= dict.fromkeys(_texts(value))
            continue
        for key, item in _items(value):
            if below := _applying_schemas(_schemas_at(nodes, key), schema):
                todo.append((item, below))
    return tuple(text for text in texts if text)


def secret_paths(schema: JsonSchema) -> tuple[Path, ...]:
    """Return the shortest path of each secret in a schema; `*` means any item."""
    return tuple(dict.fromkeys(path for path, node in _all_schemas([schema], schema) if _is_marked(node)))


def is_secret_at(schema: JsonSchema, path: Path) -> bool:
    """Return whether the value at the path is a secret or part of one."""
    return _schemas_at_path(schema, path) is None


def holds_secret(schema: JsonSchema, path: Path) -> bool:
    """Return whether the value at the path is a secret, is part of one, or may hold one."""
    nodes = _schemas_at_path(schema, path)
    return nodes is None or any(_is_marked(node) for _, node in _all_schemas(nodes, schema))


def without_defaults(schema: JsonSchema) -> JsonSchema:
    """Return the schema without the defaults and examples of secrets, so that it can be published."""
    bare = _without_secret_defaults(schema, schema) if secret_paths(schema) else schema
    assert isinstance(bare, dict), "a schema stays an object"
    return bare


def is_secret(kind: object) -> bool:
    """Return whether a type hint or a pydantic field, or a part of it, has the mark."""
    if isinstance(kind, FieldInfo):
        extra = kind.json_schema_extra
        is_marked = isinstance(extra, dict) and _is_marked(extra)
        return is_marked or any(map(_is_mark, kind.metadata)) or is_secret(kind.annotation)
    origin = get_origin(kind) or kind
    if _is_mark(kind) or (isinstance(origin, type) and issubclass(origin, SECRET_TYPES)):
        return True
    return any(map(is_secret, get_args(kind)))


@lru_cache(1_024)
def secret_fields(kind: type) -> frozenset[str]:
    """Return the names of the marked fields of a pydantic model or dataclass; an empty set for another type."""
    if issubclass(kind, BaseModel):
        return frozenset(name for name, field in kind.model_fields.items() if is_secret(field))
    if not dataclasses.is_dataclass(kind):
        return frozenset()
    try:
        hints = get_type_hints(kind, include_extras=True)
    except Exception:  # noqa: BLE001  # evaluating a hint in quotes may raise anything; then the field's text decides
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


def _applying_schemas(nodes: list[JsonSchema], root: JsonSchema) -> list[JsonSchema]:
    """Return these schemas and all others that apply to the same value: references, branches, conditions."""
    applying: dict[int, JsonSchema] = {}
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if not isinstance(node, dict) or id(node) in applying:
            continue
        applying[id(node)] = node
        todo += [part for key in _SAME_VALUE for part in _listed(node.get(key))]
        todo += [node[key] for key in _CONDITIONAL if key in node]
        todo += _referred(node, root)
    return list(applying.values())


def _referred(node: JsonSchema, root: JsonSchema) -> list[JsonSchema]:
    if not isinstance(target := node.get("$ref"), str):
        return []
    resource = Resource.from_contents(root, default_specification=DRAFT202012)
    try:
        return [References().with_resource("", resource).resolver().lookup(target).contents]
    except Unresolvable:
        return []


def _schemas_at_path(schema: JsonSchema, path: Path) -> list[JsonSchema] | None:
    """Return the schemas of the value at the path; None if the path leads into a secret."""
    nodes = _applying_schemas([schema], schema)
    for part in path:
        if any(map(_is_marked, nodes)):
            return None
        nodes = _applying_schemas(_schemas_at(nodes, part), schema)
    return None if any(map(_is_marked, nodes)) else nodes


def _schemas_at(nodes: list[JsonSchema], part: str | int) -> list[JsonSchema]:
    """Return the schemas of the value under a key, or at an index of a list."""
    return [child for node in nodes for child in _children_at(node, part)]


def _children_at(node: JsonSchema, part: str | int) -> list[JsonSchema]:
    if isinstance(part, int):
        item_schemas = _item_schemas(node)
        if part < len(item_schemas):
            return [item_schemas[part]]
        return [node[key] for key in _OTHER_ITEMS if isinstance(node.get(key), dict)]
    children = [child for name, child in _mapped(node.get("properties")) if name == part]
    children += [child for name, child in _mapped(node.get("patternProperties")) if _fits(name, part)]
    return children or [node[key] for key in _OTHER_KEYS if isinstance(node.get(key), dict)]


def _children(node: JsonSchema) -> Iterator[tuple[str | int, JsonSchema]]:
    """Yield the schemas of all parts of a value, each with its key."""
    yield from _mapped(node.get("properties"))
    yield from enumerate(_item_schemas(node))
    others = [child for _, child in _mapped(node.get("patternProperties"))]
    others += [node[key] for key in (*_OTHER_KEYS, *_OTHER_ITEMS) if isinstance(node.get(key), dict)]
    yield from ((ANY, other) for other in others)


def _all_schemas(nodes: list[JsonSchema], root: JsonSchema) -> Iterator[tuple[Path, JsonSchema]]:
    """Yield these schemas and all schemas below them, breadth first, each once and with its path."""
    seen: set[int] = set()
    todo: deque[tuple[Path, list[JsonSchema]]] = deque([((), nodes)])
    while todo:
        path, heads = todo.popleft()
        fresh = [node for node in _applying_schemas(heads, root) if id(node) not in seen]
        seen.update(map(id, fresh))
        for node in fresh:
            yield path, node
            todo += [((*path, part), [child]) for part, child in _children(node)]


def _without_secret_defaults(node: Json, root: JsonSchema) -> Json:
    if isinstance(node, list):
        return [_without_secret_defaults(item, root) for item in node]
    if not isinstance(node, dict):
        return node
    holds_secret = any(_is_marked(below) for _, below in _all_schemas([node], root))
    removed = {"default"} if holds_secret else set()
    removed |= {"examples"} if _is_marked(node) else set()
    return {
        key: _keyword_without_secret_defaults(key, child, root)
        for key, child in node.items()
        if key not in removed
    }


def _keyword_without_secret_defaults(key: str, child: Json, root: JsonSchema) -> Json:
    if key in _MAPS:
        return {name: _without_secret_defaults(one, root) for name, one in _mapped(child)}
    return (
        _without_secret_defaults(child, root) if isinstance(child, dict | list) and key in _SCHEMAS else child
    )


def _item_schemas(node: JsonSchema) -> list[JsonSchema]:
    """Return the schemas of a list's first items; before draft 2020-12 they were under `items`."""
    return _listed(node.get("prefixItems")) or _listed(node.get("items"))


def _mapped(value: object) -> list[tuple[str, JsonSchema]]:
    return list(value.items()) if isinstance(value, dict) else []


def _listed(value: object) -> list[JsonSchema]:
    return value if isinstance(value, list) else []


def _fits(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:  # the pattern is for another regex engine; True hides the value
        return True
