"""`antiphon metrics`: the state of the pipeline for Prometheus."""

import asyncio
import signal
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated

import typer
from antiphon_shared.process.errors import RedisUnavailable

from antiphon.cli.output import UsageError, run, stderr, write
from antiphon.observe import PipelineStatus, connected, pipeline_status

if TYPE_CHECKING:
    from antiphon_shared.bus.redis_bus import Bus

_PORT_MAX = 65_535


def metrics(
    listen: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve the metrics at this address under /metrics."),
    ] = None,
) -> None:
    """Print the state of the pipeline in Prometheus's text format, or serve it over HTTP.

    \b
    antiphon metrics --listen 127.0.0.1:9464
    """
    run(_print() if listen is None else _serve(*_address(listen)))


async def _print() -> None:
    from antiphon.metrics import exposition  # its library is slow to import, and needed only here

    async with connected() as bus:
        write(exposition(await pipeline_status(bus)))


async def _serve(host: str, port: int) -> None:
    from antiphon.metrics import serve

    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with AsyncExitStack() as connections:
        bus: Bus | None = None

        async def read() -> PipelineStatus:
            """Return the status; connect first if Redis was unavailable until now."""
            nonlocal bus
            if bus is None:
                bus = await connections.enter_async_context(connected())
            return await pipeline_status(bus)

        try:
            await read()
        except RedisUnavailable as error:
            stderr().print(f"{error} Until it answers, antiphon_up is 0.", style="yellow")
        try:
            port, stop = serve(host, port, read)
        except OSError as error:
            raise UsageError(
                f"Cannot listen on {host}:{port}: {error.strerror or error}.",
                hint="Choose another address or port.",
            ) from None
        stderr().print(f"Serving metrics at http://{host}:{port}/metrics.")
        try:
            await stopped.wait()
        finally:
            await asyncio.to_thread(stop)


def _address(listen: str) -> tuple[str, int]:
    """Return host and port. An invalid address ends the program like any wrong option."""
    host, colon, port = listen.rpartition(":")
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port[:6]) > _PORT_MAX:
        raise typer.BadParameter("not of the form HOST:PORT, such as 127.0.0.1:9464", param_hint="--listen")
    return host.strip("[]"), int(port)
