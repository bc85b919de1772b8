"""`antiphon workflows publish` and `withdraw`: the workflows that can be run by name."""

from pathlib import Path
from typing import Annotated

import typer
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.workflows.publication import published

from antiphon import workflows
from antiphon.cli.output import (
    EXIT_DONE,
    Json,
    UsageError,
    command,
    counted,
    print_json,
    print_table,
    stderr,
    stdout,
)
from antiphon.cli.printer import one_line
from antiphon.cli.workflows.sources import show_problems, tools_option
from antiphon.client import Antiphon
from antiphon.observe import connected
from antiphon.workflows.load import InvalidWorkflow


@command
async def publish(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE...]",
            help="Workflow files, or folders of workflow files. Default: ANTIPHON_WORKFLOWS.",
        ),
    ] = None,
    tools: Annotated[list[str] | None, tools_option("the tools that the dispatchers offer")] = None,
    json: Json = False,
) -> int:
    """Check workflow files and publish them, so that the running pipeline can run their workflows by name.

    Each domain replaces its earlier published version. If a file has an error, nothing is published. Runs that have
    already started continue with their version.

    Exit codes: 0 published; 1 errors, each with its file and line; 2 usage error, or another domain has the name; 3 a
    file is unreadable, or cannot connect to Redis.

    \b
    antiphon workflows publish trips.yaml
    antiphon workflows publish workflows/ --tools my_tools
    antiphon workflows run book_trip --param origin=NYC
    """
    paths = [*map(str, files or ())] or [*load(PipelineSettings).workflows]
    if not paths:
        raise UsageError("no workflow files were named.", hint="Name files, or set ANTIPHON_WORKFLOWS.")
    async with Antiphon() as antiphon:
        try:
            specifications = await workflows.publish(antiphon, paths, tools=tools)
        except InvalidWorkflow as invalid:
            errors = sum(problem.severity == "error" for problem in invalid.problems)
            code = show_problems(invalid.problems)
            stderr().print(f"Nothing was published: {counted(errors, 'error')}.", style="red")
            return code
        has_catalogue = bool(tools) or await antiphon.open_bus().current_catalogue() is not None
    own = {one.domain: published(one) for one in specifications}
    if json:
        print_json([{"domain": domain, **one.model_dump(mode="json")} for domain, one in own.items()])
        return EXIT_DONE
    rows = [(domain, one.version, ", ".join(one.workflows)) for domain, one in own.items()]
    print_table(("domain", "version", "workflows"), rows, "")
    if not has_catalogue:
        stderr().print(
            "Calls were not compared with tools: no dispatcher has published its tools yet.", style="dim"
        )
    return EXIT_DONE


@command
async def withdraw(
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain, as named in its file.")],
    json: Json = False,
) -> None:
    """Withdraw the published workflows of a domain. Runs that have already started continue.

    A coordinator with the domain in ANTIPHON_WORKFLOWS publishes it again: remove it there first.

    \b
    antiphon workflows list           # the published domains and workflows
    antiphon workflows withdraw travel
    """
    async with connected() as bus:
        store = WorkflowStore(bus)
        domains = (await store.published()).domains
        withdrawn = await store.withdraw(domain) if domain in domains else None
    if withdrawn is None:
        raise UsageError(
            f"domain {domain!r} is not published.",
            hint=did_you_mean(domain, domains, "No domain is published."),
        )
    if json:
        print_json({"domain": domain, "workflows": withdrawn.workflows})
    else:
        stdout().print(f"Withdrawn: {one_line(', '.join(withdrawn.workflows))}.")
