"""What an author of tools works with.

    @tool(effect="read")
    async def get_course_outline(course: str) -> Outline:
        '''The lessons of a course, in order.'''

The decorated function stays callable as the plain function it was. Where only a JSON Schema is known:

    Tool("lookup", "Looks a word up.", {"type": "object", ...}, look_up, effect="read")
"""

import inspect
import math
import re
from collections.abc import Callable, Iterator
from functools import cached_property, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, get_args

from shared.tools import Effect, ToolDefinition
from tool_dispatcher.context import ToolContext
from tool_dispatcher.example import example_of
from tool_dispatcher.failures import InvalidTool, ToolFailed
from tool_dispatcher.parameters import BadArguments, Parameters, SchemaParameters
from tool_dispatcher.signature import parameters_of

__all__ = ["FunctionTool", "InvalidTool", "Tool", "ToolContext", "ToolFailed", "Toolset", "tool"]

TIMEOUT_S = 30.0
_TIMEOUT_S_MAX = 3_600.0
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

P = ParamSpec("P")
R = TypeVar("R")
Function = Callable[..., Any]


class Tool:
    """One tool: what the model sees of it, its contract, and the function behind it.

    `function(arguments: dict, context: ToolContext)` may be async or plain; it returns what is JSON, or can
    be made JSON. `parameters` is the JSON Schema of its arguments. Raises InvalidTool.
    """

    def __init__(
        self,
        name: str,
        description: str,
        parameters: dict[str, Any],
        function: Callable[[dict[str, Any], ToolContext], Any],
        *,
        effect: Effect,
        timeout_s: float = TIMEOUT_S,
        example: dict[str, Any] | None = None,
    ) -> None:
        _check_name(name)
        if not callable(function):
            raise InvalidTool(name, f"its function is {function!r}", hint="Give something callable.")
        self._define(
            name, description, SchemaParameters.of(name, parameters), function, effect, timeout_s, example
        )

    def _define(
        self,
        name: str,
        description: str | None,
        parameters: Parameters,
        function: Function,
        effect: Effect,
        timeout_s: float,
        example: dict[str, Any] | None,
    ) -> None:
        _check_contract(name, description, effect, timeout_s)
        self.name, self.description, self.effect, self.timeout_s = name, description or "", effect, timeout_s
        self.parameters = parameters
        self.function = function
        self.is_async = _is_async(function)
        contract = {"effect": effect, "timeout_s": timeout_s}
        self.input_schema = {**parameters.schema, "x-orchestration": contract}
        self._example = example
        if example is not None and not self._accepts(example):
            raise InvalidTool(name, f"its example {example!r} is not valid", hint="Correct the example.")

    def call(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        """The function's result, or its awaitable, for arguments as its parameters have read them."""
        return self.function(arguments, context)

    @property
    def definition(self) -> ToolDefinition:
        """The tool as the catalogue publishes it."""
        return ToolDefinition(
            name=self.name, description=self.description, input_schema=self.input_schema, effect=self.effect
        )

    @cached_property
    def example(self) -> dict[str, Any] | None:
        """Arguments that are valid: the author's, else some made from the schema, if they are."""
        made = self._example if self._example is not None else example_of(self.parameters.schema)
        return made if self._accepts(made) else None

    def _accepts(self, arguments: dict[str, Any]) -> bool:
        try:
            self.parameters.read(arguments)
        except BadArguments:
            return False
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class FunctionTool(Tool, Generic[P, R]):
    """A tool made of a function with type hints; calling it calls the function."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        effect: Effect,
        name: str | None = None,
        description: str | None = None,
        timeout_s: float = TIMEOUT_S,
        example: dict[str, Any] | None = None,
    ) -> None:
        name = getattr(function, "__name__", repr(function)) if name is None else name
        _check_name(name)
        parameters, self._contexts = parameters_of(name, function)
        if example is None:
            example = getattr(parameters.model, "__example__", None)
        told = inspect.getdoc(function) if description is None else description
        update_wrapper(self, function)
        self._define(name, told, parameters, function, effect, timeout_s, example)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)  # type: ignore[no-any-return]  # kept as any callable above

    def call(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        return self.function(**arguments, **dict.fromkeys(self._contexts, context))


def tool(
    bare: None = None,
    /,
    *,
    effect: Effect | None = None,
    name: str | None = None,
    description: str | None = None,
    timeout_s: float = TIMEOUT_S,
    example: dict[str, Any] | None = None,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Make a tool of an async or plain function with type hints.

    `effect` is "read" when a repeated call changes nothing, else "write"; it is required. `name` and
    `description` are the function's own name and docstring when left out. After `timeout_s` seconds the call
    is given up. `example` holds valid arguments. Raises InvalidTool, which says what to change.
    """
    if effect is None:
        named = name or getattr(bare, "__name__", None) or "?"
        raise InvalidTool(
            named, "its effect is missing", hint='Write @tool(effect="read") or @tool(effect="write").'
        )
    if bare is not None:
        raise InvalidTool(
            getattr(bare, "__name__", "?"),
            "tool takes nothing but keywords",
            hint="Write tool(effect=...)(function).",
        )

    def decorate(function: Callable[P, R]) -> FunctionTool[P, R]:
        if not callable(function) or isinstance(function, type | Tool):
            raise InvalidTool(
                name or repr(function), "it is not a function", hint="Decorate a function with type hints."
            )
        return FunctionTool(
            function, effect=effect, name=name, description=description, timeout_s=timeout_s, example=example
        )

    return decorate


class Toolset:
    """Tools that belong together: `Toolset(search, outline)`, or with `@toolset.tool(effect=...)`."""

    def __init__(self, *tools: Tool) -> None:
        self._tools: dict[str, Tool] = {}
        for one in tools:
            self.add(one)

    def add(self, one: Tool) -> None:
        """Raises InvalidTool when it is no tool, or its name is taken."""
        if not isinstance(one, Tool):
            raise InvalidTool(
                getattr(one, "__name__", repr(one)),
                "it is not a tool",
                hint="Decorate it with @tool(effect=...).",
            )
        if self._tools.setdefault(one.name, one) is not one:
            raise InvalidTool(
                one.name, "the Toolset has another tool of that name", hint="Give one of them a `name=`."
            )

    def tool(
        self, bare: None = None, /, *, effect: Effect | None = None, **options: Any
    ) -> Callable[[Callable[P, R]], FunctionTool[P, R]]:
        """As the decorator `tool`; the tool is added to the set."""
        decorate: Callable[[Callable[P, R]], FunctionTool[P, R]] = tool(bare, effect=effect, **options)

        def decorate_and_add(function: Callable[P, R]) -> FunctionTool[P, R]:
            made = decorate(function)
            self.add(made)
            return made

        return decorate_and_add

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidTool(
            str(name),
            "its name is not 1 to 64 of the characters a-z, A-Z, 0-9, _ and -",
            hint='Give it one with name="...".',
        )


def _check_contract(name: str, description: object, effect: object, timeout_s: object) -> None:
    if not isinstance(description, str) or not description.strip():
        raise InvalidTool(
            name,
            "it has no description",
            hint="Write a docstring that tells the model what it does, or pass description=.",
        )
    if effect not in get_args(Effect):
        raise InvalidTool(name, f"its effect is {effect!r}", hint='Write effect="read" or effect="write".')
    is_number = isinstance(timeout_s, int | float) and not isinstance(timeout_s, bool)
    if not is_number or not math.isfinite(timeout_s) or not 0 < timeout_s <= _TIMEOUT_S_MAX:  # type: ignore[arg-type, operator]  # is_number says so
        raise InvalidTool(
            name,
            f"its timeout_s is {timeout_s!r}",
            hint=f"Give seconds above 0, {_TIMEOUT_S_MAX:.0f} at most.",
        )


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  # an object with an async __call__ is async too
    )
