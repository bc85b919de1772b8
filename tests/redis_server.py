"""A real redis-server of the suite's own: on a free port, in a folder of its own, ended by its id."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping

import pytest
import redis

START_LIMIT_S = 60.0
STOP_LIMIT_S = 60.0
_PORTS = range(12_000, 22_000)
"""Below the ports that systems assign freely, also with 10,000 more, a cluster's second one."""
_MARKS: dict[int, int] = {}
"""Descriptors of the marks of our ports, which are closed with the process at the latest."""


def free_port() -> int:
    """Return a port that no process listens on, reserved for this process.

    Not one that the system has given away and taken back: until it is listened on, and while a server that was
    killed is away, any other socket on the machine could be given the same. Ours is marked by a socket for datagrams
    of the same number, which no server of the tests has a use for.
    """
    draw = random.SystemRandom()  # with a seed of the other one all processes would draw the same
    while True:
        port = draw.choice(_PORTS)
        mark = socket.socket(type=socket.SOCK_DGRAM)
        try:
            mark.bind(("127.0.0.1", port))
            for number in (port, port + 10_000):
                with socket.socket() as listener:
                    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    listener.bind(("127.0.0.1", number))
        except OSError:
            mark.close()
        else:
            _MARKS[port] = mark.detach()
            return port


def _give_back(port: int) -> None:
    if port in _MARKS:
        os.close(_MARKS.pop(port))


def require_redis_server() -> str:
    """Return the path of redis-server. Skips where it is missing; fails where CI=true promises it."""
    path = shutil.which("redis-server")
    if path is None:
        message = "redis-server is not on PATH; `make setup` installs it where it can"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path


def require_tls() -> None:
    """Skip where redis-server was built without TLS: it does not know its directives then."""
    given = "tls-port 0\nno-such-directive yes\n"
    done = subprocess.run([require_redis_server(), "-"], input=given, capture_output=True, text=True)
    if "no-such-directive" not in done.stdout + done.stderr:
        pytest.skip("this redis-server is built without TLS")


class RedisServer:
    """One server. `kill` and `start` again keep port and data, as a crash and a restart would."""

    def __init__(
        self,
        *options: str,
        is_cluster: bool = False,
        login: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare a server; `environment` is added to this process's own."""
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix="antiphon-redis-")
        self._options = options
        self._is_cluster = is_cluster
        self._login = login
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self.url_of(self._login)

    def url_of(self, login: str) -> str:
        """Return the address for `user:password`; without a user when empty."""
        return f"redis://{login}{'@' * bool(login)}127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        options = list(self._options)
        if self._is_cluster:
            options += ["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"]
        command = [
            require_redis_server(),
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--dir",
            self.folder,
        ]
        self._process = subprocess.Popen(
            [*command, "--save", "", *options],
            env=self._environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        patience = {"socket_timeout": START_LIMIT_S, "socket_connect_timeout": START_LIMIT_S}
        with redis.Redis.from_url(self.url, **patience) as client:
            self._wait(client)
            if self._is_cluster:
                with contextlib.suppress(redis.ResponseError):  # the slots are its own already
                    client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
                while b"cluster_state:ok" not in client.execute_command("CLUSTER", "INFO"):
                    time.sleep(0.02)

    def kill(self) -> None:
        """Kill it by SIGKILL: no data is flushed."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def terminate(self) -> None:
        """Stop it by SIGTERM and wait for its end; the data stays."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait(timeout=STOP_LIMIT_S)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(timeout=STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        _give_back(self.port)

    def _wait(self, client: "redis.Redis") -> None:
        deadline = time.monotonic() + START_LIMIT_S
        while True:
            try:
                client.ping()
                return
            except redis.exceptions.RedisError:
                assert self._process is not None
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


@contextlib.contextmanager
def running(*options: str, is_cluster: bool = False, login: str = "") -> Iterator[RedisServer]:
    """Run a server for the length of a block; `login`, as `user:password`, is its only user, with all rights."""
    server = RedisServer(*options, is_cluster=is_cluster, login=login)
    server.start()
    try:
        yield server
    finally:
        server.stop()
