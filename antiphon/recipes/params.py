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


def params_of(bound: Sequence[Mapping[str, Bound]], nodes: Sequence[str]) -> dict[str, RecipeParam]:
    """Return the params by name; `bound` has an entry for each call. Raises NotLearnable."""
    by_key: dict[str, FromParam] = {}
    for source in sources([*(one for arguments in bound for one in arguments.values())]):
        if isinstance(source, FromParam):
            by_key.setdefault(source.key, source)
    params: dict[str, RecipeParam] = {}
    for key, source in by_key.items():
        name = free_name(as_name(source.name), {*nodes, *params})
        params[name] = RecipeParam(key, _param(source), source.values)
    return params


def _param(source: FromParam) -> Param:
    values = [value for value in source.values if value is not None]
    types = {*map(type_name, values)}
    if types == {"int", "float"} or (types == {"int"} and source.schema.get("type") == "number"):
        types = {"float"}
    if len(types) != 1:
        raise NotLearnable(
            f"the argument {source.name} has the types {' and '.join(sorted(types))} in these "
            "sessions, but a param has one type."
        )
    type, description = types.pop(), source.schema.get("description")
    fields: dict[str, Any] = {
        "type": type,
        "required": len(values) == len(source.values),
        "description": description[:_DESCRIPTION_MAX] if isinstance(description, str) else "",
    }
    if not source.is_secret:
        fields |= _details(source.schema, type, values)
    return Param.model_validate(fields)


def _details(schema: Mapping[str, Any], type: str, values: Sequence[Any]) -> dict[str, Any]:
    """Return the fields of a param that show values."""
    enum = schema.get("enum")
    is_listed = isinstance(enum, list) and 0 < len(enum) <= _ENUM_MAX and all(one in enum for one in values)
    has_example = type not in ("list", "object") and len(short_json(values[0])) <= _EXAMPLE_MAX
    return {
        "example": values[0] if has_example else None,
        "format": _format(schema, values) if type == "str" else None,
        "enum": tuple(one for one in enum or () if type_name(one) == type) if is_listed else None,
    }


def _format(schema: Mapping[str, object], values: Sequence[str]) -> str | None:
    """Return the tool's format, or the format of dates, if all values have it."""
    declared = schema.get("format")
    candidates = [declared] if declared in _FORMATS else [*_RECOGNISED]
    for format in candidates:
        param = Param.model_validate({"type": "str", "format": format})
        if all(param.problem(value) is None for value in values):
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
