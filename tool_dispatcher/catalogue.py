"""The tools of a dispatcher: loaded from ANTIPHON_TOOLS, and published as a catalogue."""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import Approval, Catalogue
from antiphon_shared.tools.relevance import BUILT_INS
from antiphon_shared.workflows.sql import SQL_TOOL

from tool_dispatcher.authoring.failures import InvalidTool
from tool_dispatcher.authoring.relations import check_relations
from tool_dispatcher.authoring.source import source_of
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.authoring.toolset import Toolset
from tool_dispatcher.import_failures import import_failure, location_of, module_name_of, no_tools

_BUILT_IN_NAMES = frozenset((*BUILT_INS, SQL_TOOL))


class Registry(Mapping[str, Tool]):
    """The tools by name.

    Raises ConfigurationError if two different tools have the same name, and InvalidTool if the second is built in, or
    if a contract refers to an unknown or unsuitable tool.
    """

    def __init__(self, tools: Iterable[Tool | Toolset] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for one in _each(tools):
            first = self._tools.setdefault(one.name, one)
            if first is not one:
                _refuse_built_in_name(first)
                raise ConfigurationError(
                    f"Two tools are named {one.name!r}.", hint="Give one of them another `name=`."
                )
        try:
            check_relations(self._tools)
        except InvalidTool as error:
            raise error.located(source_of(self._tools[error.tool].function)) from None

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def load_tools(spec: str) -> Registry:
    """Return the tools named in `spec`, a comma list of `package.module` or `package.module:attribute`.

    A module contributes every tool and Toolset at its top level; it must be installed or on PYTHONPATH. Raises
    ConfigurationError, which names the entry and the remedy, and InvalidTool as Registry does.
    """
    return Registry(tools_of(spec))


def tools_of(spec: str) -> tuple[Tool, ...]:
    """Return the tools as `load_tools` does, but without checks between tools, so that the caller can add more."""
    by_name: dict[str, tuple[Tool, str]] = {}
    for entry in filter(None, map(str.strip, spec.split(","))):
        for one in _each(_tools_of(entry)):
            _refuse_built_in_name(one)
            first, first_entry = by_name.setdefault(one.name, (one, entry))
            if first is not one:
                raise ConfigurationError(
                    f"tools: {first_entry} and {entry} both have a tool named {one.name!r}.",
                    hint="Give one of them another `name=`.",
                )
    return tuple(one for one, _ in by_name.values())


def to_catalogue(
    tools: Mapping[str, Tool],
    default_scopes: Iterable[str] = ("read",),
    approval: Callable[[Tool], Approval] = lambda tool: "never",
) -> Catalogue:
    """Return the catalogue of the tools, sorted by name, so that the same tools give the same catalogue.

    Args:
        default_scopes: the scopes of a session without a grant.
        approval: the operator's rule for each tool.
    """
    ordered = [tools[name] for name in sorted(tools)]
    return Catalogue(
        tools=tuple(one.definition.model_copy(update={"approval": approval(one)}) for one in ordered),
        default_scopes=tuple(sorted(set(default_scopes))),
    )


def _refuse_built_in_name(tool: Tool) -> None:
    if tool.name in _BUILT_IN_NAMES:
        error = InvalidTool(
            tool.name, "its name is that of a built-in tool", hint="Give it another name with `name=`."
        )
        raise error.located(source_of(tool.function))


def _each(tools: Iterable[Tool | Toolset]) -> Iterator[Tool]:
    for one in tools:
        yield from one if isinstance(one, Toolset) else (one,)


def _tools_of(entry: str) -> list[Tool | Toolset]:
    name, colon, attribute = entry.partition(":")
    module = _import(name.strip(), entry)
    if not colon:
        if not (contributed := [value for value in vars(module).values() if _is_tool(value)]):
            raise no_tools(entry, module)
        return contributed
    value = vars(module).get(attribute.strip())
    if value is None:
        raise ConfigurationError(
            f"tools: {entry} names {attribute.strip()!r}, which {name} does not define.",
            hint="Correct the part after the colon, or omit it to use every tool of the module.",
        )
    if not _is_tool(value):
        raise ConfigurationError(
            f"tools: {entry} is {_article(type(value).__name__)}, not a tool or Toolset.",
            hint="Decorate it with @tool(effect=...).",
        )
    return [value]


def _import(name: str, entry: str) -> ModuleType:
    if name.endswith(".py") or not name or not all(part.isidentifier() for part in name.split(".")):
        raise ConfigurationError(
            f"tools: {entry!r} is not `package.module` or `package.module:attribute`.",
            hint=f"Write a module's dotted name, such as {module_name_of(name)}, not a path to a file.",
        )
    try:
        return importlib.import_module(name)
    except InvalidTool as error:
        raise error.located(location_of(error)) from None
    except (Exception, SystemExit) as error:  # the import of a module may raise anything
        raise import_failure(name, entry, error) from error


def _is_tool(value: object) -> bool:
    """Return whether the type of a value is that of a tool; reading an attribute might trigger a lazy proxy."""
    return issubclass(type(value), (Tool, Toolset))


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
