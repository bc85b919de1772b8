"""From a function with type hints to its parameters: a JSON Schema and a compiled validator."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args

from antiphon_shared.values import JsonSchema
from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, RootModel, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import InvalidTool
from tool_dispatcher.authoring.parameters import SchemaParameters, TypedParameters, is_stricter_than_pydantic
from tool_dispatcher.authoring.secret import without_defaults

_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=False)
_UNUSABLE = (PydanticUserError, PydanticSchemaGenerationError, PydanticInvalidForJsonSchema, TypeError)


def parameters_of(tool: str, function: Callable[..., Any]) -> tuple[TypedParameters, tuple[str, ...]]:
    """Return the parameters of a function, and the names of those that take the ToolContext.

    Raises InvalidTool, which names the parameter and the remedy.
    """
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise InvalidTool(tool, "it is a generator", hint="Return a list instead of yielding.")
    parameters = _signature(tool, function).parameters.values()
    for parameter in parameters:
        _check_parameter(tool, parameter)
    contexts = tuple(p.name for p in parameters if _is_context(p.annotation))
    argument_parameters = [p for p in parameters if p.name not in contexts]
    model: type[BaseModel]
    fields: dict[str, str] = {}
    model_parameter: str | None = None
    match argument_parameters:
        case [only] if isinstance(only.annotation, type) and issubclass(only.annotation, BaseModel):
            model, model_parameter = only.annotation, only.name
            if issubclass(model, RootModel):
                raise InvalidTool(
                    tool,
                    f"parameter {model_parameter!r} is a RootModel, but a call's arguments are an object",
                    hint="Use a BaseModel with fields.",
                    parameter=model_parameter,
                )
        case _:
            fields = {parameter.name: f"p{n}" for n, parameter in enumerate(argument_parameters)}
            model = _model(tool, argument_parameters)
    schema = without_defaults(_schema(tool, model))
    optional = frozenset(p.name for p in argument_parameters if p.default is not p.empty)
    stricter = SchemaParameters.of(tool, schema) if is_stricter_than_pydantic(schema) else None
    return TypedParameters(schema, model, fields, optional, model_parameter, stricter), contexts


def _signature(tool: str, function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except NameError as error:
        raise InvalidTool(
            tool,
            f"a type hint cannot be resolved: {error}",
            hint="Define the type at the module's top level.",
        ) from None
    except (TypeError, ValueError) as error:
        raise InvalidTool(
            tool, f"its signature is unreadable: {error}", hint="Wrap it in a function with type hints."
        ) from None


def _check_parameter(tool: str, parameter: inspect.Parameter) -> None:
    name = parameter.name
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
        raise InvalidTool(
            tool, f"it takes {stars}{name}", hint="Name every parameter, with a type hint.", parameter=name
        )
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise InvalidTool(
            tool,
            f"parameter {name!r} is positional-only",
            hint="Remove the `/` from the signature.",
            parameter=name,
        )
    if parameter.annotation is parameter.empty:
        fix = f"Write `{name}: str`, or another type."
        if name in ("self", "cls"):
            fix = "Decorate the bound method: `tool(effect=...)(instance.method)`."
        raise InvalidTool(tool, f"parameter {name!r} needs a type hint", hint=fix, parameter=name)
    if isinstance(parameter.default, FieldInfo):
        raise InvalidTool(
            tool,
            f"parameter {name!r} has a Field as its default",
            hint=f"Write `{name}: Annotated[..., Field(...)] = default`.",
            parameter=name,
        )


def _is_context(annotation: object) -> bool:
    return annotation is ToolContext or ToolContext in get_args(annotation)


def _model(tool: str, parameters: list[inspect.Parameter]) -> type[BaseModel]:
    """Return a model with one field per parameter.

    The fields have neutral names, because a parameter may be called `json` or `_x`.
    """
    fields: dict[str, Any] = {}
    for n, parameter in enumerate(parameters):
        default = ... if parameter.default is parameter.empty else parameter.default
        field = _field(parameter, default)
        try:
            _schema(tool, create_model("Arguments", __config__=_STRICT, p=field))
        except (InvalidTool, *_UNUSABLE) as error:
            raise InvalidTool(
                tool,
                f"the type of parameter {parameter.name!r} cannot be used: {_first_line(error)}",
                hint="Use str, int, float, bool, list, dict, Literal, an Enum or a pydantic model.",
                parameter=parameter.name,
            ) from None
        fields[f"p{n}"] = field
    return create_model("Arguments", __config__=_STRICT, **fields)


def _field(parameter: inspect.Parameter, default: object) -> tuple[Any, Any]:
    name = parameter.name
    aliased = Field(alias=name, validation_alias=name, serialization_alias=name)
    return Annotated[parameter.annotation, aliased], default


class _Schema(GenerateJsonSchema):
    """A generator of schemas without titles, which would repeat the names, and without defaults that are not JSON."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def _schema(tool: str, model: type[BaseModel]) -> JsonSchema:
    try:
        schema = model.model_json_schema(schema_generator=_Schema)
    except _UNUSABLE as error:
        raise InvalidTool(
            tool,
            f"its parameters have no JSON Schema: {_first_line(error)}",
            hint="Use types that JSON supports.",
        ) from None
    definitions = schema.get("$defs", {})
    if "$ref" in schema:
        schema = {**definitions[schema["$ref"].removeprefix("#/$defs/")], "$defs": definitions}
    schema = {**schema, "$defs": {name: _closed(part) for name, part in definitions.items()}}
    if not definitions:
        del schema["$defs"]
    return _closed(schema)


def _closed(schema: JsonSchema) -> JsonSchema:
    """Return the schema of a model without its title, and with unknown fields forbidden."""
    closed = {key: value for key, value in schema.items() if key != "title"}
    if closed.get("type") == "object" and "properties" in closed:
        closed["additionalProperties"] = False
    if closed.get("type") == "object":
        closed.setdefault("properties", {})
        closed.setdefault("additionalProperties", False)
    return closed


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")
