"""Checks of a call's arguments against the schema of its tool, before the call is made. Pure."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic_core import from_json, to_json

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.values import Json, JsonObject, JsonSchema
from antiphon_shared.workflows.params import JSON_TYPES, Param, short_json
from antiphon_shared.workflows.problem import Path, Problem, error
from antiphon_shared.workflows.references import MalformedReference, read_template, templates

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

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
                yield error(
                    (*path, "args", name),
                    "wrong_type",
                    problem,
                    "Correct the value; values are not converted",
                )
        elif schema.get("additionalProperties", False) is False and "patternProperties" not in schema:
            hint = did_you_mean(name, properties, "Remove it: the tool has no parameters").rstrip(".")
            yield error(
                (*path, "args", name), "unknown_argument", f"{tool.name} has no parameter {name}", hint
            )
    for name in schema.get("required", ()):
        if name not in args:
            yield error((*path, "args"), "missing_argument", f"{tool.name} needs {name}", f"Add {name}")


def _problem(schema: JsonSchema, part: Json, value: Json, params: Mapping[str, Param]) -> str | None:
    if isinstance(value, str) and "$" in value:
        try:
            template = read_template(value)
        except MalformedReference:
            return None
        if template.single_reference is not None:
            param = params.get(template.single_reference.name)
            if param is None or template.single_reference.path:
                return None
            return _type_problem(part, JSON_TYPES[param.type], f"{value} is {param.type}")
        if template.references:
            return _type_problem(part, "string", "this is text")
        value = "".join(map(str, template.parts))
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
