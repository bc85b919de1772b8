"""Clients for Redis: a plain server, a server behind sentinels, a cluster, or fakeredis inside the process.

The library's automatic retries are off, as a repeated read loses entries, and a repeated command may be applied
twice. Callers retry only commands that are safe to repeat.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, TypeVar

import structlog
from redis.asyncio import Redis, RedisCluster
from redis.asyncio.connection import SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.driver_info import DriverInfo
from redis.exceptions import (
    AskError,
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,
    InvalidResponse,
    MasterDownError,
    MovedError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    SlotNotCoveredError,
    TimeoutError,
    TryAgainError,
)

from antiphon_shared.bus import address, tls
from antiphon_shared.bus.sentinels import MasterConnection, MasterSSLConnection, Sentinels
from antiphon_shared.bus.unavailable import reason_of, unavailable
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import ConfigurationError, RedisUnavailable
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secrets_in

BLOCK_S = 1.0
"""The longest time that a read waits for entries, in seconds."""
SOCKET_TIMEOUT_S = 10.0
_CONNECT_TIMEOUT_S = 5.0
_LAYOUT_AGE_S = 0.2
_LAYOUT_LIMIT_S = 2.0
_BACKOFF_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.0)

UNAVAILABLE = (
    ConnectionError,
    TimeoutError,
    BusyLoadingError,
    ReadOnlyError,
    MasterDownError,
    ClusterDownError,
    TryAgainError,
    AskError,
    MovedError,
    OutOfMemoryError,
    SlotNotCoveredError,
)
"""Errors while Redis restarts, fails over or is unreachable, after which a retry may help."""

_UNAVAILABLE_WORDS = ("MISCONF", "NOREPLICAS", "BUSY ", "UNBLOCKED")
"""The beginnings of such errors for which the library has no class."""

T = TypeVar("T")
Client = Any
"""A Redis, RedisCluster or fakeredis client. Commands are sent by name, as the type stubs of these differ."""


class Connections:
    """The clients of one process, from their creation to their end."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.main: Client = None
        self.is_fake = False
        self.failure = ""
        """Why the last attempt to connect failed."""
        self._dedicated: list[Client] = []
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self._sentinels: Sentinels | None = None
        self._server = url
        """The address of the server or cluster node that replied."""
        self._learning: asyncio.Task[None] | None = None
        self._learned_s = 0.0

    @classmethod
    def to_fake(cls, client: Client) -> "Connections":
        """Return connections that all use one fakeredis client, inside this process."""
        connections = cls("fake://")
        connections.main, connections.is_fake = client, True
        return connections

    async def open(self) -> None:
        """Connect, retrying with backoff. Raises ConfigurationError when a retry cannot help."""
        if not self.is_fake:
            self.main = await retry_while_unavailable("connect", self._attempt)

    async def dedicated(self, key: str) -> Client:
        """Return a client with its own connection to the server that holds `key`, for blocking reads."""
        if self.is_fake:
            return self.main
        if self.is_cluster:
            await self.learn_layout()
            node = self.main.get_node_from_key(key)
            if node is None:
                raise ConnectionError(f"no cluster node holds {key}")
            client = self.client_of_node(node.host, int(node.port))
        else:
            client = self._client()
        self._dedicated.append(client)
        return client

    @property
    def is_cluster(self) -> bool:
        return isinstance(self.main, RedisCluster)

    def client_of_node(self, host: str, port: int) -> Client:
        """Return a client of one node of the cluster, not yet connected."""
        client = self._client()
        # As arguments of from_url, these would be overridden by the address in the URL.
        client.connection_pool.connection_kwargs.update(host=host, port=port)
        return client

    async def learn_layout(self, failed_node: str | None = None) -> None:
        """Read the cluster's layout, unless it was just read; wait for it up to a limit."""
        if self._learning is None and monotonic_s() - self._learned_s < _LAYOUT_AGE_S:
            return
        if self._learning is None:
            self._learning = asyncio.create_task(self._learn(failed_node))
        await asyncio.wait((self._learning,), timeout=_LAYOUT_LIMIT_S)

    async def _learn(self, failed_node: str | None) -> None:
        try:
            await self.main.nodes_manager.initialize(last_failed_node_name=failed_node)
        except (RedisError, RedisClusterException, OSError, IndexError) as error:
            structlog.get_logger().debug("cluster_layout_unreadable", error=str(error))
        finally:
            self._learned_s, self._learning = monotonic_s(), None

    async def release(self, client: Client) -> None:
        """Close a dedicated client."""
        if client in self._dedicated:
            self._dedicated.remove(client)
            try:
                await client.aclose()
            except asyncio.CancelledError:
                self._dedicated.append(client)  # `close` closes it
                raise

    def on_close(self, closer: Callable[[], Awaitable[None]]) -> None:
        """Call `closer` when the connections are closed."""
        self._closers.append(closer)

    async def close(self) -> None:
        for closer in self._closers:
            await closer()
        self._closers.clear()
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.gather(self._learning, return_exceptions=True)
        for client in [*self._dedicated, self.main]:
            if client is not None:
                await client.aclose()
        self._dedicated.clear()

    @property
    def unavailable(self) -> RedisUnavailable:
        """Return the error that names the address of Redis and the reason of the failure."""
        return RedisUnavailable(
            f"Cannot connect to Redis at {address.hide_credentials(self.url)}: {self.failure or 'no answer in time'}.",
            hint="Start Redis, or set ANTIPHON_REDIS_URL.",
        )

    async def _attempt(self) -> Client:
        try:
            return await self._connect()
        except (*UNAVAILABLE, RedisClusterException) as error:
            self.failure = reason_of(error)
            raise

    async def _connect(self) -> Client:
        server_address = address.parse(self.url)
        if server_address.sentinels:
            self._sentinels = Sentinels(server_address.sentinels, server_address.service)
            await self._sentinels.check()
        for n, self._server in enumerate(server_address.servers, 1):
            try:
                client, is_cluster = await self._connect_to_server()
                break
            except (ConnectionError, TimeoutError, BusyLoadingError):
                if n == len(server_address.servers):
                    raise
        if not is_cluster and len(server_address.servers) == 1:
            return client
        await client.aclose()
        if not is_cluster:
            raise ConfigurationError(
                "ANTIPHON_REDIS_URL names several servers, but they are not a cluster.",
                hint="For a server with replicas, name its sentinels: redis+sentinel://HOST:PORT/SERVICE.",
            )
        clustered: Client = RedisCluster.from_url(
            self._server,
            # A part of the cluster may work while another is down, if the cluster's own setting allows it.
            require_full_coverage=False,
            **_options(),
        )
        try:
            await clustered.initialize()
        except BaseException as error:
            await clustered.aclose()
            if isinstance(error, IndexError):  # the library's error for it
                raise ConnectionError("no node of the cluster holds a slot yet") from None
            raise
        return clustered

    async def _connect_to_server(self) -> tuple[Client, bool]:
        """Return a client of the server after its first reply, and whether the server is a node of a cluster."""
        client = self._client()
        try:
            await client.ping()
            cluster = await client.execute_command("INFO", "cluster")
        except (AuthenticationError, AuthorizationError, ResponseError, InvalidResponse) as error:
            await client.aclose()
            if is_unavailable(error) and not isinstance(error, AuthenticationError | AuthorizationError):
                raise
            raise ConfigurationError(
                # A server that does not know AUTH quotes the command with the password.
                f"Redis refuses the connection: {Redactor(secrets_in(self.url)).text(str(error)).rstrip('.')}.",
                hint="Check ANTIPHON_REDIS_URL.",
            ) from None
        except ConnectionError as error:
            await client.aclose()
            raise tls.refusal(error) or error from None
        except BaseException:
            await client.aclose()
            raise
        return client, bool(int(cluster.get("cluster_enabled", 0)))

    def _client(self) -> Client:
        client = Redis.from_url(self._server, **_options())
        if self._sentinels is not None:
            pool = client.connection_pool
            is_tls = issubclass(pool.connection_class, SSLConnection)
            pool.connection_class = MasterSSLConnection if is_tls else MasterConnection
            pool.connection_kwargs["sentinels"] = self._sentinels
        return client


