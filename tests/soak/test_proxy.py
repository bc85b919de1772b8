"""The proxy, with Redis behind it and a client in front."""

import contextlib
import socket
from collections.abc import Iterator

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.redis_server import RedisServer
from tests.soak.proxy import Proxy

VALUE = b"x" * 200_000
LIMIT_S = 60.0


@pytest.fixture
def proxy(redis_server: RedisServer) -> Iterator[Proxy]:
    with Proxy(redis_server.port, seed=1).running() as one:
        yield one


@pytest.fixture
def client(proxy: Proxy) -> Iterator[redis.Redis]:
    one = redis.Redis(port=proxy.port, retry=Retry(NoBackoff(), 0), socket_timeout=LIMIT_S)
    yield one
    one.close()


def test_data_passes_the_proxy_unchanged(client: redis.Redis, namespace: str) -> None:
    client.set(namespace, VALUE)
    assert client.get(namespace) == VALUE


def test_a_connection_is_cut_and_the_next_one_works(client: redis.Redis, proxy: Proxy) -> None:
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=LIMIT_S) as raw:
        raw.sendall(b"PING\r\n")
        assert raw.recv(100) == b"+PONG\r\n"
        proxy.cut(1)
        with contextlib.suppress(ConnectionError):
            assert raw.recv(100) == b""
    client.ping()
    assert proxy.opened == 2


def test_a_torn_connection_ends_in_the_middle_of_a_message(
    client: redis.Redis, proxy: Proxy, redis_server: RedisServer, namespace: str
) -> None:
    client.ping()
    proxy.cut(0.999)
    with pytest.raises(redis.ConnectionError):
        client.set(namespace, VALUE)
    with redis.Redis.from_url(redis_server.url) as direct:
        assert direct.get(namespace) is None


def test_no_query_is_admitted_until_it_accepts_again(client: redis.Redis, proxy: Proxy) -> None:
    client.ping()
    proxy.refuse()
    for _ in range(2):
        with pytest.raises(redis.ConnectionError):
            client.ping()
    proxy.accept()
    client.ping()


def test_a_stall_delays_data_until_its_end(client: redis.Redis, proxy: Proxy) -> None:
    client.ping()
    proxy.delay(600)
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=0.3) as raw:
        raw.sendall(b"PING\r\n")
        with pytest.raises(TimeoutError):
            raw.recv(100)
        raw.settimeout(LIMIT_S)
        proxy.delay(0)
        assert raw.recv(100) == b"+PONG\r\n"
