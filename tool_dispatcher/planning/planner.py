"""The tool `_plan`: it finds the session's workflows and recipes for a goal, or proposes a new workflow.

It runs no tool. It finds only tools that the session may call, and only a person can publish a proposed workflow.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from antiphon_shared.process.offload import offload, offload_if
from antiphon_shared.tools.calls import Catalogue, ToolDefinition
from antiphon_shared.tools.relevance import rank
from antiphon_shared.values import Json, JsonObject, ToolArguments
from antiphon_shared.workflows.as_tool import RECIPE, tools_called
from antiphon_shared.workflows.graph import compile_graph
from antiphon_shared.workflows.outline import param_text
from antiphon_shared.workflows.specification import Specification, Workflow

from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.planning.proposal import propose_workflow
from tool_dispatcher.planning.ranking import Offer, Ranked, rank_offers
from tool_dispatcher.running.batch_run import BatchRun

_MATCHES_MAX, _STEPS_MAX = 5, 5
_RANKED_AT_ONCE = 10
"""The number of workflows that can be ranked on the event loop in a few milliseconds; more are ranked in a thread."""
_MATCHES_HINT = (
    "Call the first that does what is wanted, with these params: from the next round on. Ask the user for what is "
    "missing. If none does, call tools one by one."
)
_PROPOSED = (
    "No workflow or recipe fits. This one is only proposed: a plain sequence of tools that may fit. It has not been "
    "run, and you cannot run it. A person has to read, correct and approve it, and publishes it then with "
    "`antiphon workflows publish FILE`. Show it if that helps; for now, call tools one by one."
)
_NOTHING = "No workflow, recipe or tool fits. Use other words, or go on without."


class Planner:
    """The answers to calls of `_plan`. `catalogue` and `specification` load one by its hash."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        catalogue: Callable[[str], Awaitable[Catalogue]],
        specification: Callable[[str], Awaitable[Specification | None]],
    ) -> None:
        self._tools, self._catalogue, self._specification = tools, catalogue, specification

    async def plan(self, arguments: ToolArguments, batch: BatchRun, call_id: str) -> JsonObject:
        """Return the workflows and recipes that match a goal, or a proposed workflow if none matches."""
        goal = arguments["goal"]
        workflows = await self._workflows(batch)
        ranked = await offload_if(len(workflows) > _RANKED_AT_ONCE, _ranked, goal, workflows)
        if ranked:
            offers: list[Json] = [
                _as_json(one, workflows[one.name].workflows[_workflow_name(one.name)]) for one in ranked
            ]
            return {"tools": offers, "note": _MATCHES_HINT}
        text = await offload(_proposal, goal, self.usable_tools(batch))
        if not text:
            return {"tools": [], "note": _NOTHING}
        return {"tools": [], "proposed": text, "note": _PROPOSED}

    def usable_tools(self, batch: BatchRun) -> list[ToolDefinition]:
        """Return the operator's tools that the session may use in the next round."""
        hidden = batch.permissions.hidden
        return [tool.definition for name, tool in self._tools.items() if name not in hidden]

    async def definitions(self, batch: BatchRun) -> list[ToolDefinition]:
        """Return the tools that run the session's workflows and recipes."""
        request, scopes = batch.request, batch.permissions.authorization.scopes
        catalogue = await self._catalogue(request.catalogue) if request.catalogue else Catalogue()
        return [
            tool
            for name in request.allowed
            if (tool := catalogue.by_name.get(name))
            and tool.workflow
            and tool.contract.scopes_needed <= scopes
        ]

    async def _workflows(self, batch: BatchRun) -> dict[str, Specification]:
        """Return the specifications of the session's workflows and recipes, by the names of their tools."""
        tools = await self.definitions(batch)
        specifications = await asyncio.gather(*(self._specification(tool.workflow) for tool in tools))
        return {
            tool.name: specification
            for tool, specification in zip(tools, specifications, strict=True)
            if specification is not None and _workflow_name(tool.name) in specification.workflows
        }


def _workflow_name(tool: str) -> str:
    """Return the name of the workflow that a tool runs."""
    return tool.partition("_")[2]


def _ranked(goal: str, workflows: Mapping[str, Specification]) -> list[Ranked]:
    return rank_offers(goal, (_offer(tool, one) for tool, one in workflows.items()))[:_MATCHES_MAX]


def _offer(tool: str, specification: Specification) -> Offer:
    name = _workflow_name(tool)
    workflow = specification.workflows[name]
    called = tools_called(compile_graph(specification, name))
    return Offer(tool, workflow.description, workflow.params, called)


def _as_json(one: Ranked, workflow: Workflow) -> JsonObject:
    return {
        "name": one.name,
        "kind": "recipe" if one.name.startswith(RECIPE) else "workflow",
        "description": workflow.description,
        "params": {name: param_text(param) for name, param in workflow.params.items()},
        "missing": [*one.missing],
    }


def _proposal(goal: str, usable: Sequence[ToolDefinition]) -> str:
    """Return a proposed workflow as the text of a file; empty if no tool fits."""
    from antiphon_shared.workflows.write import as_yaml  # imported only for a proposal

    specification = propose_workflow(goal, rank(usable, goal, _STEPS_MAX))
    return "" if specification is None else as_yaml(specification)
