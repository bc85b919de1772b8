"""Validation of a call's arguments: it returns the function's arguments, or an error for the model. Pure."""

from difflib import get_close_matches

from antiphon_shared.tools.calls import ToolError
from antiphon_shared.values import JsonSchema, ToolArguments

from tool_dispatcher.authoring.argument_errors import UNKNOWN_FIELD, not_json, path_text
from tool_dispatcher.authoring.failures import readable, tool_error
from tool_dispatcher.authoring.parameters import BadArguments
from tool_dispatcher.authoring.secret import Path
from tool_dispatcher.authoring.tool import Tool


def validate(tool: Tool, arguments: ToolArguments) -> ToolArguments | ToolError:
    """Return the arguments as the tool's function takes them, or an error that lists every invalid one."""
    try:
        values = tool.parameters.read(arguments)
        if problem := not_json(arguments):  # no schema can forbid NaN
            raise BadArguments({(): problem})
        return values
    except BadArguments as bad:
        properties = tool.input_schema.get("properties", {})
        fields = {
            readable(path_text(path), 200): _with_nearest(path, why, properties)
            for path, why in bad.errors.items()
        }
        listed = "; ".join(f"{name or 'the arguments'}: {why}" for name, why in fields.items())
        return tool_error(
            "validation_error",
            f"The arguments of {tool.name} are not valid. {listed}.",
            f"Call {tool.name} again with corrected arguments. {_summary(tool)}",
            example_valid_call=tool.example,
            fields=fields,
        )


def _with_nearest(path: Path, why: str, properties: JsonSchema) -> str:
    if why == UNKNOWN_FIELD and len(path) == 1:
        nearest = get_close_matches(str(path[0]), properties, n=1)
        return f"{why}; did you mean {nearest[0]!r}?" if nearest else why
    return why


def _summary(tool: Tool) -> str:
    properties = tool.input_schema.get("properties", {})
    if not properties:
        return "It takes no parameters."
    required = tool.input_schema.get("required", ())
    names = (f"{name} (required)" if name in required else name for name in properties)
    return f'Its parameters: {", ".join(names)}. Values are taken as they are: 42 is a number, "42" is text.'
