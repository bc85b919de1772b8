"""TLS to a real Redis that asks for certificates, and the errors for wrong ones."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.errors import ConfigurationError, RedisUnavailable
from antiphon_shared.process.settings import PipelineSettings

from tests.bus.builders import Seen, a_query, eventually, length, until_done, working
from tests.certificates import Authority
from tests.redis_server import RedisServer, free_port, require_tls, running


class TlsServer(NamedTuple):
    """A Redis with TLS, and the files of its authorized clients."""

    plain: RedisServer
    port: int
    folder: Path
    ca: Path
    certificate: Path
    key: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    require_tls()
    folder = tmp_path_factory.mktemp("certificates")
    authority = Authority(folder)
    certificate, port = authority.issue("server"), free_port()
    options = ["--tls-cert-file", str(certificate[0]), "--tls-key-file", str(certificate[1])]
    with running("--tls-port", str(port), *options, "--tls-ca-cert-file", str(authority.file)) as plain:
        yield TlsServer(plain, port, folder, authority.file, *authority.issue("client"))


def bus_of(server: TlsServer, url: str = "", **changed: str | Path) -> Bus:
    files = {"redis_tls_ca": server.ca, "redis_tls_cert": server.certificate, "redis_tls_key": server.key}
    given = {name: str(file) for name, file in {**files, **changed}.items()}
    url = url or f"rediss://127.0.0.1:{server.port}/0"
    return Bus.from_settings(PipelineSettings.model_validate({"redis_url": url, **given}))


async def refused(bus: Bus) -> str:
    """Return the reason why a bus does not open, instead of waiting."""
    with pytest.raises(ConfigurationError) as error:
        await bus.open(20)
    await bus.close()
    return str(error.value)


async def test_messages_travel_over_tls_with_certificates(server: TlsServer) -> None:
    bus, seen = bus_of(server), Seen()
    await bus.open(20)
    async with working(bus, {type(a_query().data): seen}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: seen.queries == ["Why?"])
        await until_done(bus)
    clients: bytes = await bus.client.execute_command("CLIENT", "LIST")
    assert await length(bus, Keys().log("s1")) == 1
    assert b"laddr=127.0.0.1:%d" % server.port in bytes(clients)
    await bus.close()


async def test_an_authority_that_did_not_sign_is_named_as_the_fault(
    server: TlsServer, tmp_path: Path
) -> None:
    other = Authority(tmp_path, "other")
    for ca in (other.file, ""):
        assert "ANTIPHON_REDIS_TLS_CA" in await refused(bus_of(server, redis_tls_ca=ca))


async def test_a_certificate_for_another_host_is_refused(server: TlsServer) -> None:
    url = f"rediss://localhost:{server.port}/0"
    message = await refused(bus_of(server, url))
    assert "ANTIPHON_REDIS_URL" in message
    assert ".." not in message


async def test_tls_and_no_tls_do_not_understand_each_other(server: TlsServer) -> None:
    plain = bus_of(server, f"rediss://127.0.0.1:{server.plain.port}/0")
    with pytest.raises((ConfigurationError, RedisUnavailable)):
        await plain.open(3)
    await plain.close()
    without = bus_of(
        server, f"redis://127.0.0.1:{server.port}/0", redis_tls_ca="", redis_tls_cert="", redis_tls_key=""
    )
    with pytest.raises(RedisUnavailable, match="Cannot connect to Redis"):
        await without.open(1)
    await without.close()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"redis_tls_ca": "missing.pem"}, "ANTIPHON_REDIS_TLS_CA: missing.pem: no such file"),
        ({"redis_tls_ca": "junk"}, "ANTIPHON_REDIS_TLS_CA"),
        ({"redis_tls_cert": "missing.pem"}, "ANTIPHON_REDIS_TLS_CERT"),
        ({"redis_tls_key": ""}, "ANTIPHON_REDIS_TLS_KEY: missing"),
        ({"redis_tls_cert": ""}, "ANTIPHON_REDIS_TLS_CERT: missing"),
        ({"redis_tls_key": "another key"}, "key values mismatch"),
        ({"url": "redis://localhost:6379/0"}, "rediss://"),
    ],
)
def test_files_that_do_not_go_together_are_refused_before_anything_is_sent(
    server: TlsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "junk").write_text("no certificate")
    Authority(tmp_path, "other").issue("another")[1].rename(tmp_path / "another key")
    with pytest.raises(ConfigurationError, match=message):
        bus_of(server, **changed)


async def test_a_client_certificate_of_a_foreign_authority_is_refused(
    server: TlsServer, tmp_path: Path
) -> None:
    certificate, key = Authority(tmp_path, "other").issue("foreign")
    bus = bus_of(server, redis_tls_cert=certificate, redis_tls_key=key)
    with pytest.raises((ConfigurationError, RedisUnavailable)):
        await bus.open(3)
    await asyncio.wait_for(bus.close(), 60)
