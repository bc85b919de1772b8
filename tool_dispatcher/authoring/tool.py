"""The API for authors of tools.

    @tool(effect="read")
    async def get_course_outline(course: str) -> Outline:
        '''The lessons of a course, in order.'''

The decorated function stays callable as a plain function. If only a JSON Schema is known:

    Tool("lookup", "Looks a word up.", {"type": "object", ...}, look_up, effect="read")
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, Unpack

from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.contract import CONTRACT_KEYWORD, Contract, Effect
from antiphon_shared.tools.hints import published
from antiphon_shared.values import JsonSchema, ToolArguments

from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.contract import OPTIONS, ContractOptions, complete
from tool_dispatcher.authoring.example import checked_examples, example_of, is_valid
from tool_dispatcher.authoring.failures import InvalidTool, ToolFailed
from tool_dispatcher.authoring.options import check_names, warn_of_renamed, with_new_names
from tool_dispatcher.authoring.parameters import Parameters, SchemaParameters
from tool_dispatcher.authoring.reconcile import Reconcile, checked
from tool_dispatcher.authoring.secret import secret_paths
from tool_dispatcher.authoring.signature import parameters_of
from tool_dispatcher.authoring.source import source_of
from tool_dispatcher.idempotency.identity import fingerprint

__all__ = ["FunctionTool", "InvalidTool", "Tool", "ToolContext", "ToolFailed", "tool"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_EFFECT_MISSING = "its effect is missing", 'Write @tool(effect="read") or @tool(effect="write").'
_OPTIONS_OUTSIDE_CONTRACT = ("reconcile", "example", "examples")

P = ParamSpec("P")
R = TypeVar("R")
Function = Callable[..., Any]


class ToolOptions(ContractOptions, total=False):
    """All options of a tool: those of its contract, and those about examples and crashed writes."""

    reconcile: Reconcile | None
    """For writes: the function that reports, after a crash, whether a write took effect; see reconcile.py."""
    example: ToolArguments | None
    """Valid arguments."""
    examples: Sequence[ToolArguments]
    """Several examples of valid arguments."""


class Tool:
    """A tool: its description for the model, its contract and its function.

    Args:
        parameters: the JSON Schema of the arguments.
        function: `function(arguments: dict, context: ToolContext)`, async or plain; it returns JSON, or values
            that can be converted to JSON.

    Raises:
        InvalidTool: the name, the schema, the function or an option is wrong.
    """

    def __init__(
        self,
        name: str,
        description: str,
        parameters: JsonSchema,
        function: Callable[[ToolArguments, ToolContext], Any],
        *,
        effect: Effect,
        **options: Unpack[ToolOptions],
    ) -> None:
        with _located(function):
            _check_name(name)
            if not callable(function):
                raise InvalidTool(name, f"its function is {function!r}", hint="Pass a callable.")
            self._define(name, description, SchemaParameters.of(name, parameters), function, effect, options)

    def _define(
        self,
        name: str,
        description: str | None,
        parameters: Parameters,
        function: Function,
        effect: Effect,
        options: ToolOptions,
    ) -> None:
        self.name, self.description = name, _checked_description(name, description)
        self.parameters, self.function, self.is_async = parameters, function, _is_async(function)
        contract = {key: value for key, value in options.items() if key not in _OPTIONS_OUTSIDE_CONTRACT}
        warn_of_renamed(name, contract, function)
        contract = with_new_names(name, contract)
        self.reconcile = checked(name, options.get("reconcile"))
        self.contract: Contract = complete(name, effect, contract, has_reconcile=self.reconcile is not None)
        _check_validates(name, self.contract.validates, parameters.schema)
        self.secret_paths = secret_paths(parameters.schema)
        self._examples = _examples(name, parameters, options)
        examples = {"examples": list(self._examples)} if self._examples else {}
        self.input_schema = {**parameters.schema, **examples, CONTRACT_KEYWORD: self.contract.as_keyword()}

    @property
    def effect(self) -> Effect:
        return self.contract.effect

    @property
    def timeout_s(self) -> float:
        return self.contract.timeout_s

    def call(self, arguments: ToolArguments, context: ToolContext) -> Any:
        """Return the function's result, or its awaitable, for arguments that `parameters.read` has returned."""
        return self.function(arguments, context)

    @cached_property
    def definition(self) -> ToolDefinition:
        """Return the tool as the catalogue publishes it: its description includes the hints of its contract."""
        return ToolDefinition(
            name=self.name,
            description=published(self.description, self.contract),
            input_schema=self.input_schema,
            effect=self.effect,
        )

    @cached_property
    def example(self) -> ToolArguments | None:
        """Return the author's first example, else a generated one if it is valid, else None."""
        if self._examples:
            return self._examples[0]
        generated = example_of(self.parameters.schema)
        return generated if is_valid(self.parameters, generated) else None

    @cached_property
    def definition_digest(self) -> str:
        """Return a digest of the tool's name, description, schema and contract."""
        return fingerprint(self.name, self.description, self.input_schema)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class FunctionTool(Tool, Generic[P, R]):
    """A tool from a function with type hints; calling the tool calls the function."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        effect: Effect,
        name: str | None = None,
        description: str | None = None,
        **options: Unpack[ToolOptions],
    ) -> None:
        with _located(function):
            name = getattr(function, "__name__", repr(function)) if name is None else name
            _check_name(name)
            parameters, self._contexts = parameters_of(name, function)
            text = inspect.getdoc(function) if description is None else description
            update_wrapper(self, function)
            self._define(name, text, parameters, function, effect, options)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)  # type: ignore[no-any-return]  # kept as any callable above

    def call(self, arguments: ToolArguments, context: ToolContext) -> Any:
        return self.function(**arguments, **dict.fromkeys(self._contexts, context))


def _check_validates(tool: str, parameter: str, schema: JsonSchema) -> None:
    properties = schema.get("properties", {})
    if parameter and parameter not in properties:
        raise InvalidTool(
            tool,
            f"its validates names {parameter!r}, which is not one of its parameters",
            hint=f"Name one of its parameters: {', '.join(properties) or 'it has none'}.",
        )


def tool(
    bare: None = None,
    /,
    *,
    effect: Effect | None = None,
    name: str | None = None,
    description: str | None = None,
    **options: Unpack[ToolOptions],
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Make a tool of an async or plain function with type hints.

    Args:
        effect: "read" if a repeated call changes nothing, else "write"; required.
        name: the default is the function's name.
        description: the default is the function's docstring.
        options: how the tool's calls run; see docs/tools.md.

    Raises:
        InvalidTool: a definition that cannot be used; the error contains the remedy.
    """
    if bare is not None:
        problem, hint = "tool() accepts only keyword arguments", "Write tool(effect=...)(function)."
        if effect is None:
            problem, hint = _EFFECT_MISSING
        with _located(bare):
            raise InvalidTool(name or getattr(bare, "__name__", "?"), problem, hint=hint)

    def decorate(function: Callable[P, R]) -> FunctionTool[P, R]:
        with _located(function):
            tool_name = str(name or getattr(function, "__name__", "?"))
            if not callable(function) or isinstance(function, type | Tool):
                raise InvalidTool(
                    name or repr(function),
                    "it is not a function",
                    hint="Decorate a function with type hints.",
                )
            if effect is None:
                check_names(tool_name, with_new_names(tool_name, options), OPTIONS)
                raise InvalidTool(tool_name, _EFFECT_MISSING[0], hint=_EFFECT_MISSING[1])
        return FunctionTool(function, effect=effect, name=name, description=description, **options)

    return decorate


