"""A proposed workflow for a goal that no workflow serves: the fitting tools, one after the other. Pure.

Each value that a tool needs becomes a param, as connections between tools are not guessed. So a proposal is a
draft for a person, who connects, corrects, approves and publishes it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any, get_args

from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.words import plain_words
from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.workflows.params import JSON_TYPES, Format, Param, as_json
from antiphon_shared.workflows.specification import Specification
from pydantic import ValidationError
from pydantic_core import to_json

_NAME_WORDS, _NAME_CHARACTERS, _GOAL_CHARACTERS = 5, 60, 500
_TYPES = {json: type for type, json in JSON_TYPES.items()}
_FORMATS = get_args(Format)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def propose_workflow(goal: str, tools: Iterable[ToolDefinition]) -> Specification | None:
    """Return a workflow that calls tools one after the other, reads first; None if no tool can be called.

    A tool is left out when it needs a value whose type a param cannot have.
    """
    goal = goal.encode("utf-8", "replace").decode()
    needs = [(tool, needed) for tool in _in_order(list(tools)) if (needed := _params_of(tool)) is not None]
    if not needs:
        return None
    nodes: dict[str, str] = {}
    for tool, _ in needs:
        nodes[tool.name] = _unused(_as_name(tool.name), nodes.values())
    params = _Params(nodes.values())
    graph: dict[str, Any] = {}
    for tool, needed in needs:
        args = {argument: f"${params.name(argument, one, tool.name)}" for argument, one in needed.items()}
        after = {"depends_on": [next(reversed(graph))]} if graph else {}
        graph[nodes[tool.name]] = {**after, "call": tool.name, "args": args}
    workflow = {
        "description": one_line(goal, _GOAL_CHARACTERS) or "A proposed workflow.",
        "params": as_json(params.all),
        "graph": graph,
        "output": {node: f"${node}" for node in graph},
    }
    fields = {"domain": "proposed", "version": "1", "workflows": {_workflow_name(goal): workflow}}
    try:
        return Specification.model_validate_json(to_json(fields), strict=True)
    except ValidationError:  # more params than a workflow may have
        return None


class _Params:
    """The params of a workflow: one serves all arguments of one name and form."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.all: dict[str, Param] = {}
        self._taken = {*taken}
        self._names: dict[str, list[str]] = {}

    def name(self, argument: str, param: Param, tool: str) -> str:
        """Return the name of the param for an argument of a tool."""
        for name in self._names.setdefault(argument, []):
            if self.all[name] == param:
                return name
        name = _as_name(argument)
        if name in self._taken:
            name = _unused(_as_name(f"{tool}_{argument}"), self._taken)
        self.all[name] = param
        self._taken.add(name)
        self._names[argument].append(name)
        return name


def _in_order(tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    """Return reads before writes, and each tool after the tools that its contract needs."""
    waiting = sorted(tools, key=lambda tool: tool.effect == "write")
    ordered: list[ToolDefinition] = []
    while waiting:
        names = {tool.name for tool in waiting}
        ready = (tool for tool in waiting if not {one.tool for one in tool.contract.depends_on} & names)
        ordered.append(one := next(ready, waiting[0]))
        waiting.remove(one)
    return ordered


def _params_of(tool: ToolDefinition) -> dict[str, Param] | None:
    """Return the params that a call needs; None if one of its arguments cannot be a param."""
    properties = tool.input_schema.get("properties") or {}
    params: dict[str, Param] = {}
    for name in tool.input_schema.get("required") or ():
        param = _param_of(properties.get(name))
        if param is None:
            return None
        params[name] = param
    return params


def _param_of(schema: Any) -> Param | None:
    type_name = schema.get("type") if isinstance(schema, Mapping) else None
    kind = _TYPES.get(type_name) if isinstance(type_name, str) else None
    if kind is None:
        return None
    fields: dict[str, Any] = {"type": kind, "required": True}
    if isinstance(description := schema.get("description"), str):
        fields["description"] = one_line(description, _GOAL_CHARACTERS)
    if kind == "str" and schema.get("format") in _FORMATS:
        fields["format"] = schema["format"]
    if isinstance(values := schema.get("enum"), list):
        fields["enum"] = values
    try:
        param = Param.model_validate(fields)
    except ValidationError:
        return None
    return None if any(param.problem(one) for one in param.enum or ()) else param


def _workflow_name(goal: str) -> str:
    words = [word for word in plain_words(goal) if _NAME.fullmatch(word)][:_NAME_WORDS]
    return _as_name("_".join(words) or "proposal")


def _as_name(text: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_]", "_", text)[:_NAME_CHARACTERS]
    return name if _NAME.fullmatch(name) else f"_{name}"


def _unused(name: str, taken: Iterable[str]) -> str:
    names = {*taken}
    candidates = chain((name,), (f"{name}_{n}" for n in count(2)))
    return next(one for one in candidates if one not in names)
