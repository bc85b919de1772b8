"""`antiphon up`: run the components as child processes, restart those that die, and end all together."""

import asyncio
import re
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import structlog
from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.runner import EXIT_USAGE

from antiphon.child_processes import GRACE_S, ChildProcesses, terminate

REPLICAS_MAX = 256
ONE_PROCESS = (sys.executable, "-P", "-m", "antiphon.one_process")
"""The command that runs all components in one process."""
_BACKOFF_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_STEADY_S = 30.0
"""The lifetime after which a child that dies is restarted without backoff."""

Command = Callable[[Component], list[str]]
Ready = Callable[[], Coroutine[Any, Any, None]]


def component_command(name: Component) -> list[str]:
    """Return the command that runs a component, with -P, so that the current directory shadows no library."""
    return [sys.executable, "-P", "-m", name]


def supervise(
    replicas: Mapping[Component, int],
    command: Command = component_command,
    ready: Ready | None = None,
    others: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> int:
    """Run the components until SIGTERM or SIGINT; return the exit code: 0, or 2 for a wrong configuration.

    `ready` is awaited first, and its errors are raised. `others` are commands of further processes, by name.
    """
    commands = {
        f"{name}-{n}": command(name) for name in COMPONENTS for n in range(1, replicas.get(name, 1) + 1)
    }
    return asyncio.run(_Supervisor({**commands, **others}).run(ready))


class _Supervisor:
    """The supervisor of processes, which end with it, even after kill -9; `commands` are by name."""

    def __init__(self, commands: Mapping[str, Sequence[str]]) -> None:
        self._commands = commands
        self._children = ChildProcesses()
        self._stopping = asyncio.Event()
        self._exit_code = 0
        self._log = structlog.get_logger()

    async def run(self, ready: Ready | None) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        if ready is not None:
            await self._wait_unless_stopping(ready())
        try:
            await asyncio.gather(
                *(self._keep_running(command, name) for name, command in self._commands.items())
            )
        finally:
            await self._children.release()
        return self._exit_code

    async def _keep_running(self, command: Sequence[str], name: str) -> None:
        """Run one child, and restart it when it dies, until everything stops."""
        deaths = 0
        while not self._stopping.is_set():
            began = monotonic_s()
            try:
                child = await self._children.start(*command)
            except OSError as error:
                self._log.error("child_start_failed", child=name, error=str(error))
            else:
                self._log.info("child_started", child=name, pid=child.pid)
                await self._watch(child, name)
            if monotonic_s() - began >= _STEADY_S:
                deaths = 0
            delay_s = _BACKOFF_S[min(deaths, len(_BACKOFF_S) - 1)]
            deaths += 1
            await self._wait_unless_stopping(asyncio.sleep(delay_s))

    async def _watch(self, child: Process, name: str) -> None:
        """Wait until the child has died, or end it when everything stops."""
        await self._wait_unless_stopping(child.wait())
        if child.returncode is None:
            await terminate(child, GRACE_S)
            self._log.info("child_ended", child=name, code=child.returncode)
        elif child.returncode == EXIT_USAGE:
            self._log.error("child_misconfigured", child=name)
            self._exit_code = EXIT_USAGE
            self._stopping.set()
        elif not self._stopping.is_set():
            self._log.warning("child_died", child=name, code=child.returncode)

    async def _wait_unless_stopping(self, until: Coroutine[Any, Any, object]) -> None:
        """Wait until `until` is done, or everything stops. Raises the errors of `until`."""
        tasks = [asyncio.create_task(until), asyncio.create_task(self._stopping.wait())]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        results, _ = await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(results, Exception):
            raise results


def read_processes(processes: int, replicas: str) -> tuple[dict[Component, int], dict[str, Sequence[str]]]:
    """Return the numbers of processes by component, and the commands of processes that run several components.

    Raises ConfigurationError.
    """
    if processes not in (1, len(COMPONENTS)):
        raise ConfigurationError(
            f"--processes: {processes} is not possible.",
            hint="Use 1 for all components in one process, or 5 for a process of each.",
        )
    numbers = read_replicas(replicas)
    if processes > 1:
        return numbers, {}
    if numbers:
        raise ConfigurationError(
            "--replicas: with --processes 1 there is one of each component, all in one process.",
            hint="Run further processes with `antiphon run NAME`, or leave out --processes.",
        )
    return dict.fromkeys(COMPONENTS, 0), {"antiphon": ONE_PROCESS}


def read_replicas(text: str) -> dict[Component, int]:
    """Return the numbers in `coordinator=2,tool_dispatcher=4` by component. Raises ConfigurationError."""
    replicas: dict[Component, int] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.partition("=")
        component = next((one for one in COMPONENTS if one == name.strip()), None)
        if component is None:
            raise ConfigurationError(
                f"--replicas: component {name.strip()!r} does not exist.",
                hint=f"There are {', '.join(COMPONENTS)}.",
            )
        if not re.fullmatch(r"[0-9]{1,3}", number.strip()) or int(number) > REPLICAS_MAX:
            raise ConfigurationError(
                f"--replicas: {number.strip()[:40]!r} is not a number of processes.",
                hint=f"Use 0 to {REPLICAS_MAX}, for example {component}=2.",
            )
        replicas[component] = int(number)
    return replicas
