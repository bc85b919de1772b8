"""References between contracts, checked once all tools are known. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from antiphon_shared.output.referred import referred
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.contract import Alternative, BatchVariant
from antiphon_shared.values import JsonSchema

from tool_dispatcher.authoring.contract import named_tools
from tool_dispatcher.authoring.failures import InvalidTool
from tool_dispatcher.authoring.tool import Tool


def check_relations(tools: Mapping[str, Tool]) -> None:
    """Raise InvalidTool when a contract names an unknown tool or an unsuitable one, or when tools form a cycle."""
    for tool in tools.values():
        _check_names(tool, tools)
    for tool in tools.values():
        for alternative in tool.contract.alternatives:
            _check_alternative(tool, alternative, tools[alternative.tool])
        if (batch := tool.contract.batch) is not None:
            _check_batch(tool, batch, tools[batch.tool])
    _check_for_cycles(tools)


def _check_names(tool: Tool, tools: Mapping[str, Tool]) -> None:
    for option, names in named_tools(tool.contract).items():
        for name in names:
            if name not in tools:
                nearest = did_you_mean(name, sorted(tools.keys() - {tool.name}))
                raise InvalidTool(
                    tool.name,
                    f"its {option} names {name!r}, which is not among the tools",
                    hint=f"{nearest} Or load the module that defines it too."
                    if nearest
                    else "Load the module that defines it too.",
                )


def _check_alternative(tool: Tool, alternative: Alternative, other: Tool) -> None:
    if tool.effect == "read" and other.effect == "write":
        raise InvalidTool(
            tool.name,
            f"it is a read, and its alternative {other.name} is a write",
            hint="Name a read: a call of a read must not change anything.",
        )
    if tool.effect == "write" and other.effect == "read":
        raise InvalidTool(
            tool.name,
            f"it is a write, and its alternative {other.name} is a read",
            hint="Name a write: a read would report success without any effect.",
        )
    if other.contract.mode in ("dependent", "sequential-only") and other.contract.mode != tool.contract.mode:
        raise InvalidTool(
            tool.name,
            f"its alternative {other.name} is {other.contract.mode}, which a substitute cannot be",
            hint="Name a tool that can run at any time at which this tool can run.",
        )
    own, its = _ParameterNames.of(tool.input_schema), _ParameterNames.of(other.input_schema)
    mapping = alternative.arguments
    by_name = {name: name for name in sorted(own.names)}
    for name, its_name in (by_name if mapping is None else mapping).items():
        if name not in own:
            raise InvalidTool(
                tool.name,
                f"it maps {name!r} to a parameter of its alternative {other.name}, but has no such parameter",
                hint=did_you_mean(name, sorted(own.names)),
            )
        if its_name not in its:
            raise InvalidTool(
                tool.name,
                f"its alternative {other.name} has no parameter {its_name!r}",
                hint=f"{did_you_mean(its_name, sorted(its.names))} {_mapping(other)}",
            )
        _check_secret(tool, name, other, its_name)
    if mapping is None and not own.is_closed:
        return
    if missing := sorted(its.required.difference((by_name if mapping is None else mapping).values())):
        raise InvalidTool(
            tool.name,
            f"its alternative {other.name} requires {missing[0]!r}, which no argument is mapped to",
            hint=_mapping(other),
        )


def _check_secret(tool: Tool, name: str, other: Tool, its_name: str) -> None:
    own, its = ({path[0] for path in one.secret_paths if path} for one in (tool, other))
    if name in own and its_name not in its:
        raise InvalidTool(
            tool.name,
            f"its secret {name!r} is mapped to {its_name!r} of {other.name}, which is not marked as secret",
            hint="Mark that parameter too: Annotated[str, Secret].",
        )


def _check_batch(tool: Tool, batch: BatchVariant, variant: Tool) -> None:
    def refuse(problem: str, hint: str) -> InvalidTool:
        return InvalidTool(tool.name, f"its batch variant {variant.name} {problem}", hint=hint)

    if variant.effect != tool.effect:
        raise refuse(
            f"is a {variant.effect}, but the tool is a {tool.effect}", "Both must have the same effect."
        )
    if variant.contract.open_world != tool.contract.open_world:
        raise refuse("has another open_world than the tool", "Give both the same open_world.")
    schema = variant.input_schema
    argument = schema.get("properties", {}).get(batch.argument)
    if argument is None:
        raise refuse(
            f"has no parameter {batch.argument!r}",
            did_you_mean(batch.argument, sorted(schema.get("properties", {}))),
        )
    array = next((one for one in _branches(argument, schema) if one.get("type") == "array"), None)
    if array is None:
        raise refuse(
            f"does not accept a list as {batch.argument!r}", "Name the parameter that accepts the list."
        )
    if others := sorted({*schema.get("required", ())} - {batch.argument}):
        raise refuse(f"also needs {others[0]!r}", "Give that parameter a default: only the list is passed.")
    if array.get("maxItems", batch.items_max) < batch.items_max:
        raise refuse(
            f"accepts {array['maxItems']} items, fewer than items_max",
            f"Write items_max={array['maxItems']}.",
        )
    _check_items(tool, refuse, list(_branches(array.get("items"), schema)))


def _check_items(tool: Tool, refuse: Callable[[str, str], InvalidTool], items: list[JsonSchema]) -> None:
    """Raise InvalidTool unless an item of the variant's list accepts the arguments of one call."""
    if items and not any(one.get("type", "object") == "object" for one in items):
        raise refuse(
            "does not accept objects in its list", "Each item is an object: the arguments of one call."
        )
    own = _ParameterNames.of(tool.input_schema)
    for one in items[:1]:
        its = _ParameterNames.of(one)
        if unknown := sorted(name for name in own.names if name not in its):
            raise refuse(
                f"does not accept {unknown[0]!r} in its items", "Give its items the tool's own parameters."
            )
        if missing := sorted(name for name in its.required if name not in own):
            raise refuse(f"requires {missing[0]!r} in its items", "Give its items the tool's own parameters.")


