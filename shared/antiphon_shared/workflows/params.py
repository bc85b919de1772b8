"""Values that are given by name: to a workflow, by a person, by a model. Pure."""

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic_core import to_json

from antiphon_shared.text.excerpt import cut
from antiphon_shared.values import JsonObject, JsonSchema, Value

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
"""A name that a reference can use."""
ParamType = Literal["str", "int", "float", "bool", "list", "object"]
Format = Literal["date", "date-time", "time", "email", "uri", "uuid"]

JSON_TYPES: dict[str, str] = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "object": "object",
}
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "list": (list, tuple),
    "object": (dict,),
}
_VALUE_CHARACTERS_MAX = 80


def _as_tuple(value: object) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Param(Value):
    """A requested value."""

    type: ParamType
    required: bool = False
    default: Any = Field(default=None, description="A default makes it optional.")
    description: str = Field(default="", max_length=2_000)
    example: Any = None
    format: Format | None = Field(default=None, description="Only of type str.")
    enum: Annotated[
        tuple[Any, ...] | None, BeforeValidator(_as_tuple, json_schema_input_type=list[Any] | None)
    ] = Field(default=None, min_length=1, max_length=1_000)

    @property
    def is_required(self) -> bool:
        """Return whether a value must be given."""
        return self.required and self.default is None

    def as_schema(self) -> JsonSchema:
        """Return the JSON Schema of its values."""
        schema: JsonSchema = {"type": JSON_TYPES[self.type]}
        if self.description:
            schema["description"] = self.description
        if self.format:
            schema["format"] = self.format
        if self.enum:
            schema["enum"] = [*self.enum]
        return schema

    def problem(self, value: object) -> str | None:
        """Return why a value does not fit; None if it does. Values are not converted: "3" is not an int."""
        if type(value) not in _PYTHON_TYPES[self.type]:
            return f"{short_json(value)} is {type_name(value)}, but {self.type} is required"
        if self.format and not _has_format(self.format).is_valid(value):
            return f"{short_json(value)} is not a valid {self.format}"
        if self.enum and not any(type(one) is type(value) and one == value for one in self.enum):
            return f"{short_json(value)} is none of {', '.join(map(short_json, self.enum[:20]))}"
        return None


def _as_fields(value: object) -> Any:
    """Return `{name: type}` in its full form."""
    if not isinstance(value, Mapping):
        return value
    return {
        name: {"type": one, "required": True} if isinstance(one, str) else one for name, one in value.items()
    }


Fields = Annotated[
    dict[Name, Param],
    Field(min_length=1, max_length=100),
    BeforeValidator(_as_fields, json_schema_input_type=dict[Name, ParamType | Param]),
]
"""Values that a node asks for, by name."""


def as_json(params: Mapping[str, Param]) -> JsonObject:
    """Return params in the form of a file."""
    return {name: param.model_dump(mode="json", exclude_defaults=True) for name, param in params.items()}


def object_schema(params: Mapping[str, Param]) -> JsonSchema:
    """Return the JSON Schema of an object with a value for each param."""
    return {
        "type": "object",
        "properties": {name: param.as_schema() for name, param in params.items()},
        "required": [name for name, param in params.items() if param.is_required],
        "additionalProperties": False,
    }


def type_name(value: object) -> str:
    """Return the name of a JSON value's type: `str`, `int`, ..., `null`."""
    if value is None:
        return "null"
    return next((name for name, types in _PYTHON_TYPES.items() if type(value) in types), type(value).__name__)


def short_json(value: object) -> str:
    """Return a JSON value in its written form, cut to a maximum."""
    return cut(to_json(value, fallback=str).decode(errors="replace"), _VALUE_CHARACTERS_MAX)


@lru_cache
def _has_format(format: Format) -> "Draft202012Validator":
    from jsonschema_rs import Draft202012Validator  # imported only for a format

    return Draft202012Validator({"format": format}, validate_formats=True)
