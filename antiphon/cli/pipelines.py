"""The pipeline of a command: the running one if it is configured, else a private one."""

import asyncio
import signal
from contextlib import suppress
from itertools import chain

from antiphon_shared.events import COMPONENTS
from antiphon_shared.events.session import Response
from antiphon_shared.process import health
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.settings import PipelineSettings, load

from antiphon.cli.output import UsageError, stderr
from antiphon.client import Antiphon
from antiphon.observe import connected
from reasoning_engine.settings import Provider

_AFTER_CANCEL_S = 5.0
_SENT_S = 0.3
"""How long a cancellation may take to be sent after another Ctrl-C."""
NO_TOOLS = (
    "No tools: the model answers without any. Add some with --tools MODULE, for example "
    "antiphon.examples.courses."
)


def client_of(
    tools: list[str] | None, model: Provider | None, scopes: list[str] | None, no_tools: str = NO_TOOLS
) -> Antiphon:
    """Return the running pipeline where one is configured, else a private one. Raises UsageError."""
    settings = load(PipelineSettings)
    if settings.redis_url is not None:
        own = (("--tools", tools), ("--model", None if model == "auto" else model), ("--scope", scopes))
        for option, value in own:
            if value:
                raise UsageError(
                    f"{option}: cannot be used while ANTIPHON_REDIS_URL is set: the running pipeline "
                    "has its own tools, model and scopes.",
                    hint="Omit the option, or unset ANTIPHON_REDIS_URL to run a private pipeline.",
                )
        return Antiphon()
    modules = split_modules(tools if tools is not None else [settings.tools])
    if not modules:
        stderr().print(no_tools, style="yellow")
    return Antiphon.embedded(modules, model=model, scopes=scopes)


def split_modules(names: list[str]) -> list[str]:
    return [module.strip() for name in names for module in name.split(",") if module.strip()]


async def cancelled(antiphon: Antiphon, session_id: str, why: str, notice: str) -> Response | None:
    """Cancel a session after Ctrl-C or a timeout; return its answer if it comes soon. Another Ctrl-C ends the wait.

    `notice` is printed once another Ctrl-C has this effect.
    """
    task = asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"
    task.uncancel()
    with suppress(NotImplementedError):  # on Windows a KeyboardInterrupt ends the program anyway
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, task.cancel)
    stderr().print(notice)
    cancelling = asyncio.ensure_future(antiphon.cancel(session_id, why))
    with suppress(asyncio.CancelledError, AntiphonError, TimeoutError):
        async with asyncio.timeout(_AFTER_CANCEL_S):
            await asyncio.shield(cancelling)
            return await antiphon.result(session_id)
    with suppress(asyncio.CancelledError):  # another Ctrl-C must not lose the cancellation
        await asyncio.wait((cancelling,), timeout=_SENT_S)
    cancelling.cancel()
    return None


def queued_but_cancelled(session_id: str) -> str:
    """Return the notice that a cancelled query is still in the queue, and will not run."""
    return (
        f"Session {session_id} is still in the queue. It is cancelled and will not run: it answers when a coordinator "
        "reads the queue."
    )


def command_of(antiphon: Antiphon) -> str:
    """Return the command by which another terminal reaches the pipeline; empty if none can."""
    if not antiphon.storage:
        return "antiphon"
    return f"ANTIPHON_REDIS_URL={antiphon.address} antiphon" if antiphon.address else ""


async def introduce(antiphon: Antiphon, has_grant: bool) -> None:
    """Tell the person where a private pipeline runs, or which components of the running one are absent."""
    if not antiphon.storage:
        await _warn_of_absent_components()
        return
    stderr().print(f"Running on {antiphon.storage}.", style="dim")
    missing = antiphon.scopes_missing
    if missing and not has_grant:
        scopes = " ".join(f"--scope {scope}" for scope in sorted({"read", *chain(*missing.values())}))
        stderr().print(
            f"Not offered, for lack of permissions: {', '.join(missing)}. Add {scopes} to offer them.",
            style="yellow",
        )


async def _warn_of_absent_components() -> None:
    async with connected() as bus:
        alive = await asyncio.gather(*(health.workers(bus, name) for name in COMPONENTS))
    absent = [
        name
        for name, workers in zip(COMPONENTS, alive, strict=True)
        if not any(worker.is_alive for worker in workers)
    ]
    if absent:
        stderr().print(
            f"No worker of {', '.join(absent)} is alive, so the query waits until one starts. Press "
            "Ctrl-C to stop waiting.",
            style="yellow",
        )
