"""Groups of tools."""

from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar, Unpack

from antiphon_shared.tools.contract import Effect

from tool_dispatcher.authoring.failures import InvalidTool
from tool_dispatcher.authoring.tool import FunctionTool, Tool, ToolOptions, tool

P = ParamSpec("P")
R = TypeVar("R")


class Toolset:
    """A group of tools: `Toolset(search, outline)`, or with `@toolset.tool(effect=...)`."""

    def __init__(self, *tools: Tool) -> None:
        self._tools: dict[str, Tool] = {}
        for one in tools:
            self.add(one)

    def add(self, one: Tool) -> None:
        """Add a tool. Raises InvalidTool if it is not a Tool, or if another tool of the set has its name."""
        if not isinstance(one, Tool):
            raise InvalidTool(
                getattr(one, "__name__", repr(one)),
                "it is not a tool",
                hint="Decorate it with @tool(effect=...).",
            )
        if self._tools.setdefault(one.name, one) is not one:
            raise InvalidTool(
                one.name,
                "the Toolset contains another tool with this name",
                hint="Give one of them a `name=`.",
            )

    def tool(
        self,
        bare: None = None,
        /,
        *,
        effect: Effect | None = None,
        name: str | None = None,
        description: str | None = None,
        **options: Unpack[ToolOptions],
    ) -> Callable[[Callable[P, R]], FunctionTool[P, R]]:
        """Work as the decorator `tool`, and add the tool to the set."""
        decorate: Callable[[Callable[P, R]], FunctionTool[P, R]] = tool(
            bare, effect=effect, name=name, description=description, **options
        )

        def decorate_and_add(function: Callable[P, R]) -> FunctionTool[P, R]:
            created = decorate(function)
            self.add(created)
            return created

        return decorate_and_add

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)