def _check_for_cycles(tools: Mapping[str, Tool]) -> None:
    needs = {name: [one.tool for one in tool.contract.depends_on] for name, tool in tools.items()}
    checked: set[str] = set()
    for start in needs:
        path: list[str] = [start]
        remaining = [iter(needs[start])]
        while path:
            name = next(remaining[-1], None)
            if name is None:
                remaining.pop()
                checked.add(path.pop())
            elif name in path:
                cycle = " -> ".join((*path[path.index(name) :], name))
                raise InvalidTool(
                    name, f"its depends_on form a cycle: {cycle}", hint="Remove one depends_on."
                )
            elif name not in checked:
                path.append(name)
                remaining.append(iter(needs[name]))


@dataclass(frozen=True)
class _ParameterNames:
    """The parameter names of a schema."""

    names: frozenset[str]
    required: frozenset[str]
    is_closed: bool
    """Whether other names are refused."""

    @classmethod
    def of(cls, schema: JsonSchema) -> "_ParameterNames":
        properties, required = schema.get("properties", {}), schema.get("required", ())
        return cls(frozenset(properties), frozenset(required), schema.get("additionalProperties") is False)

    def __contains__(self, name: str) -> bool:
        return name in self.names or not self.is_closed


def _branches(schema: object, root: JsonSchema) -> Iterable[JsonSchema]:
    """Yield a schema, the target of its reference, or each branch of its `anyOf`."""
    if not isinstance(schema, dict):
        return
    if isinstance(target := schema.get("$ref"), str):
        yield referred(target, root)
    elif "anyOf" in schema:
        for branch in schema["anyOf"]:
            yield from _branches(branch, root)
    else:
        yield schema


def _mapping(other: Tool) -> str:
    names = " or ".join(sorted(_ParameterNames.of(other.input_schema).names)) or "..."
    return f'Map the arguments: Alternative(tool="{other.name}", arguments={{"ours": "{names}"}}).'
