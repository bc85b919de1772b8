"""`antiphon status` and `antiphon health`."""

import socket
from typing import Annotated

import typer
from antiphon_shared.events import Component
from antiphon_shared.process.health import workers

from antiphon.cli.breakers import BREAKER_HEADINGS, breaker_rows
from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    Json,
    one_line,
    print_json,
    print_table,
    run,
    stderr,
    stdout,
)
from antiphon.observe import connected, pipeline_status


def status(json: Json = False) -> None:
    """Show what the pipeline has to do and who is there to do it.

    Per component: inbox length, how much of it is in flight (handed to a worker, not finished), how long the
    oldest has been there, and the workers that are alive; then the queue, the tenants whose queries wait for
    room, and the circuit breakers that are not closed. Works while parts are absent.
    """
    run(_status(json))


def check_health(
    component: Annotated[Component, typer.Argument(metavar="COMPONENT", help="Which one.")],
    here: Annotated[bool, typer.Option("--here", help="Count workers on this host only.")] = False,
    json: Json = False,
) -> None:
    """Exit 0 when a worker of COMPONENT is alive, 1 when none is, 3 when there is no Redis.

    \b
    antiphon health coordinator --here     # what a container's health check wants to know
    """
    run(_health(component, here, json))


async def _status(is_json: bool) -> None:
    async with connected() as bus:
        status = await pipeline_status(bus)
    if is_json:
        print_json(status)
        return
    rows = [
        (part.component, part.inbox.length, part.inbox.in_flight, _seconds(part.inbox.oldest_wait_s), alive)
        for part in status.components
        for alive in [part.workers_alive]
    ]
    print_table(("component", "inbox", "in flight", "oldest", "workers"), rows, "")
    queue = status.queue
    stdout().print(
        f"\nqueue {queue.length} (oldest {_seconds(queue.oldest_wait_s)}), rejected {status.rejected}, "
        f"open sessions {status.open_sessions}, dead letters {status.dead_letters}"
    )
    if status.waiting.queries:
        tenants = ", ".join(f"{one_line(one.tenant)} {one.queries}" for one in status.waiting.tenants)
        stdout().print(f"waiting for room {status.waiting.queries} ({tenants})")
    not_closed = [breaker for breaker in status.breakers if breaker.phase != "closed"]
    if not_closed:
        stdout().print()
        print_table(BREAKER_HEADINGS, breaker_rows(not_closed), "")


async def _health(component: Component, is_here: bool, is_json: bool) -> int:
    async with connected() as bus:
        found = await workers(bus, component)
    host = socket.gethostname()
    asked = [worker for worker in found if not is_here or worker.host == host]
    alive = [worker for worker in asked if worker.is_alive]
    if is_json:
        print_json({"component": component, "is_healthy": bool(alive), "workers": asked})
    elif alive:
        stdout().print(f"{component}: {len(alive)} alive")
    if alive:
        return EXIT_DONE
    where = f" on {host}" if is_here else ""
    silent = min((worker.silent_s for worker in asked), default=None)
    heard = (
        "none was heard of in the last minute"
        if silent is None
        else f"the last was heard of {silent:.0f} s ago"
    )
    stderr().print(f"{component}: no worker is alive{where}; {heard}.", style="red")
    return EXIT_FAILED


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"
