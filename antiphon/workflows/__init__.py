"""Workflows: files in which a domain team writes down which tool call follows which.

from antiphon import workflows

for fault in workflows.validate("trips.yaml", tools=["trip_tools"]):
    print(fault)
specification = workflows.load("trips.yaml")  # or InvalidWorkflow, with every error
"""

from antiphon_shared.workflows.specification import Specification, Workflow

from antiphon.workflows.fault import Fault
from antiphon.workflows.load import InvalidWorkflow, build, load, validate

__all__ = ["Fault", "InvalidWorkflow", "Specification", "Workflow", "build", "load", "validate"]
