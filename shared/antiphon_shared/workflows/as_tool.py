"""A workflow as the tool that a model sees: `w_NAME` for a published workflow, `r_NAME` for a recipe. Pure."""

from antiphon_shared.tools.calls import Catalogue, ToolDefinition
from antiphon_shared.tools.contract import CONTRACT_KEYWORD, Contract
from antiphon_shared.values import JsonSchema
from antiphon_shared.workflows.graph import Graph, TooLarge, compile_graph
from antiphon_shared.workflows.nodes import CallNode, ReasonNode, YieldNode, undoing_calls
from antiphon_shared.workflows.outline import outline
from antiphon_shared.workflows.params import object_schema
from antiphon_shared.workflows.specification import Specification, Workflow, specification_hash
from antiphon_shared.workflows.sql import SQL_TOOL

WORKFLOW, RECIPE = "w_", "r_"
"""Prefixes of the names of such tools."""
_NAME_CHARACTERS_MAX = 64
_TIMEOUT_S_MAX = 3_600.0


def as_tool(
    specification: Specification, name: str, catalogue: Catalogue, prefix: str = WORKFLOW
) -> ToolDefinition | None:
    """Return the tool for a workflow; None if the workflow calls unknown tools.

    Its contract is derived from its nodes: a workflow with a write is a write, its scopes are those of all
    its tools, and it is sequential-only unless all of them are parallel-safe.
    """
    workflow = specification.workflows[name]
    try:
        graph = compile_graph(specification, name)
    except TooLarge:
        return None
    called = tools_called(graph)
    if len(prefix + name) > _NAME_CHARACTERS_MAX or any(one not in catalogue.by_name for one in called):
        return None
    tools = [catalogue.by_name[one] for one in called]
    try:
        contracts = [tool.contract for tool in tools]
    except ValueError:
        return None
    is_write = any(tool.effect == "write" for tool in tools)
    needed = {scope for contract in contracts for scope in contract.scopes_needed} - {"read", "write"}
    is_parallel = all(contract.mode == "parallel-safe" for contract in contracts)
    contract = Contract(
        effect="write" if is_write else "read",
        mode="parallel-safe" if is_parallel else "sequential-only",
        scopes=tuple(sorted(needed)),
        timeout_s=min(workflow.timeout_s, _TIMEOUT_S_MAX),
        open_world=any(contract.open_world for contract in contracts),
    )
    return ToolDefinition(
        name=prefix + name,
        description=_description(workflow, graph, prefix),
        input_schema={**_schema(workflow), CONTRACT_KEYWORD: contract.as_keyword()},
        effect=contract.effect,
        workflow=specification_hash(specification),
    )


def tools_called(graph: Graph) -> tuple[str, ...]:
    """Return the names of the catalogue's tools that a workflow may call, to do and to undo, each once."""
    names: dict[str, None] = {}
    for one in graph.nodes.values():
        node = one.node
        if isinstance(node, CallNode):
            names[node.call] = None
        if isinstance(node, ReasonNode):
            names.update(dict.fromkeys((*node.tools, *node.validation_tools)))
        names.update((undoing.call, None) for undoing in undoing_calls(node).values())
    names.pop(SQL_TOOL, None)  # it is built in
    return tuple(names)


def _description(workflow: Workflow, graph: Graph, prefix: str) -> str:
    kind = "A recipe, learned from an earlier session" if prefix == RECIPE else "A workflow"
    parts = [workflow.description.strip(), f"{kind}: one call runs all of it.\n{outline(workflow)}"]
    if any(isinstance(one.node, YieldNode) for one in graph.nodes.values()):
        parts.append("It may wait for a person; the result is then `waiting` and it continues automatically.")
    return "\n\n".join(filter(None, parts))


def _schema(workflow: Workflow) -> JsonSchema:
    schema = object_schema(workflow.params)
    for name, param in workflow.params.items():
        if param.default is not None:
            schema["properties"][name]["default"] = param.default
        if param.example is not None:
            schema["properties"][name]["examples"] = [param.example]
    return schema
