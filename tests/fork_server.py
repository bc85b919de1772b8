"""Starts of `antiphon` and its components as forks of a process that has imported them: 50 ms in place of a second.

A folder gets two programs to be called as `python` and `antiphon`. Each asks the server over a Unix socket for a
process with its arguments, directory, environment and standard streams. It passes signals on to that process, ends as
that ends, and takes it along when it is killed. For any other command, and in an environment that changes how an
interpreter starts, it is the real one.

This file is also run by its path, by interpreters that find no other file of the tests.
"""

import array
import contextlib
import marshal
import os
import signal
import socket
import sys
from types import FrameType
from typing import Any

FORKED = (
    "antiphon",
    "antiphon.one_process",
    "coordinator",
    "reasoning_engine",
    "tool_dispatcher",
    "context_synthesizer",
    "response_assembler",
)
"""The modules that are run by a fork for `python -m MODULE`."""
_PASSED_ON = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGWINCH)


def write_programs(folder: str, python: str) -> None:
    """Write `python` and `antiphon` into the folder in which the server listens."""
    client = f'exec "{python}" -I -S "{__file__}" ask "{folder}/socket" "{python}"'
    for name, first in (("python", ""), ("antiphon", " -P -m antiphon")):
        program = os.path.join(folder, name)
        with open(program, "w") as file:
            file.write(f'#!/bin/sh\n{client}{first} "$@"\n')
        os.chmod(program, 0o755)


def ask(path: str, python: str, *arguments: str) -> None:
    """Run `python ARGUMENTS` as a fork, or by the real interpreter, and end as it ends."""
    option, module, *rest = (*arguments[arguments[:1] == ("-P",) :], "", "")
    is_changed = any(name.startswith("PYTHON") and name != "PYTHONPATH" for name in os.environ)
    if option != "-m" or module not in FORKED or is_changed:
        os.execv(python, [python, *arguments])
    ignored = [int(number) for number in _PASSED_ON if signal.getsignal(number) is signal.SIG_IGN]
    program = {
        "module": module,
        "arguments": rest[:-2],
        "path": [] if arguments[0] == "-P" else [os.getcwd()],
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "ignored": ignored,
    }
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)

    def pass_on(number: int, _: FrameType | None) -> None:
        with contextlib.suppress(OSError):  # it has ended
            server.sendall(bytes([number]))

    text = marshal.dumps(program)
    streams = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))
    signal.pthread_sigmask(signal.SIG_BLOCK, _PASSED_ON)  # until the program's text has been sent
    server.sendmsg([len(text).to_bytes(4, "big")], [streams])
    server.sendall(text)
    for number in _PASSED_ON:
        if number not in ignored:
            signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PASSED_ON)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)  # others see the end of a stream once the process has closed it
    status = server.recv(4)  # empty if the server has ended, and all its processes
    _end_as(os.waitstatus_to_exitcode(int.from_bytes(status, "big")) if status else -signal.SIGKILL)


def _end_as(code: int) -> None:
    if code < 0:
        if code != -signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def serve(path: str, ending: int) -> None:
    """Serve until the other end of the descriptor `ending` is closed. Raises SystemExit in each fork, at its end."""
    import selectors

    os.setsid()  # signals of a terminal are for those that ask
    running: dict[int, socket.socket] = {}  # by process
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    listener, selector = socket.socket(socket.AF_UNIX), selectors.DefaultSelector()
    listener.bind(f"{path}.new")
    listener.listen(64)
    os.rename(f"{path}.new", path)
    for file in (listener, woken, ending):
        selector.register(file, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                connection, _ = listener.accept()
                pid = _forked(connection, (*running.values(), listener, woken, wake, selector))
                running[pid] = connection
                selector.register(connection, selectors.EVENT_READ, pid)
            elif key.fileobj is woken:
                woken.recv(4096)
                for pid in _ended(running):
                    selector.unregister(running[pid])
                    running.pop(pid).close()
            elif key.fileobj == ending:
                for pid in running:
                    os.kill(pid, signal.SIGKILL)
                os._exit(0)
            elif key.data in running:
                for number in running[key.data].recv(16) or [signal.SIGKILL]:
                    os.kill(key.data, number)


def _forked(connection: socket.socket, others: tuple[Any, ...]) -> int:
    """Return the new process, which runs the program that the connection asks for, without the server's files."""
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as file:
        program = marshal.loads(file.read(int.from_bytes(size, "big")))
    pid = os.fork()
    if not pid:
        for other in (connection, *others):
            other.close()
        _run(program, streams)
        sys.exit()
    for descriptor in streams:
        os.close(descriptor)
    return pid


def _ended(running: dict[int, socket.socket]) -> list[int]:
    """Report the exit status of each process that has ended to the program that asked for it."""
    ended = []
    for pid, connection in running.items():
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            ended.append(pid)
            with contextlib.suppress(OSError):  # it was killed
                connection.sendall(status.to_bytes(4, "big"))
    return ended


def _run(program: dict[str, Any], streams: list[int]) -> None:
    """Make this fork like a fresh interpreter for the program, and run that."""
    import atexit
    import importlib
    import runpy
    import time

    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in program["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)
        os.close(stream)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  # open until the program ends
    for file in (sys.stdout, sys.stderr):
        file.reconfigure(line_buffering=file.isatty() or file is sys.stderr)  # type: ignore[union-attr]
    os.chdir(program["folder"])
    os.environ.clear()
    os.environ.update(program["environment"])
    time.tzset()
    sys.path[:0] = [*program["path"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [program["module"], *program["arguments"]]
    importlib.invalidate_caches()
    try:
        runpy.run_module(program["module"], run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        ask(*sys.argv[2:])
    else:  # serve FOLDER ENDING MODULE...
        import gc
        import importlib

        folder, ending, *modules = sys.argv[2:]
        write_programs(folder, sys.executable)
        sys.executable = f"{folder}/python"  # for the children of what is forked
        for module in modules:
            importlib.import_module(module)
        gc.collect()
        gc.freeze()
        serve(f"{folder}/socket", int(ending))
