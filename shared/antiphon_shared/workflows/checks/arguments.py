"""Checks of a call's arguments against the schema of its tool, before the call is made. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic_core import from_json, to_json

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.values import Json, JsonObject, JsonSchema
from antiphon_shared.workflows.params import JSON_TYPES, Param, ParamType, short_json
from antiphon_shared.workflows.problem import Path, Problem, error
from antiphon_shared.workflows.references import MalformedReference, read_template, templates

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

NOT_CONVERTED = "Correct the value; values are not converted"
"""The hint for a value of the wrong type."""
_SCHEMAS_CACHED_MAX = 10_000
_MESSAGE_CHARACTERS_MAX = 200


def check_arguments(
    path: Path, args: Mapping[str, Json], tool: ToolDefinition, params: Mapping[str, Param]
) -> Iterator[Problem]:
    """Yield a problem for each unknown argument, each missing one, and each value that never fits."""
    schema = tool.input_schema
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return
    for name, value in args.items():
        if name in properties:
            if problem := _problem(schema, properties[name], value, params):
                yield error((*path, "args", name), "wrong_type", problem, NOT_CONVERTED)
        elif schema.get("additionalProperties", False) is False and "patternProperties" not in schema:
            why = f"{tool.name} has no parameter {name}"
            hint = did_you_mean(name, properties, "Remove it: the tool has no parameters")
            yield error((*path, "args", name), "unknown_argument", why, hint)
    for name in schema.get("required", ()):
        if name not in args:
            yield error((*path, "args"), "missing_argument", f"{tool.name} needs {name}", f"Add {name}")


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a value that does not exist before the run."""

    type: ParamType | None
    """The type of the value, if it is known."""
    text: str = ""
    """The reference to a param; empty for a text that holds references."""

    def __str__(self) -> str:
        return f"{self.text} is {self.type}" if self.text else "this is text"


def source_of(text: str, params: Mapping[str, Param]) -> Source | str:
    """Return the source of an argument's value; for a text without references, the value itself."""
    try:
        template = read_template(text)
    except MalformedReference:
        return Source(None)  # flow.py reports it
    if (reference := template.single_reference) is not None:
        param = None if reference.path else params.get(reference.name)
        return Source(param.type if param else None, text)
    return Source("str") if template.references else "".join(map(str, template.parts))


def _problem(schema: JsonSchema, part: Json, value: Json, params: Mapping[str, Param]) -> str | None:
    if isinstance(value, str):
        source = source_of(value, params)
        if isinstance(source, Source):
            return source.type and _type_problem(part, JSON_TYPES[source.type], str(source))
        value = source
    if isinstance(value, dict | list) and next(templates(value), None) is not None:
        container_type = "object" if isinstance(value, dict) else "array"
        wrong = _type_problem(part, container_type, f"the value is {short_json(value)}")
        return wrong or _problem_inside(schema, part, value, params)
    validator = _validator(
        to_json({**part, "$defs": schema.get("$defs", {})} if isinstance(part, dict) else part)
    )
    if validator is None or validator.is_valid(value):
        return None
    return next(iter(validator.iter_errors(value))).message.partition("\n")[0][:_MESSAGE_CHARACTERS_MAX]


def _problem_inside(
    schema: JsonSchema, part: Json, value: JsonObject | list[Json], params: Mapping[str, Param]
) -> str | None:
    """Return the problem of one of the values in an object or list that also holds references."""
    if not isinstance(part, dict):
        return None
    properties, items = part.get("properties"), part.get("items")
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(value, list):
            inner_part = None if "prefixItems" in part else items
        else:
            inner_part = properties.get(str(key)) if isinstance(properties, dict) else None
        if inner_part is not None and (problem := _problem(schema, inner_part, inner, params)):
            return f"{key}: {problem}"
    return None


def _type_problem(part: Json, actual: str, what: str) -> str | None:
    declared = part.get("type") if isinstance(part, dict) else None
    allowed = [declared] if isinstance(declared, str) else declared
    if not isinstance(allowed, list) or actual in allowed or (actual == "integer" and "number" in allowed):
        return None
    return f"{what}, but {' or '.join(map(str, allowed))} is required"


@lru_cache(_SCHEMAS_CACHED_MAX)
def _validator(schema: bytes) -> "Draft202012Validator | None":
    """Return the validator of a schema; None if it is not JSON Schema 2020-12."""
    from jsonschema_rs import Draft202012Validator, ReferencingError, RegexOptions, ValidationError

    try:
        return Draft202012Validator(from_json(schema), offline=True, pattern_options=RegexOptions())
    except (ValidationError, ReferencingError, ValueError):
        return None