async def retry_while_unavailable(
    what: str, attempt: Callable[[], Awaitable[T]], limit_s: float | None = None
) -> T:
    """Return the result of `attempt`, retried while Redis is unavailable. Raises RedisUnavailable after `limit_s`.

    Args:
        what: the operation, for the log.
        attempt: the operation; it must be safe to repeat.
        limit_s: the longest total delay in seconds; None: no limit.
    """
    waited_s, n = 0.0, 0
    while True:
        try:
            return await attempt()
        except (RedisError, RedisClusterException) as error:
            if not is_unavailable(error):
                raise
            delay_s = _BACKOFF_S[min(n, len(_BACKOFF_S) - 1)]
            if limit_s is not None and waited_s + delay_s > limit_s:
                raise unavailable(error) from None
            if n in (0, 5) or n % 30 == 0:
                structlog.get_logger().warning("redis_unavailable", doing=what, error=str(error), tries=n + 1)
        await asyncio.sleep(delay_s)
        waited_s, n = waited_s + delay_s, n + 1


def is_unavailable(error: BaseException) -> bool:
    """Return whether `error` means that Redis is unavailable for the moment, so that a retry may help."""
    if type(error) is RedisClusterException:
        return True  # the cluster cannot be reached; subclasses report mistakes of the caller
    return isinstance(error, UNAVAILABLE) or (
        isinstance(error, ResponseError) and str(error).startswith(_UNAVAILABLE_WORDS)
    )


def _options() -> dict[str, Any]:
    timeouts = {"socket_timeout": SOCKET_TIMEOUT_S, "socket_connect_timeout": _CONNECT_TIMEOUT_S}
    own = {"retry": Retry(NoBackoff(), 0), "driver_info": _driver()}
    return {"protocol": 3, "legacy_responses": False, **own, **timeouts}


_driver = cache(DriverInfo)
"""Return the library's name and version for Redis, cached, as the library would read its metadata each time."""