@contextmanager
def _located(function: object) -> Iterator[None]:
    """Add the function's file and line to an InvalidTool raised within the block."""
    try:
        yield
    except InvalidTool as error:
        if not callable(function):
            raise
        raise error.located(source_of(function, error.parameter)) from None


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidTool(
            str(name),
            "its name is not 1 to 64 of the characters a-z, A-Z, 0-9, _ and -",
            hint='Give it one with name="...".',
        )


def _checked_description(name: str, description: object) -> str:
    if not isinstance(description, str) or not description.strip():
        raise InvalidTool(
            name,
            "it has no description",
            hint="Write a docstring that describes it to the model, or pass description=.",
        )
    return description


def _examples(tool: str, parameters: Parameters, options: ToolOptions) -> tuple[ToolArguments, ...]:
    """Return the author's examples, checked: from the options, else from the model, else from the schema."""
    one, several = options.get("example"), options.get("examples", ())
    examples: object = (one, *several) if one is not None and isinstance(several, list | tuple) else several
    if one is None and not several:
        of_model = getattr(getattr(parameters, "model", None), "__example__", None)
        examples = (
            (of_model,)
            if isinstance(of_model, Mapping)
            else of_model or parameters.schema.get("examples", ())
        )
    return checked_examples(tool, parameters, examples)


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  # an object with an async __call__ is async too
    )
