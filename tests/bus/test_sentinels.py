"""Sentinels that name the master of a service: real ones, each with an answer of its own."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
import redis
from antiphon_shared.bus.sentinels import MasterConnection, Sentinels
from antiphon_shared.process.errors import ConfigurationError

from tests.failover.servers import until
from tests.redis_server import RedisServer, free_port, require_redis_server

SERVICE = "antiphon-test"


@dataclass(frozen=True)
class Servers:
    """A master, its replica, a former master, and sentinels with different views."""

    master: RedisServer
    replica: RedisServer
    former: RedisServer
    current: str
    """A sentinel that knows the master, since its seventh failover."""
    behind: str
    """One that still names the former master."""
    guarded: str
    """One that wants a password."""


def _sentinel(stack: ExitStack, port: int, epoch: int, *lines: str) -> str:
    """Start a sentinel that watches the server at `port`, stopped with the stack; return its address."""
    own, folder = free_port(), Path(mkdtemp())
    file = folder / "sentinel.conf"
    monitored = f"sentinel monitor {SERVICE} 127.0.0.1 {port} 2\nsentinel config-epoch {SERVICE} {epoch}\n"
    # It never takes the server for dead, so that it never asks for a failover.
    patient = f"sentinel down-after-milliseconds {SERVICE} 600000\n"
    begin = f"port {own}\nbind 127.0.0.1\ndir {folder}\n"
    file.write_text(begin + monitored + patient + "".join(f"{line}\n" for line in lines))
    command = [require_redis_server(), str(file), "--sentinel"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.kill)

    def answers() -> bool:
        with redis.Redis(port=own) as client:
            try:
                return bool(client.ping())
            except redis.AuthenticationError:
                return True

    until(answers, "a sentinel")
    return f"redis://127.0.0.1:{own}/0"


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        master, former = RedisServer(), RedisServer()
        replica = RedisServer("--replicaof", f"127.0.0.1 {master.port}")
        for server in (master, former, replica):
            stack.callback(server.stop)
            server.start()
        current = _sentinel(stack, master.port, 7)
        behind = _sentinel(stack, former.port, 6)
        guarded = _sentinel(stack, master.port, 8, "requirepass secret")
        yield Servers(master, replica, former, current, behind, guarded)


def no_master() -> str:
    """Return an address at which no server listens."""
    return f"redis://127.0.0.1:{free_port()}/0"


async def test_the_newest_answer_names_the_master_in_any_order_of_sentinels(
    servers: Servers,
) -> None:
    for urls in ((servers.current, servers.behind), (servers.behind, servers.current)):
        assert await Sentinels(urls, SERVICE).master() == ("127.0.0.1", servers.master.port)


async def test_a_sentinel_that_is_away_does_not_hide_the_answer_of_another(servers: Servers) -> None:
    sentinels = Sentinels((no_master(), servers.guarded, servers.current), SERVICE)
    assert await sentinels.master() == ("127.0.0.1", servers.master.port)
    await sentinels.check()


async def test_without_an_answering_sentinel_the_service_and_the_reason_are_named() -> None:
    with pytest.raises(redis.ConnectionError, match=f"no sentinel names the master of {SERVICE}: .*111"):
        await Sentinels((no_master(), no_master()), SERVICE).master()


async def test_sentinels_that_are_away_may_come_back_so_that_waiting_can_help() -> None:
    await Sentinels((no_master(),), SERVICE).check()


async def test_sentinels_that_do_not_watch_the_service_are_a_wrong_address(servers: Servers) -> None:
    with pytest.raises(ConfigurationError, match="watch no service named another") as caught:
        await Sentinels((servers.current, servers.behind), "another").check()
    assert "sentinel monitor NAME" in (caught.value.hint or "")


async def test_an_authentication_error_of_one_sentinel_is_reported_despite_the_others(
    servers: Servers,
) -> None:
    with pytest.raises(ConfigurationError, match="the sentinels refuse the connection") as caught:
        await Sentinels((servers.current, servers.guarded), "another").check()
    assert "sentinel_password" in (caught.value.hint or "")


class Behind(Sentinels):
    """Sentinels that have not learned of a failover."""

    def __init__(self, port: int) -> None:
        super().__init__((), SERVICE)
        self._port = port

    async def master(self) -> tuple[str, int]:
        return "127.0.0.1", self._port


def connection(sentinels: Sentinels) -> Any:
    """Return a connection, untyped in the library."""
    return MasterConnection(sentinels=sentinels, host="", port=0, protocol=3)


async def test_a_connection_leads_to_the_master(servers: Servers) -> None:
    one = connection(Sentinels((servers.current,), SERVICE))
    await one.connect()
    try:
        assert (one.host, one.port) == ("127.0.0.1", servers.master.port)
        await one.send_command("ROLE")
        assert (await one.read_response())[0] == b"master"
    finally:
        await one.disconnect()


async def test_a_former_master_is_not_connected_to(servers: Servers) -> None:
    one = connection(Behind(servers.replica.port))
    with pytest.raises(
        redis.ConnectionError, match=f"127.0.0.1:{servers.replica.port} is no longer the master"
    ):
        await one.connect()
    assert not one.is_connected
