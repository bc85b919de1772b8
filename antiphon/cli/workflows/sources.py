"""The source of a command's workflows: files, or the published ones."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import typer
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.workflows.file import read_workflows
from antiphon_shared.workflows.problem import Problem
from antiphon_shared.workflows.specification import Specification, Workflow

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_UNREADABLE,
    EXIT_USAGE,
    UsageError,
    result_of,
    stderr,
)
from antiphon.cli.printer import one_line
from antiphon.observe import connected

_NO_WORKFLOWS = "None is published: name its file, or publish it with `antiphon workflows publish FILE`."


def tools_option(without: str) -> Any:
    """Return the option that names modules with tools; `without` describes the behaviour without any."""
    return typer.Option(
        "--tools",
        metavar="MODULE[:NAME]",
        help=f"Python modules with the tools that are called; repeatable. Default: {without}.",
    )


def specifications_of(files: Sequence[Path]) -> list[Specification]:
    """Return the specifications of files, or the published ones; end the command where one has errors."""
    if not files:
        return result_of(_published())
    specifications, problems = read_workflows(files)
    if errors := [problem for problem in problems if problem.severity == "error"]:
        raise typer.Exit(show_problems(errors))
    return specifications


def find_workflow(name: str, files: Sequence[Path]) -> tuple[Specification, Workflow]:
    """Return one workflow and its specification; end the command where a file has errors. Raises as `find_in`."""
    return find_in(specifications_of(files), name)


def find_in(specifications: Iterable[Specification], name: str) -> tuple[Specification, Workflow]:
    """Return one workflow and its specification. Raises UsageError if no workflow has that name."""
    listed = list(specifications)
    for specification in listed:
        if name in specification.workflows:
            return specification, specification.workflows[name]
    names = [workflow for specification in listed for workflow in specification.workflows]
    raise UsageError(f"workflow {name!r} does not exist.", hint=did_you_mean(name, names, _NO_WORKFLOWS))


async def published_in(bus: Bus) -> list[Specification]:
    """Return the published specifications, in the order of their domains; lost ones are left out."""
    store = WorkflowStore(bus)
    domains = (await store.published()).domains
    specifications = [await store.specification(one.specification) for one in domains.values()]
    return [one for one in specifications if one is not None]


def show_problems(problems: Iterable[Problem]) -> int:
    """Print the problems of files to stderr, line by line; return the exit code for them."""
    listed = list(problems)
    for problem in listed:
        stderr().print(one_line(problem), style="red" if problem.severity == "error" else "yellow")
    return exit_code_of(listed)


def exit_code_of(problems: Iterable[Problem]) -> int:
    """Return the exit code for the problems of files."""
    errors = {problem.code for problem in problems if problem.severity == "error"}
    if "unreadable" in errors:
        return EXIT_UNREADABLE
    return EXIT_USAGE if "missing" in errors else EXIT_FAILED if errors else EXIT_DONE


async def _published() -> list[Specification]:
    async with connected() as bus:
        return await published_in(bus)
