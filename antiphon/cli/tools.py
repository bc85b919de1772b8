"""`antiphon tools`: the tools that a model may call."""

from typing import Annotated

import typer
from antiphon_shared.process.errors import RedisUnavailable
from antiphon_shared.process.settings import load
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.calls import Catalogue, ToolDefinition
from pydantic import ValidationError

from antiphon.cli import tools_check
from antiphon.cli.contract_words import contract_words
from antiphon.cli.output import Json, UsageError, command, print_json, print_table, stderr, stdout, write
from antiphon.cli.printer import one_line
from antiphon.observe import connected, published_catalogue
from tool_dispatcher.catalogue import load_tools, to_catalogue
from tool_dispatcher.operator_hints import add_hints
from tool_dispatcher.settings import ToolDispatcherSettings

app = typer.Typer(
    no_args_is_help=True, help="List, show and check tools, the functions that a model can call."
)
Modules = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="MODULE[:NAME]",
        help="Load these Python modules instead of the running pipeline's catalogue. They may be in "
        "the current directory.",
    ),
]


@app.command("list")
@command
async def list_tools(tools: Modules = None, json: Json = False) -> None:
    """List the tools of the running pipeline, or of Python modules.

    \b
    antiphon tools list --tools examples.courses
    """
    catalogue = await _catalogue(tools)
    if json:
        print_json(catalogue.tools)
        return
    rows = [
        (tool.name, tool.effect, _mode(tool), ", ".join(_parameters(tool)), one_line(tool.description, 80))
        for tool in catalogue.tools
    ]
    print_table(("tool", "effect", "mode", "parameters", "description"), rows, "No tools.")


app.command("check")(tools_check.check)


@app.command()
@command
async def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the tool.")],
    tools: Modules = None,
    json: Json = False,
) -> None:
    """Show a tool's description, parameters and contract."""
    catalogue = await _catalogue(tools)
    tool = next((tool for tool in catalogue.tools if tool.name == name), None)
    if tool is None:
        hint = did_you_mean(name, [tool.name for tool in catalogue.tools], "Name modules with --tools.")
        raise UsageError(f"there is no tool {name!r}.", hint=hint)
    if json:
        print_json(tool)
        return
    stdout().print(f"{tool.name} ({tool.effect})\n")
    write(f"{tool.description}\n\n")
    for subject, words in _contract(tool):
        stdout().print(f"{subject:14}{words}")
    write("\n")
    print_json(tool.input_schema, is_indented=True)


async def _catalogue(modules: list[str] | None) -> Catalogue:
    """Return the tools of modules imported here, or the tools published by the pipeline's dispatchers."""
    if modules is not None:
        return add_hints(to_catalogue(load_tools(",".join(modules))), load(ToolDispatcherSettings).hints)
    try:
        async with connected() as bus:
            catalogue = await published_catalogue(bus)
    except RedisUnavailable as error:
        hint = f"{error.hint} Or name modules with --tools, which needs no Redis."
        raise RedisUnavailable(error.message, hint=hint) from None
    if catalogue is None:
        stderr().print("No dispatcher has published its tools yet.", style="yellow")
    return catalogue or Catalogue()


def _contract(tool: ToolDefinition) -> list[tuple[str, str]]:
    """Return the contract in words; the contract of another version of Antiphon is shown only in the schema."""
    try:
        return contract_words(tool.contract, tool.approval)
    except ValidationError:
        return [("contract", "unreadable: published by a dispatcher of another version")]


def _mode(tool: ToolDefinition) -> str:
    try:
        return tool.contract.mode
    except ValidationError:
        return "?"


def _parameters(tool: ToolDefinition) -> list[str]:
    """Return the names of the parameters, with a question mark after optional ones."""
    required = tool.input_schema.get("required", [])
    names = tool.input_schema.get("properties", {})
    return [name if name in required else f"{name}?" for name in names]
