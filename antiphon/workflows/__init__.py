"""Workflows: files in which a domain team fixes the order of tool calls.

from antiphon import workflows

for problem in workflows.validate("trips.yaml", tools=["trip_tools"]):
    print(problem)
specification = workflows.load("trips.yaml")  # or InvalidWorkflow, with every error
response = await workflows.run(antiphon, "book_trip", {"origin": "NYC"}, source=specification)
"""

from antiphon_shared.workflows.problem import Problem
from antiphon_shared.workflows.specification import Specification, Workflow

from antiphon.workflows.load import InvalidWorkflow, build, load, validate
from antiphon.workflows.publish import publish
from antiphon.workflows.run import give, resume, run, settle, start, token_of, waiting

__all__ = [
    "InvalidWorkflow",
    "Problem",
    "Specification",
    "Workflow",
    "build",
    "give",
    "load",
    "publish",
    "resume",
    "run",
    "settle",
    "start",
    "token_of",
    "validate",
    "waiting",
]
