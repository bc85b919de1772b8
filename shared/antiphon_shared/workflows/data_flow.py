"""Hints from published workflows: the tools that take another tool's result. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.hints import describe
from antiphon_shared.workflows.nodes import CallNode
from antiphon_shared.workflows.references import MalformedReference, Reference, read_template, templates
from antiphon_shared.workflows.specification import Workflow

_TOOLS_LISTED_MAX = 3
"""Bound on the tools that one hint names: the tools that most workflows connect."""

ResultUse = tuple[str, str, str]
"""A tool, the field of its result that is used, and the tool that takes it."""


def with_flow_hints(
    tools: Iterable[ToolDefinition], workflows: Iterable[Workflow]
) -> tuple[ToolDefinition, ...]:
    """Return the tools with hints: the tools whose results workflows pass to a tool, and the tools that use its result.

    A hint that is already in the description is not repeated.
    """
    flows = Counter(flow for workflow in workflows for flow in dict.fromkeys(_flows(workflow)))
    return tuple(_with_hints(tool, flows) for tool in tools) if flows else tuple(tools)


def _with_hints(tool: ToolDefinition, flows: Mapping[ResultUse, int]) -> ToolDefinition:
    often = sorted(flows, key=lambda flow: (-flows[flow], flow))
    before = [f"{giver} (needs {field})" for giver, field, taker in often if taker == tool.name]
    after = dict.fromkeys(taker for giver, _, taker in often if giver == tool.name)
    if not before and not after:
        return tool
    text = describe(tool.description, requires=before[:_TOOLS_LISTED_MAX], next=[*after][:_TOOLS_LISTED_MAX])
    return tool.model_copy(update={"description": text})


def _flows(workflow: Workflow) -> Iterator[ResultUse]:
    """Yield the results of calls that the calls of a workflow take."""
    calls = {id: node for id, node in workflow.graph.items() if isinstance(node, CallNode)}
    givers = {name: node.call for id, node in calls.items() for name in (id, node.output) if name}
    for taker in (node for node in workflow.nodes() if isinstance(node, CallNode)):
        for reference in _references(taker):
            giver = givers.get(reference.name, taker.call)
            fields = [part for part in reference.path if isinstance(part, str)]
            if giver != taker.call and fields:
                yield giver, fields[-1], taker.call


def _references(node: CallNode) -> Iterator[Reference]:
    for _, text in templates(node.args):
        try:
            yield from read_template(text).references
        except MalformedReference:
            continue
