"""`antiphon up` and `antiphon run`."""

import os
import sys
from typing import Annotated

import typer
from antiphon_shared.events import Component
from antiphon_shared.process import logs
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.secret_values import secret_values
from antiphon_shared.process.settings import PipelineSettings, load

from antiphon.cli.output import refuse
from antiphon.supervisor import component_command, read_replicas, supervise


def up(
    replicas: Annotated[
        str, typer.Option(metavar="NAME=N,...", help="Processes of a component; one of each when left out.")
    ] = "",
) -> None:
    """Run the whole pipeline: every component as a process, restarted when it dies.

    Logs go to stderr, one JSON object per line. SIGTERM or Ctrl-C ends all of them cleanly. Modules named in
    ANTIPHON_TOOLS must be installed, or on PYTHONPATH. Exit codes: 0 ended; 2 a component is not set up
    right.

    \b
    ANTIPHON_REDIS_URL=redis://localhost:6379 ANTIPHON_TOOLS=examples.courses antiphon up
    antiphon up --replicas reasoning_engine=4,tool_dispatcher=2
    """
    try:
        settings = load(PipelineSettings)
        logs.configure(settings.log_level, "supervisor", secret_values(settings))
        code = supervise(read_replicas(replicas))
    except AntiphonError as error:
        code = refuse(error)
    raise typer.Exit(code)


def run(
    component: Annotated[Component, typer.Argument(metavar="COMPONENT", help="Which one.")],
) -> None:
    """Run one component until it is told to stop; the same as `python -m COMPONENT`.

    Any number of each may run, on any number of machines.

    \b
    antiphon run reasoning_engine
    """
    command = component_command(component)
    sys.stdout.flush()
    os.execv(command[0], command)  # noqa: S606  # this process becomes the component: same pid, same signals
