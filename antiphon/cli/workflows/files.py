"""`antiphon workflows validate|list|show|graph|dry-run|schema`: files of workflows, checked and shown."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from antiphon_shared.text.control import harmless
from antiphon_shared.workflows.file import files_of, read_workflows
from antiphon_shared.workflows.outline import param_text
from antiphon_shared.workflows.problem import Problem
from antiphon_shared.workflows.specification import specification_hash

from antiphon.annotations import annotation
from antiphon.cli.options import Github
from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    Json,
    UsageError,
    command,
    counted,
    print_json,
    print_table,
    stderr,
    stdout,
    write,
    write_file,
)
from antiphon.cli.printer import one_line
from antiphon.cli.workflows.sources import exit_code_of, find_workflow, specifications_of, tools_option
from antiphon.workflows.draw import as_mermaid, as_text
from antiphon.workflows.load import catalogue_of
from coordinator.workflows.decide import UnfitParams

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Workflow files, YAML or JSON.")]
FilesOrPublished = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE...]", help="Workflow files, YAML or JSON. Default: the published workflows."
    ),
]
WorkflowName = Annotated[str, typer.Argument(metavar="NAME", help="The name of the workflow.")]


class Drawing(StrEnum):
    """The form of a drawn graph."""

    text = "text"
    mermaid = "mermaid"


@command
def validate(
    files: Files,
    tools: Annotated[list[str] | None, tools_option("calls are not compared with tools")] = None,
    json: Json = False,
    is_github: Github = False,
) -> int:
    """Check workflow files, and report all problems at once.

    Exit codes: 0 no errors, possibly warnings; 1 errors; 2 usage error; 3 a file is unreadable.

    \b
    antiphon workflows validate examples/travel/workflows.yaml --tools examples.travel
    """
    if json and is_github:
        raise UsageError("--json and --github both write to standard output. Use one of them.")
    catalogue = catalogue_of(tools) if tools else None
    _, problems = read_workflows(files, catalogue)
    errors = sum(problem.severity == "error" for problem in problems)
    if json:
        print_json([_as_json(problem) for problem in problems])
    for problem in () if json else problems:
        stdout().print(_annotation(problem) if is_github else one_line(problem))
    warnings = len(problems) - errors
    summary = f"{counted(len(files_of(files)[0]), 'file')}, {counted(errors, 'error')}, {counted(warnings, 'warning')}."
    stderr().print(
        summary if tools else f"{summary} Calls were not compared with tools. Name the tools with --tools.",
        style="dim",
    )
    return exit_code_of(problems)


@command
def list_workflows(files: FilesOrPublished = None, json: Json = False) -> None:
    """List the workflows of files, or the published workflows.

    \b
    antiphon workflows list examples/travel/workflows.yaml
    antiphon workflows list
    """
    rows = [
        (specification.domain, name, ", ".join(workflow.params), one_line(workflow.description, 80))
        for specification in specifications_of(files or ())
        for name, workflow in specification.workflows.items()
    ]
    if json:
        print_json([dict(zip(("domain", "name", "params", "description"), row, strict=True)) for row in rows])
    else:
        print_table(("domain", "name", "params", "description"), rows, "No workflows.")


@command
def show(name: WorkflowName, files: FilesOrPublished = None, json: Json = False) -> None:
    """Show a workflow's params, nodes and output."""
    specification, workflow = find_workflow(name, files or ())
    if json:
        fields = workflow.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        hash = specification_hash(specification)
        print_json(
            {
                "domain": specification.domain,
                "version": specification.version,
                "hash": hash,
                "name": name,
                **fields,
            }
        )
        return
    stdout().print(f"{specification.domain}.{name}, version {one_line(specification.version)}\n")
    stdout().print(f"{workflow.description}\n")
    rows = [(param, param_text(one), one.description) for param, one in workflow.params.items()]
    print_table(("param", "type", "description"), rows, "No params.")
    stdout().print(f"\n{as_text(name, workflow)}")


@command
def graph(
    name: WorkflowName,
    files: FilesOrPublished = None,
    form: Annotated[
        Drawing, typer.Option("--format", help="text, or mermaid (for Markdown).")
    ] = Drawing.text,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The output file.")
    ] = None,
) -> None:
    """Draw the graph of a workflow, as text by default.

    Exit codes: 0 drawn; 1 the file has errors; 2 usage error, or the output cannot be written; 3 a file is unreadable.

    \b
    antiphon workflows graph book_trip examples/travel/workflows.yaml --format mermaid
    antiphon workflows graph book_trip examples/travel/workflows.yaml --format mermaid -o book_trip.mmd
    """
    _, workflow = find_workflow(name, files or ())
    diagram = as_mermaid(workflow) if form is Drawing.mermaid else as_text(name, workflow)
    if output is None:
        write(f"{diagram}\n")
        return
    write_file(output, f"{harmless(diagram)}\n", "--output")


@command
def dry_run(
    name: WorkflowName,
    *,
    files: FilesOrPublished = None,
    params: Annotated[
        list[str] | None,
        typer.Option(
            "--param", metavar="NAME=VALUE", help="A param of the run, as text or JSON; repeatable."
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A JSON file with results by node path, used instead of samples."),
    ] = None,
    is_cover: Annotated[
        bool,
        typer.Option("--cover", help="Follow every branch, and let every node fail once."),
    ] = False,
    tools: Annotated[list[str] | None, tools_option("each call counts as a write")] = None,
    json: Json = False,
) -> int:
    """Simulate a run of a workflow, without calling any tool.

    The decisions are those of a real run. Results are samples with the fields that the workflow reads, or come from a
    file. With --cover every path through the workflow is followed, and unreachable nodes are reported.

    Exit codes: 0 done; 1 errors, or --cover found unreachable nodes; 2 usage error; 3 a file is unreadable.

    \b
    antiphon workflows dry-run book_trip examples/travel/workflows.yaml --param origin=NYC --tools examples.travel
    antiphon workflows dry-run book_trip examples/travel/workflows.yaml --cover
    """
    from antiphon.cli.workflows import dry_runs

    specification, _ = find_workflow(name, files or ())
    plan = dry_runs.plan_of(specification, name, catalogue_of(tools) if tools else None)
    values = dry_runs.params_of(plan, params or [])
    show = dry_runs.covered if is_cover else dry_runs.walked
    try:
        is_complete = show(plan, values, dry_runs.results_of(plan, results), is_json=json)
    except UnfitParams as error:
        raise UsageError(f"{error}.", hint="Pass it with --param.") from None
    return EXIT_DONE if is_complete else EXIT_FAILED


def schema() -> None:
    """Print the JSON Schema of workflow files, for editors.

    \b
    antiphon workflows schema > workflow.schema.json
    """
    from antiphon.workflows.schema import file_schema

    print_json(file_schema(), is_indented=True)


def _as_json(problem: Problem) -> dict[str, Any]:
    fields = asdict(problem)
    position = fields.pop("position") or {"line": None, "column": None}
    return {**fields, **position}


def _annotation(problem: Problem) -> str:
    position = {"line": problem.position.line, "col": problem.position.column} if problem.position else {}
    text, file = one_line(problem.text), one_line(problem.file)
    return annotation(problem.severity, text, file=file, **position, title=problem.code)
