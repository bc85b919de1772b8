"""The password of Redis gets into no error, no event and no dead letter, after any failure."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.dead_letters import DeadLetters
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ComponentFailed, QuerySubmitted
from antiphon_shared.process.errors import AntiphonError, ConfigurationError, ErrorInfo, UnreadableEvent
from antiphon_shared.process.settings import BusSettings, PipelineSettings
from antiphon_shared.redaction.redactor import REDACTED, Redactor
from pydantic import SecretStr

from tests.bus.builders import Seen, a_query, eventually, raising, working

PASSWORD = "open-sesame"


@pytest.mark.parametrize(
    "url",
    [
        "redis://:open/sesame@host:6379",
        "redis://:open#sesame@host:6379",
        "redis://:open?sesame@host:6379/x",
        "redis://:sesame[open@host",
        "redis://:open℀sesame@host",
        "redis://:open@host:sesame",
        "open:sesame@host",
        "http://:opensesame@host",
        "redis://host?db=sesame&socket_timeout=sesame",
    ],
)
async def test_an_address_that_cannot_be_read_is_not_quoted(url: str) -> None:
    with pytest.raises(AntiphonError) as raised:
        async with asyncio.timeout(60):
            await Connections(url).open()
    assert "sesame" not in str(raised.value)
    assert "ANTIPHON_REDIS_URL" in str(raised.value)


@asynccontextmanager
async def a_server(answer: bytes) -> AsyncIterator[str]:
    """Yield the address of a server that answers every command the same."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65_536):
            writer.write(answer)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield f"redis://:{PASSWORD}@127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    "answer",
    [
        b"-ERR unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' 'open-sesame'\r\n",
        b"-ERR unknown command `AUTH`, with args beginning with: `open-sesame`, \r\n",
    ],
)
async def test_a_server_that_quotes_the_password_is_not_quoted(answer: bytes) -> None:
    async with a_server(answer) as url:
        with pytest.raises(
            ConfigurationError, match=r"Redis refuses the connection: .*unknown command"
        ) as raised:
            await Connections(url).open()
    assert PASSWORD not in str(raised.value)


@pytest.mark.parametrize("command", [["-m", "coordinator"], ["-m", "antiphon", "sessions", "list"]])
async def test_a_process_that_cannot_use_its_redis_does_not_print_the_password(command: list[str]) -> None:
    async with a_server(b"-ERR unknown command 'HELLO', with args: 'AUTH' 'open-sesame'\r\n") as url:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *command,
            env={**environment(), "ANTIPHON_REDIS_URL": url},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with asyncio.timeout(60):
            output, _ = await process.communicate()
    assert process.returncode == 2
    assert b"Redis refuses the connection" in output
    assert PASSWORD.encode() not in output


def environment() -> dict[str, str]:
    """Return this process's environment, without settings, and with our packages importable."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ANTIPHON")}
    return {**inherited, "PYTHONPATH": str(Path(__file__).parents[2])}


@pytest.mark.parametrize(
    "error",
    [
        ValueError(f"cannot reach redis://:{PASSWORD}@host"),
        UnreadableEvent(f"redis://user:{PASSWORD}@host:6379/0"),
    ],
)
def test_the_address_of_redis_gets_into_no_event(error: Exception) -> None:
    """Processes that do not know the password, such as a client's, are included."""
    message = ErrorInfo.of(error).message
    assert PASSWORD not in message
    assert f"{REDACTED}@host" in message


def test_a_bus_knows_the_secrets_of_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-of-anthropic")
    settings = PipelineSettings(redis_url=SecretStr(f"redis://:{PASSWORD}@host"))
    bus = Bus.from_settings(settings, BusSettings())
    error = ValueError(f"AUTH {PASSWORD} and a-key-of-anthropic failed")
    assert ErrorInfo.of(error, bus.redactor).message == f"ValueError: AUTH {REDACTED} and {REDACTED} failed"


async def test_no_secret_of_a_failed_handler_reaches_its_session_or_a_dead_letter(bus: Bus) -> None:
    bus.redactor = Redactor([PASSWORD])
    on_failed = Seen()
    failing = raising(RuntimeError(f"Redis answered: unknown command AUTH {PASSWORD}"))
    async with working(bus, {QuerySubmitted: failing, ComponentFailed: on_failed}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_failed.deliveries) == 1)
    ((_, letter),) = await DeadLetters(bus).list()
    for error in (on_failed.failures()[0].error, letter.error):
        assert error.message == f"RuntimeError: Redis answered: unknown command AUTH {REDACTED}"
