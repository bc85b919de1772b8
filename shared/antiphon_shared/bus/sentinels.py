"""Redis behind sentinels; every new connection asks them for the current master."""

import asyncio
from typing import Any, NamedTuple

from redis.asyncio import Redis
from redis.asyncio.connection import Connection, SSLConnection
from redis.exceptions import (
    AuthenticationError,
    ConnectionError,
    NoPermissionError,
    RedisError,
    ResponseError,
)

from antiphon_shared.process.errors import ConfigurationError

_REPLY_TIMEOUT_S = 1.0
"""The time that a sentinel has to reply; all are asked at the same time."""


class _Master(NamedTuple):
    epoch: int
    """The number of failovers; the answer with the highest number is the newest."""
    host: str
    port: int


class Sentinels:
    """The sentinels that watch one service."""

    def __init__(self, urls: tuple[str, ...], service: str) -> None:
        self._urls, self._service = urls, service

    async def master(self) -> tuple[str, int]:
        """Return host and port of the master, by the newest answer. Raises ConnectionError without an answer."""
        answers = await self._ask()
        if masters := [answer for answer in answers if isinstance(answer, _Master)]:
            newest = max(masters)
            return newest.host, newest.port
        raise ConnectionError(f"no sentinel names the master of {self._service}: {answers[0]}")

    async def check(self) -> None:
        """Raise ConfigurationError when the sentinels' answers show that a retry cannot help."""
        answers = await self._ask()
        refusals = [answer for answer in answers if isinstance(answer, ResponseError | AuthenticationError)]
        if not refusals or any(isinstance(answer, _Master) for answer in answers):
            return
        if any(isinstance(refusal, AuthenticationError | NoPermissionError) for refusal in refusals):
            raise ConfigurationError(
                "ANTIPHON_REDIS_URL: the sentinels refuse the connection.",
                hint="Set their credentials with the parameters sentinel_username and sentinel_password.",
            )
        if all("No such master" in str(refusal) for refusal in refusals):
            raise ConfigurationError(
                f"ANTIPHON_REDIS_URL: the sentinels watch no service named {self._service}.",
                hint="Use the name in their configuration line `sentinel monitor NAME HOST PORT QUORUM`.",
            )

    async def _ask(self) -> list[_Master | Exception]:
        return await asyncio.gather(*map(self._answer, self._urls))

    async def _answer(self, url: str) -> _Master | Exception:
        client = Redis.from_url(
            url,
            protocol=3,
            legacy_responses=False,
            socket_timeout=_REPLY_TIMEOUT_S,
            socket_connect_timeout=_REPLY_TIMEOUT_S,
            retry=None,
        )
        command: Any = client.execute_command
        try:
            async with asyncio.timeout(2 * _REPLY_TIMEOUT_S):
                reply = await command("SENTINEL", "MASTER", self._service)
            return _Master(int(reply[b"config-epoch"]), reply[b"ip"].decode(), int(reply[b"port"]))
        except (RedisError, OSError, LookupError, ValueError, TypeError) as error:
            return error
        finally:
            await client.aclose()


class _MasterFollower:
    """A mixin for connections to the current master."""

    host: str
    port: int

    def __init__(self, *, sentinels: Sentinels, **options: Any) -> None:
        self._sentinels = sentinels
        super().__init__(**options)

    async def _connect(self) -> None:
        self.host, self.port = await self._sentinels.master()
        await super()._connect()  # type: ignore[misc]  # the mixed-in connection has the method

    async def on_connect_check_health(self, check_health: bool = True) -> None:
        connection: Any = self
        await super().on_connect_check_health(check_health)  # type: ignore[misc]  # as above
        # Outdated sentinels may name a server that has been demoted.
        await connection.send_command("ROLE", check_health=False)
        role = await connection.read_response()
        if role[0] != b"master":
            raise ConnectionError(f"the server at {self.host}:{self.port} is no longer the master")


class MasterConnection(_MasterFollower, Connection):
    """A connection to the master of a service."""


class MasterSSLConnection(_MasterFollower, SSLConnection):
    """A connection to the master of a service, with TLS."""
