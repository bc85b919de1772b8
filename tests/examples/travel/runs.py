"""Runs of the example's workflows: the decisions of the coordinator over the real tools, one call after the other."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from antiphon_shared.tools.calls import ToolError
from antiphon_shared.workflows.graph import compile_graph
from pydantic_core import to_jsonable_python

import examples.travel
from antiphon import workflows
from antiphon.workflows.load import catalogue_of
from coordinator.workflows.messages import CallTool, End, Failed, Failure, GraphEvent, Succeeded
from coordinator.workflows.plan import Plan, pinned_tool
from tests.coordinator.workflows.world import World
from tests.tool_dispatcher.builders import a_context
from tool_dispatcher.authoring.tool import ToolFailed
from tool_dispatcher.authoring.validate import validate
from tool_dispatcher.catalogue import load_tools

FILE = Path(examples.travel.__file__).with_name("workflows.yaml")
SPECIFICATION = workflows.load(FILE)
TOOLS = load_tools("examples.travel")
FACTS = {tool.name: pinned_tool(tool, tool.contract) for tool in catalogue_of(["examples.travel"]).tools}
TRIP = {
    "origin": "NYC",
    "destination": "LIS",
    "start": "2030-05-01",
    "nights": 3,
    "traveller": "Ada Quill",
}


def a_plan(workflow: str) -> Plan:
    return Plan(compile_graph(SPECIFICATION, workflow), FACTS)


def ran(workflow: str, params: Mapping[str, Any], answers: Mapping[str, Any] | None = None) -> End:
    """Run a workflow to its end. `answers` replace people, models and queries, by path."""
    world = World(a_plan(workflow)).start(**params)
    while world.open:
        path, command = next(iter(world.open.items()))
        if isinstance(command, CallTool) and command.tool in TOOLS:
            del world.open[path]
            world.happens(called(command))
        elif isinstance(command, CallTool) or path in (answers or {}):
            world.ok(path, (answers or {})[path])
        else:
            world.ok(path)  # a pause before another attempt
    assert world.end is not None
    return world.end


def called(command: CallTool) -> GraphEvent:
    """Make a call for real, under a key of its path."""
    tool = TOOLS[command.tool]
    arguments = validate(tool, dict(command.arguments))
    assert not isinstance(arguments, ToolError), arguments
    key = f"run/{command.path}/{command.key}"
    context = {"context": a_context(idempotency_key=key)} if tool.effect == "write" else {}
    try:
        result = getattr(examples.travel, command.tool)(**arguments, **context)
    except ToolFailed as failed:
        return Failed(command.path, command.attempt, Failure(failed.error_type, str(failed)))
    return Succeeded(command.path, command.attempt, to_jsonable_python(result))
