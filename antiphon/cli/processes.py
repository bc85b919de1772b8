"""`antiphon up` and `antiphon run`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from antiphon_shared.events import Component
from antiphon_shared.process import logs
from antiphon_shared.process.environment import environment
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.redaction.secret_values import secret_values

from antiphon.cli.ask import ToolModules
from antiphon.cli.output import UsageError, refuse, stderr
from antiphon.cli.pipelines import NO_TOOLS, split_modules
from antiphon.own_packages import check_components
from antiphon.recipes.settings import RecipeSettings
from antiphon.redis_wait import wait_for_redis
from antiphon.supervisor import component_command, read_processes, supervise

_LEARN_RECIPES = (sys.executable, "-P", "-m", "antiphon", "recipes", "learn", "--follow")


def up(
    tools: ToolModules = None,
    replicas: Annotated[
        str, typer.Option(metavar="NAME=N,...", help="Processes of a component; one of each when left out.")
    ] = "",
    processes: Annotated[
        int,
        typer.Option(metavar="1|5", help="1: all components in one process; 5: a process of each."),
    ] = 5,
    no_wait: Annotated[
        bool,
        typer.Option("--no-wait", help="End with 3 when Redis does not answer, instead of waiting for it."),
    ] = False,
) -> None:
    """Run the whole pipeline: every component as a process, or all of them in one; restarted when it dies.

    Redis is looked for at ANTIPHON_REDIS_URL, or at redis://localhost:6379/0. Logs go to stderr: as text on a
    terminal, else one JSON object per line (ANTIPHON_LOG_FORMAT). SIGTERM or Ctrl-C ends all of them cleanly.
    With ANTIPHON_RECIPES_LEARN=true, recipes are learned from complete sessions by a further process.

    With --processes 1, all components share one process, one event loop and one Redis user, and use little more than
    one CPU core. Messages are committed, recorded and recovered as between five. A tool that blocks the loop, or ends
    the process, stops every component until the restart.

    Exit codes: 0 ended; 2 a component is not set up right; 3 no Redis, with --no-wait.

    \b
    antiphon up --tools antiphon.examples.courses
    antiphon up --tools my_tools --replicas reasoning_engine=4,tool_dispatcher=2
    antiphon up --tools my_tools --processes 1    # for one core: a small machine or container
    """
    logs.silence("error", secret_values())  # until Redis has answered
    try:
        with _tools_as_settings(tools):
            settings = load(PipelineSettings)
            check_components()
            numbers, others = read_processes(processes, replicas)
            if load(RecipeSettings).learn:
                others["recipes"] = _LEARN_RECIPES
            if not settings.tools.strip():
                stderr().print(NO_TOOLS, style="yellow")
            code = supervise(
                numbers,
                ready=lambda: _begin_logging(settings, waits=not no_wait),
                others=others,
            )
    except AntiphonError as error:
        code = refuse(error)
    raise typer.Exit(code)


def run(
    component: Annotated[Component, typer.Argument(metavar="COMPONENT", help="Which one.")],
    tools: ToolModules = None,
) -> None:
    """Run one component until it is told to stop; like `python -m COMPONENT`, from any directory.

    Any number of each may run, on any number of machines. What lies in the current directory is imported last, so
    that no folder or file of your own is taken for one of ours or of a library.

    \b
    antiphon run reasoning_engine
    antiphon run tool_dispatcher --tools my_tools
    """
    try:
        if tools and component != "tool_dispatcher":
            raise UsageError(
                f"--tools: a {component} runs no tools.", hint="Give it to `antiphon run tool_dispatcher`."
            )
        check_components([component])
        with _tools_as_settings(tools):
            command = component_command(component)
            sys.stdout.flush()
            os.execv(command[0], command)  # noqa: S606  # this process becomes the component: same pid, same signals
    except AntiphonError as error:
        raise typer.Exit(refuse(error)) from None


async def _begin_logging(settings: PipelineSettings, *, waits: bool) -> None:
    """Wait for Redis, with a status line in place of logs on a terminal; then log."""
    if waits and not sys.stderr.isatty():
        logs.configure(settings.log_level, "supervisor", secret_values(settings), settings.log_format)
    await wait_for_redis(settings, waits=waits)
    logs.configure(settings.log_level, "supervisor", secret_values(settings), settings.log_format)


@contextmanager
def _tools_as_settings(tools: list[str] | None) -> Iterator[None]:
    """Set ANTIPHON_TOOLS to the value of --tools, for processes started within the block."""
    with environment({} if tools is None else {"ANTIPHON_TOOLS": ",".join(split_modules(tools))}):
        yield
