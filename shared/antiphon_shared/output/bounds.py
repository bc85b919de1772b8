"""A bound on the work that a caller's JSON Schema may cause. Pure.

References can make a small schema expensive: definitions that use each other twice double the work at each
level, and a definition that refers back to itself in two ways doubles it at each level of the value. So a
schema is walked as if every reference were written out, up to a bound, and may refer back to itself only
if a part of the value is visited once: through properties, items and `anyOf` with null.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon_shared.values import JsonObject, JsonSchema, members

EXPANDED_MAX = 10_000
"""The number of schemas inside a schema, with references written out."""
DEPTH_MAX = 32
"""The number of levels of a schema as written."""
_BY_NAME = ("properties",)
_INTO = ("items", "additionalProperties")
"""Keywords that visit each part of a value once."""
_MAPS = ("patternProperties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf")
_SINGLE = (
    "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip  # a text, not a column
_NOT_TAKEN = "$id and $dynamicRef are not supported; refer to a part by $ref: #/$defs/NAME"
_LOOKING = {"$ref", "prefixItems", *_BY_NAME, *_INTO, *_MAPS, *_LISTS, *_SINGLE}
"""Keywords that check a value, or parts of it, against another schema."""


class UnfitSchema(ValueError):
    """A schema that cannot be used; its text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class _Walk:
    """The path on which a schema was reached."""

    opened: Mapping[str, "_Walk"]
    """By each reference followed on the way: the state when it was first reached."""
    depth: int = 0
    """Steps into the value."""
    forks: int = 0
    """Keywords on the way that may visit a part of a value more than once."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The properties of an accepted schema, with its references written out."""

    is_recursive: bool
    """Whether it refers back to itself."""
    forked: int
    """The number of schemas that visit a part of a value which other schemas visit too."""


def checked(schema: JsonSchema) -> Extent:
    """Return the extent of a schema.

    Raises UnfitSchema for a schema that is too expensive, nested too deeply, or that refers outside the
    document.
    """
    _refuse_deep(schema, DEPTH_MAX)
    start = _Walk({})
    waiting = [(schema, _Walk({"#": start}))]
    expanded, forked, is_recursive = 0, 0, False
    while waiting:
        node, walk = waiting.pop()
        expanded += 1
        forked += walk.forks > 0
        if expanded > EXPANDED_MAX:
            raise UnfitSchema(
                f"it holds more than {EXPANDED_MAX:,} schemas once its references are written out; describe less"
            )
        if isinstance(node, dict):
            is_recursive |= str(node.get("$ref")) in walk.opened
            waiting += _parts(node, walk, schema, is_root=node is schema)
    return Extent(is_recursive, forked)


def _parts(node: JsonObject, walk: _Walk, schema: JsonSchema, is_root: bool) -> Iterator[tuple[Any, _Walk]]:
    """Yield the schemas in a schema, with the path to each."""
    if not is_root:
        _refuse_own_base(node)
    if "$dynamicRef" in node:
        raise UnfitSchema(_NOT_TAKEN)
    # With several keywords, a schema applied in place visits parts that the others visit too.
    here = walk if sum(keyword in _LOOKING for keyword in node) == 1 else _forked(walk)
    if isinstance(reference := node.get("$ref"), str) and (followed := _followed(reference, here)):
        yield _resolved(reference, schema), followed
    into = _Walk(walk.opened, walk.depth + 1, walk.forks)
    forked, forked_into = _forked(walk), _forked(into)
    for keyword, part in node.items():
        if keyword in _BY_NAME and isinstance(part, dict):
            yield from ((one, into) for one in part.values())
        elif keyword in _INTO:
            yield part, into
        elif keyword == "prefixItems" and isinstance(part, list):
            yield from ((one, into) for one in part)
        elif keyword in _LISTS and isinstance(part, list):
            is_optional = keyword == "anyOf" and sum(one != {"type": "null"} for one in part) == 1
            yield from ((one, here if is_optional else forked) for one in part)
        elif keyword in _MAPS and isinstance(part, dict):
            yield from ((one, forked_into) for one in part.values())
        elif keyword in _SINGLE:
            yield part, forked


def _forked(walk: _Walk) -> _Walk:
    return _Walk(walk.opened, walk.depth, walk.forks + 1)


def _followed(reference: str, walk: _Walk) -> _Walk | None:
    """Return the path to a referenced schema, or None if the same path has visited it before."""
    before = walk.opened.get(reference)
    if before is None:
        return _Walk({**walk.opened, reference: walk}, walk.depth, walk.forks)
    if before.depth == walk.depth:
        raise UnfitSchema(f"$ref {reference!r} leads to itself without a step into the value")
    if before.forks < walk.forks:
        raise UnfitSchema(
            f"$ref {reference!r} leads back to itself through anyOf, allOf or the like, which may take for ever to "
            "evaluate; lead back through properties or items alone"
        )
    return None


def _resolved(reference: str, schema: JsonSchema) -> Any:
    """Return the part of the document that a reference names. Raises UnfitSchema."""
    if reference != "#" and not reference.startswith("#/"):
        raise UnfitSchema(
            f"$ref {reference[:100]!r} refers to a place outside the document; put the schema under $defs, as "
            "#/$defs/NAME"
        )
    if "%" in reference:
        raise UnfitSchema(f"$ref {reference[:100]!r} is escaped by %; give what it names a plainer name")
    target: Any = schema
    for step in reference.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict) and name in target:
            target = target[name]
        elif isinstance(target, list) and name in map(str, range(len(target))):
            target = target[int(name)]
        else:
            raise UnfitSchema(f"$ref {reference[:100]!r} names nothing in the document")
        _refuse_own_base(target)
    return target


def _refuse_own_base(node: object) -> None:
    """Raise UnfitSchema for a part that is a new base for references."""
    if isinstance(node, dict) and isinstance(node.get("$id"), str):
        raise UnfitSchema(_NOT_TAKEN)


def _refuse_deep(value: object, depth_left: int) -> None:
    if not isinstance(value, dict | list):
        return
    if depth_left == 0:
        raise UnfitSchema(f"it has more than {DEPTH_MAX} levels; name parts under $defs")
    for part in members(value):
        _refuse_deep(part, depth_left - 1)
