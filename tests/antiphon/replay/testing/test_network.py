"""The guard that denies tests any connection to other machines."""

import asyncio
import socket

import pytest

from antiphon.replay.testing.network import NetworkDenied, denied

_ELSEWHERE = "192.0.2.1"
"""An address that is never assigned: RFC 5737."""


def test_addresses_names_and_datagrams_of_elsewhere_are_denied_and_noted() -> None:
    with denied() as attempts:
        with socket.socket() as stream, pytest.raises(NetworkDenied):
            stream.connect((_ELSEWHERE, 80))
        with socket.socket() as stream, pytest.raises(NetworkDenied):
            stream.connect_ex((_ELSEWHERE, 80))
        with socket.socket(type=socket.SOCK_DGRAM) as datagrams, pytest.raises(NetworkDenied):
            datagrams.sendto(b"x", (_ELSEWHERE, 53))
        with pytest.raises(NetworkDenied):
            socket.getaddrinfo("example.invalid", 80)
        with socket.socket(socket.AF_INET6) as stream, pytest.raises(NetworkDenied):
            stream.connect(("2001:db8::1", 80))
    assert attempts == [_ELSEWHERE] * 3 + ["example.invalid", "2001:db8::1"]


@pytest.mark.parametrize("host", [_ELSEWHERE, "example.invalid"])
async def test_asyncio_connections_are_denied_too(host: str) -> None:
    with denied(), pytest.raises(NetworkDenied):
        await asyncio.open_connection(host, 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_is_within_reach(host: str) -> None:
    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    with denied() as attempts:
        async with await asyncio.start_server(close, host, 0, family=socket.AF_INET) as server:
            _, writer = await asyncio.open_connection(host, server.sockets[0].getsockname()[1])
            writer.close()
            await writer.wait_closed()
    assert attempts == []


def test_everything_is_restored_after_the_block() -> None:
    before = vars(socket.socket).copy(), socket.getaddrinfo
    with pytest.raises(LookupError), denied():
        raise LookupError
    assert (vars(socket.socket).copy(), socket.getaddrinfo) == before
