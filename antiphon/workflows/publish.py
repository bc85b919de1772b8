"""The publication of workflows to a running pipeline, which can then run them by name."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.workflows.file import read_workflows
from antiphon_shared.workflows.specification import Specification

from antiphon.observe import published_catalogue
from antiphon.workflows.load import InvalidWorkflow, catalogue_of

if TYPE_CHECKING:
    from antiphon.client import Antiphon


async def publish(
    antiphon: "Antiphon", files: Iterable[str | Path], *, tools: Iterable[str] | None = None
) -> tuple[Specification, ...]:
    """Publish all workflows of files and folders, or none if one of them has an error; return them.

    A domain replaces its earlier publication. Runs that have begun continue with their own specification.

    Args:
        antiphon: The client.
        files: YAML or JSON files, and folders that hold some.
        tools: Modules with the tools that are called; by default the tools of the pipeline's dispatchers, if any.

    Raises:
        InvalidWorkflow: With every problem of all files.
        ConfigurationError: Another domain has published a workflow of that name.
    """
    bus = antiphon.open_bus()
    catalogue = await published_catalogue(bus) if tools is None else catalogue_of(tools)
    specifications, problems = read_workflows(files, catalogue)
    if any(problem.severity == "error" for problem in problems):
        raise InvalidWorkflow(problems)
    await WorkflowStore(bus).publish(specifications)
    return tuple(specifications)
