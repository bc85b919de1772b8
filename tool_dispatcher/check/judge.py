"""The judgement whether a tool's published schema allows some arguments, apart from the tool's own validation. Pure."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from antiphon_shared.tools.contract import CONTRACT_KEYWORD
from antiphon_shared.values import JsonSchema, ToolArguments
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from referencing import Registry as References

from tool_dispatcher.authoring.argument_errors import not_json
from tool_dispatcher.authoring.secret import secret_paths, secrets_in
from tool_dispatcher.check.hostile import DEEP
from tool_dispatcher.check.schema_places import depth_of
from tool_dispatcher.check.shown import short_json

_DEPTH_MAX = DEEP + 10
"""A reader of JSON may refuse values that are nested deeper."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of the schema on some arguments; `either` if a tool may accept or refuse them."""

    word: Literal["valid", "invalid", "either"]
    why: str = ""


class Judge:
    """The judge by one schema; it ignores the contract in the schema."""

    def __init__(self, input_schema: JsonSchema) -> None:
        self.schema = {key: value for key, value in input_schema.items() if key != CONTRACT_KEYWORD}
        kind = validator_for(self.schema, default=Draft202012Validator)
        self._validator = kind(self.schema, registry=References())
        self.text = json.dumps(self.schema)
        self._has_secrets = bool(secret_paths(self.schema))

    def of(self, arguments: Any) -> Judgement:
        """Return the judgement on arguments. Values that are not JSON are invalid: no schema can forbid NaN."""
        if problem := not_json(arguments):
            return Judgement("invalid", problem)
        is_deep = depth_of(arguments) > _DEPTH_MAX
        try:
            error = best_match(self._validator.iter_errors(arguments))
        # Too deep or too large for the validator itself.
        except (RecursionError, ArithmeticError, ValueError):
            return Judgement("either")
        if error is not None:
            return Judgement("invalid", _shown_error(error))
        return Judgement("either") if is_deep else Judgement("valid")

    def secrets_in(self, arguments: ToolArguments) -> tuple[str, ...]:
        """Return the texts in the arguments that the schema marks as secret."""
        return secrets_in(self.schema, arguments) if self._has_secrets else ()


def _shown_error(error: Any) -> str:
    """Return the error of a schema as text: `limit: "type": "integer" does not hold`.

    jsonschema's own message would quote the whole value.
    """
    where = ".".join(str(part) for part in error.absolute_path) or "the arguments"
    rule = short_json(error.validator_value, 120)
    if error.validator == "additionalProperties":
        return f"{where}: a field that the schema does not have"
    return f'{where}: "{error.validator}": {rule} does not hold'
