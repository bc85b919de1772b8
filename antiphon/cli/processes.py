"""`antiphon up` and `antiphon run`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated

import typer
from antiphon_shared.events import Component
from antiphon_shared.process import logs
from antiphon_shared.process.environment import environment
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.redaction.secret_values import secret_values

from antiphon.cli.output import UsageError, command
from antiphon.cli.pipelines import split_modules
from antiphon.cli.query_options import ToolModules
from antiphon.own_packages import check_components
from antiphon.recipes.settings import RecipeSettings
from antiphon.redis_wait import wait_for_redis
from antiphon.supervisor import component_command, read_processes, supervise

_LEARN_RECIPES = (sys.executable, "-P", "-m", "antiphon", "recipes", "learn", "--follow")


Replicas = Annotated[
    str,
    typer.Option(metavar="NAME=N,...", help="The number of processes of a component. Default: one each."),
]
Processes = Annotated[
    int,
    typer.Option(metavar="1|5", help="1: all components in one process; 5: a process of each."),
]
NoWait = Annotated[
    bool,
    typer.Option("--no-wait", help="Exit with code 3 if Redis does not answer, instead of waiting for it."),
]


@command
def up(
    tools: ToolModules = None,
    replicas: Replicas = "",
    processes: Processes = 5,
    no_wait: NoWait = False,
) -> int:
    """Run the whole pipeline: one process per component, or all of them in one, restarted when it ends unexpectedly.

    It connects to ANTIPHON_REDIS_URL, by default redis://localhost:6379/0. Logs go to stderr: as text on a
    terminal, else as one JSON object per line (ANTIPHON_LOG_FORMAT). SIGTERM or Ctrl-C stops all processes cleanly.
    With ANTIPHON_RECIPES_LEARN=true, one more process learns recipes from complete sessions.

    With --processes 1, all components share one process, one event loop and one Redis user, and use little more than
    one CPU core. Messages are committed, recorded and recovered as with five processes. A tool that blocks the loop,
    or ends the process, stops every component until the restart.

    Exit codes: 0 stopped; 2 a component is misconfigured; 3 cannot connect to Redis, with --no-wait.

    \b
    antiphon up --tools antiphon.examples.courses
    antiphon up --tools my_tools --replicas reasoning_engine=4,tool_dispatcher=2
    antiphon up --tools my_tools --processes 1    # for one core: a small machine or container
    """
    logs.silence("error", secret_values())  # until Redis has answered
    with _tools_as_settings(tools):
        settings = load(PipelineSettings)
        check_components()
        numbers, others = read_processes(processes, replicas)
        if load(RecipeSettings).learn:
            others["recipes"] = _LEARN_RECIPES
        ready = partial(_begin_logging, settings, waits=not no_wait)
        return supervise(numbers, ready=ready, others=others)


@command
def run(
    component: Annotated[Component, typer.Argument(metavar="COMPONENT", help="The name of the component.")],
    tools: ToolModules = None,
) -> None:
    """Run one component until SIGTERM or Ctrl-C. It equals `python -m COMPONENT`, but works in any directory.

    You can run any number of each, on any number of machines. Modules of the current directory are imported last, so
    that they cannot replace modules of Antiphon or of a library.

    \b
    antiphon run reasoning_engine
    antiphon run tool_dispatcher --tools my_tools
    """
    if tools and component != "tool_dispatcher":
        raise UsageError(
            f"--tools: the {component} does not run tools.",
            hint="Pass the option to `antiphon run tool_dispatcher`.",
        )
    check_components([component])
    with _tools_as_settings(tools):
        words = component_command(component)
        sys.stdout.flush()
        os.execv(words[0], words)  # noqa: S606  # this process becomes the component: same pid, same signals


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
