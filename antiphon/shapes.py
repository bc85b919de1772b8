"""The shape of an answer: the JSON Schema of a Python type, and instances of the type."""

from typing import TYPE_CHECKING, Any

from antiphon_shared.events.session import Response
from antiphon_shared.output.validation import with_one_form
from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic_core import to_json

from antiphon.errors import InvalidQuery, UnfitResult

if TYPE_CHECKING:
    from antiphon.submission import Options

Shape = Any
"""A pydantic model, a dataclass, a TypedDict, another type that pydantic supports, or a JSON Schema as a dict."""


def with_shape(options: "Options", shape: Shape | None) -> "Options":
    """Return the options of a query whose answer must have the shape, if any. Raises InvalidQuery."""
    if shape is None:
        return options
    if options.get("output_schema") is not None:
        raise InvalidQuery("output: cannot be combined with output_schema.", hint="Use one of them.")
    return {**options, "output_schema": schema_of(shape)}


def shape_of(options: "Options", output: Shape | None) -> Shape | None:
    """Return the shape of a query's result: `output`, or else the output of the query's last step."""
    steps = options.get("steps")
    return (
        getattr(steps[-1], "output", None)
        if output is None and steps and not isinstance(steps, str)
        else output
    )


def with_instance(response: Response, shape: Shape | None) -> Response:
    """Return the response with its result as an instance of the shape, if any. Raises UnfitResult."""
    if shape is None:
        return response
    return response.model_copy(update={"result": instance_of(shape, response.result)})


def schema_of(shape: Shape) -> dict[str, Any]:
    """Return the JSON Schema of a shape. Raises InvalidQuery for a type without one."""
    if isinstance(shape, dict):
        return shape
    try:
        return TypeAdapter(shape).json_schema()
    except (PydanticUserError, NameError, SyntaxError) as error:
        raise InvalidQuery(
            f"output: {getattr(shape, '__name__', shape)} has no JSON Schema: {str(error).partition(chr(10))[0]}",
            hint="Use a pydantic model, a dataclass, a TypedDict, or a JSON Schema as a dict.",
        ) from None


def instance_of(shape: Shape, result: object) -> Any:
    """Return a result as an instance of the shape; unchanged for a JSON Schema, or without a result.

    Raises UnfitResult if the type has rules beyond its JSON Schema.
    """
    if result is None or isinstance(shape, dict):
        return result
    try:
        return TypeAdapter(shape).validate_json(to_json(with_one_form(result)), strict=True)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(map(str, problem["loc"])) or "the whole"
        raise UnfitResult(
            f"output: the result matches the JSON Schema of {getattr(shape, '__name__', shape)}, but "
            f"not the type itself: {path}: {problem['msg']}.",
            hint="Add the rule to the type's JSON Schema. `result(session_id)` returns the response "
            "without the conversion.",
        ) from None
