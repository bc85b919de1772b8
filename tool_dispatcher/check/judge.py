"""The judgement of a tool's published schema on arguments, independent of the tool's validation. Pure."""

import json
from dataclasses import dataclass
from typing import Literal

from antiphon_shared.tools.contract import CONTRACT_KEYWORD
from antiphon_shared.values import JsonSchema, ToolArguments
from jsonschema import Draft202012Validator
from jsonschema import ValidationError as SchemaError
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from referencing import Registry as References

from tool_dispatcher.authoring.argument_errors import not_json
from tool_dispatcher.authoring.secret import secret_paths, secrets_in
from tool_dispatcher.check.hostile import DEEP
from tool_dispatcher.check.locations import depth_of
from tool_dispatcher.check.short_json import short_json

_DEPTH_MAX = DEEP + 10
"""The depth up to which every reader of JSON accepts a value."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement of a schema on arguments; `either` if a tool may accept or refuse them."""

    word: Literal["valid", "invalid", "either"]
    why: str = ""
    is_json: bool = True
    """Whether the arguments are JSON, which a schema cannot demand."""


class Judge:
    """A judge of arguments by one schema; the contract in the schema is ignored."""

    def __init__(self, input_schema: JsonSchema) -> None:
        self.schema = {key: value for key, value in input_schema.items() if key != CONTRACT_KEYWORD}
        kind = validator_for(self.schema, default=Draft202012Validator)
        self._validator = kind(self.schema, registry=References())
        self.text = json.dumps(self.schema)
        self._has_secrets = bool(secret_paths(self.schema))

    def of(self, arguments: ToolArguments) -> Judgement:
        """Return the judgement on arguments. Values that are not JSON are invalid: no schema can forbid NaN."""
        if problem := not_json(arguments):
            return Judgement("invalid", problem, is_json=False)
        is_deep = depth_of(arguments) > _DEPTH_MAX
        try:
            error = best_match(self._validator.iter_errors(arguments))
        except (RecursionError, ArithmeticError, ValueError):  # too deep or too large for the validator
            return Judgement("either")
        if error is not None:
            return Judgement("invalid", _error_text(error))
        return Judgement("either") if is_deep else Judgement("valid")

    def secrets_in(self, arguments: ToolArguments) -> tuple[str, ...]:
        """Return the texts in the arguments that the schema marks as secret."""
        return secrets_in(self.schema, arguments) if self._has_secrets else ()


def _error_text(error: SchemaError) -> str:
    """Return an error as text, such as `limit: "type": "integer" does not hold`.

    The message of jsonschema would quote the whole value.
    """
    where = ".".join(str(part) for part in error.absolute_path) or "the arguments"
    rule = short_json(error.validator_value, 120)
    if error.validator == "additionalProperties":
        return f"{where}: a field that the schema does not have"
    return f'{where}: "{error.validator}": {rule} does not hold'
