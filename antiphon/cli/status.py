"""`antiphon status` and `antiphon health`."""

import socket
from typing import Annotated

import typer
from antiphon_shared.events import Component
from antiphon_shared.process.health import workers

from antiphon.cli.breakers import BREAKER_HEADINGS, breaker_rows, seconds_text
from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    Json,
    command,
    print_json,
    print_table,
    stderr,
    stdout,
)
from antiphon.cli.printer import one_line
from antiphon.observe import connected, pipeline_status
from antiphon.rejected import newest_rejection


@command
async def status(json: Json = False) -> None:
    """Show the queued work of the pipeline, and the workers that are alive.

    For each component: the length of its inbox, the messages in flight (delivered to a worker, not finished), the age
    of the oldest message, and the live workers. Then the queue, the newest rejection of a submission, the tenants whose
    queries wait for capacity, and the circuit breakers that are not closed. It works while components are missing.
    """
    async with connected() as bus:
        status = await pipeline_status(bus)
        if status.rejected:
            status = status.model_copy(update={"newest_rejection": await newest_rejection(bus)})
    if json:
        print_json(status)
        return
    rows = [
        (one.component, inbox.length, inbox.in_flight, seconds_text(inbox.oldest_wait_s), one.workers_alive)
        for one in status.components
        for inbox in [one.inbox]
    ]
    print_table(("component", "inbox", "in flight", "oldest", "workers"), rows, "")
    queue = status.queue
    stdout().print(
        f"\nqueue {queue.length} (oldest {seconds_text(queue.oldest_wait_s)}), rejected {status.rejected}, "
        f"open sessions {status.open_sessions}, dead letters {status.dead_letters}"
    )
    if rejection := status.newest_rejection:
        at = f" {rejection.at:%Y-%m-%d %H:%M:%S} UTC" if rejection.at else ""
        stdout().print(f"newest rejection{at}: {one_line(rejection.reason)}")
    if status.waiting.queries:
        tenants = ", ".join(f"{one_line(one.tenant)} {one.queries}" for one in status.waiting.tenants)
        stdout().print(f"waiting for capacity {status.waiting.queries} ({tenants})")
    not_closed = [breaker for breaker in status.breakers if breaker.phase != "closed"]
    if not_closed:
        stdout().print()
        print_table(BREAKER_HEADINGS, breaker_rows(not_closed), "")


@command
async def check_health(
    component: Annotated[Component, typer.Argument(metavar="COMPONENT", help="The name of the component.")],
    here: Annotated[bool, typer.Option("--here", help="Count workers on this host only.")] = False,
    json: Json = False,
) -> int:
    """Check that a worker of COMPONENT is alive. Exit codes: 0 alive; 1 not alive; 3 cannot connect to Redis.

    \b
    antiphon health coordinator --here     # for a container's health check
    """
    async with connected() as bus:
        every_worker = await workers(bus, component)
    host = socket.gethostname()
    candidates = [worker for worker in every_worker if not here or worker.host == host]
    alive = [worker for worker in candidates if worker.is_alive]
    if json:
        print_json({"component": component, "is_healthy": bool(alive), "workers": candidates})
    elif alive:
        stdout().print(f"{component}: {len(alive)} alive")
    if alive:
        return EXIT_DONE
    where = f" on {host}" if here else ""
    silent = min((worker.silent_s for worker in candidates), default=None)
    last_sign = (
        "no heartbeat in the last minute" if silent is None else f"the last heartbeat was {silent:.0f} s ago"
    )
    stderr().print(f"{component}: no worker is alive{where}; {last_sign}.", style="red")
    return EXIT_FAILED
