"""The params of a recipe: names, types, and details from the schemas of the tools. Pure."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon_shared.workflows.params import Param, short_json, type_name

from antiphon.recipes.chain import NotLearnable
from antiphon.recipes.sources import Bound, FromParam, sources

NAME_MAX = 64
_DESCRIPTION_MAX = 300
_ENUM_MAX = 50
_EXAMPLE_MAX = 200
_FORMATS = ("date", "date-time", "time", "email", "uri", "uuid")
_RECOGNISED = ("date", "date-time")


@dataclass(frozen=True, slots=True)
class RecipeParam:
    """A param of a recipe."""

    key: str
    """The key of its sources; see sources.py."""
    param: Param
    values: tuple[Any, ...]
    """Its value in each session."""


def params_of(kept: Sequence[Mapping[str, Bound]], nodes: Sequence[str]) -> dict[str, RecipeParam]:
    """Return the params by name; `kept` has the arguments of each call. Raises NotLearnable."""
    found: dict[str, FromParam] = {}
    for source in sources([*(one for arguments in kept for one in arguments.values())]):
        if isinstance(source, FromParam):
            found.setdefault(source.key, source)
    params: dict[str, RecipeParam] = {}
    for key, source in found.items():
        name = free_name(as_name(source.name), {*nodes, *params})
        params[name] = RecipeParam(key, _param(source), source.values)
    return params


def _param(source: FromParam) -> Param:
    given = [value for value in source.values if value is not None]
    types = {*map(type_name, given)}
    if types == {"int", "float"} or (types == {"int"} and source.schema.get("type") == "number"):
        types = {"float"}
    if len(types) != 1:
        raise NotLearnable(
            f"the argument {source.name} has the types {' and '.join(sorted(types))} in these "
            "sessions, but a param has one type."
        )
    type = types.pop()
    description, enum = source.schema.get("description"), source.schema.get("enum")
    is_listed = isinstance(enum, list) and 0 < len(enum) <= _ENUM_MAX and all(one in enum for one in given)
    is_listed = is_listed and not source.is_secret
    is_shown = (
        not source.is_secret and type not in ("list", "object") and len(short_json(given[0])) <= _EXAMPLE_MAX
    )
    fields = {
        "type": type,
        "required": len(given) == len(source.values),
        "description": description[:_DESCRIPTION_MAX] if isinstance(description, str) else "",
        "example": given[0] if is_shown else None,
        "format": _format(source.schema, given) if type == "str" and not source.is_secret else None,
        "enum": tuple(one for one in enum or () if type_name(one) == type) if is_listed else None,
    }
    return Param.model_validate(fields)


def _format(schema: Mapping[str, Any], given: Sequence[str]) -> str | None:
    """Return the tool's format, or the format of dates, if all values have it."""
    named = schema.get("format")
    candidates = [named] if named in _FORMATS else [*_RECOGNISED]
    for format in candidates:
        param = Param.model_validate({"type": "str", "format": format})
        if all(param.problem(value) is None for value in given):
            return str(format)
    return None


def as_name(text: str) -> str:
    """Return a text as a name that references can use."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")[:NAME_MAX] or "value"
    return f"_{name}"[:NAME_MAX] if name[0].isdigit() else name


def free_name(name: str, taken: Container[str]) -> str:
    """Return a name, with a number appended where it is taken."""
    free, n = name, 1
    while free in taken:
        n += 1
        free = f"{name[: NAME_MAX - len(str(n)) - 1]}_{n}"
    return free
