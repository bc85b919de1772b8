"""Run commands of this interpreter's environment for `command_client.py`, each as a process forked off this one.

An interpreter that imports the packages anew for each command of the tutorials took most of their time. Here they are
imported once, from where they are installed; each command is a process with its own arguments, folder, environment,
streams and exit code. Started as `command_server.py SOCKET`, it returns when it listens, and serves until SIGTERM.
"""

import gc
import json
import os
import runpy
import socket
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from antiphon_shared.events import COMPONENTS

from antiphon.cli import COMMANDS

PRELOADED = (
    "antiphon.embedded",
    *(f"{component}.component" for component in COMPONENTS),
    *sorted({target.partition(":")[0] for target, _ in COMMANDS.values()}),
    "antiphon_shared.process.runner",
    "reasoning_engine.offline_model",
)
"""No plugin of pytest, which must be the first to import those, and so nothing that such a plugin imports."""


def main(path: str) -> None:
    """Import, listen, and return; a process of its own serves."""
    for name in PRELOADED:
        import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        if os.fork():
            return
        nothing = os.open(os.devnull, os.O_RDWR)
        _redirect([nothing] * 3)  # else who reads our output would wait for our end
        command = _next_command(listener)
    _run(*command)


def _next_command(listener: socket.socket) -> list[str]:
    """Serve each client in a process of its own; return in each process of a command, with the command to run."""
    waiters = set[int]()
    while True:
        connection, _ = listener.accept()
        with connection:
            waiter = os.fork()
            if waiter == 0:
                return _forked(connection)
        waiters = {each for each in waiters | {waiter} if os.waitpid(each, os.WNOHANG)[0] == 0}


def _forked(connection: socket.socket) -> list[str]:
    """Return in the process of the command; report its exit code to the client, and end, in the other one."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as file:
        command, folder, environment = json.load(file)
    child = os.fork()
    if child == 0:
        _redirect(streams)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        return list(command)
    for stream in streams:
        os.close(stream)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(BrokenPipeError):  # of a client that was killed
        connection.sendall(bytes([128 - code if code < 0 else code]))
    os._exit(0)


def _redirect(streams: list[int]) -> None:
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)


def _run(program: str, *arguments: str) -> None:
    """Run `PROGRAM`, a script of the environment, `python -m MODULE` or `python FILE`, as this interpreter's own."""
    if program == "python" and arguments[0] == "-m":
        sys.path[0], sys.argv = os.getcwd(), list(arguments[1:])
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    script = Path(arguments[0]) if program == "python" else Path(sys.executable).with_name(program)
    sys.path[0], sys.argv = str(script.parent.resolve()), [str(script), *arguments[program == "python" :]]
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
