"""Metrics, as Prometheus reads them."""

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from urllib.request import urlopen

import pytest
import redis
from antiphon_shared.bus.keys import Keys
from antiphon_shared.events import COMPONENTS
from prometheus_client.parser import text_string_to_metric_families

from antiphon import metrics
from antiphon.metrics import exposition
from antiphon.observe import BreakerStatus, ComponentStatus, InboxStatus, PipelineStatus
from antiphon.queued import Waiting
from tests.antiphon.conftest import LIMIT_S, InProcess, clean_environment, until
from tests.redis_server import RedisServer, free_port, running

Samples = dict[str, float]


def samples(text: str) -> Samples:
    """Return `name{label}` of each sample, with its value."""
    return {
        "".join([sample.name, *(f"{{{value}}}" for value in sample.labels.values())]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@contextlib.contextmanager
def serving(environment: dict[str, str]) -> Iterator[str]:
    """Yield the address at which they are served; the program ends with 0 on a signal."""
    port = free_port()
    command = [sys.executable, "-m", "antiphon", "metrics", "--listen", f"127.0.0.1:{port}"]
    with subprocess.Popen(command, env=clean_environment(**environment), stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            assert any(f"http://127.0.0.1:{port}/metrics" in line.decode() for line in process.stderr)
            yield f"http://127.0.0.1:{port}/metrics"
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT_S) == 0
        finally:
            process.kill()


def scraped(address: str) -> Samples:
    with urlopen(address, timeout=LIMIT_S) as reply:
        assert reply.headers["Content-Type"].startswith("text/plain")
        return samples(reply.read().decode())


def test_every_number_of_status_is_a_metric() -> None:
    parts = tuple(
        ComponentStatus(
            component=name,
            inbox=InboxStatus(length=10 + n, in_flight=20 + n, oldest_wait_s=30.5 + n),
            workers_alive=40 + n,
            workers_silent=50 + n,
        )
        for n, name in enumerate(COMPONENTS)
    )
    breakers = (
        BreakerStatus(name="model:a", phase="open", failures=5, calls=9, retry_in_s=3),
        BreakerStatus(name="tool:b", phase="half_open", failures=4, calls=9),
        BreakerStatus(name="tool:c", phase="closed", failures=1, calls=9),
    )
    status = PipelineStatus(
        components=parts,
        queue=InboxStatus(length=60, in_flight=0),
        waiting=Waiting(queries=65),
        rejected=70,
        open_sessions=80,
        dead_letters=90,
        breakers=breakers,
    )
    found = samples(exposition(status))
    for n, name in enumerate(COMPONENTS):
        shown = ("inbox_length", "inbox_in_flight", "inbox_oldest_seconds", "workers_alive", "workers_silent")
        values = [found[f"antiphon_{metric}{{{name}}}"] for metric in shown]
        assert values == [10 + n, 20 + n, 30.5 + n, 40 + n, 50 + n]
    plain = (
        "up",
        "queue_length",
        "queue_oldest_seconds",
        "queries_waiting",
        "rejected",
        "open_sessions",
        "dead_letters",
    )
    assert [found[f"antiphon_{metric}"] for metric in plain] == [1, 60, 0, 65, 70, 80, 90]
    names = [breaker.name for breaker in breakers]
    assert [found[f"antiphon_breaker_phase{{{name}}}"] for name in names] == [2, 1, 0]
    assert [found[f"antiphon_breaker_failures{{{name}}}"] for name in names] == [5, 4, 1]


def test_a_label_may_contain_any_character() -> None:
    name = 'model:a"b\\c'
    status = PipelineStatus(
        components=(),
        queue=InboxStatus(length=0, in_flight=0),
        waiting=Waiting(queries=0),
        rejected=0,
        open_sessions=0,
        dead_letters=0,
        breakers=(BreakerStatus(name=name, phase="open", failures=1, calls=1),),
    )
    assert samples(exposition(status))[f"antiphon_breaker_phase{{{name}}}"] == 2


def test_metrics_are_printed_while_no_component_runs(run: InProcess, empty: dict[str, str]) -> None:
    run("submit", "why?", **empty)
    run("breakers", "open", "tool:search", **empty)
    done = run("metrics", **empty)
    found = samples(done.stdout)
    assert (done.exit_code, found["antiphon_queue_length"]) == (0, 1)
    assert found["antiphon_breaker_by_hand{tool:search}"] == 1
    assert found["antiphon_workers_alive{coordinator}"] == 0


def test_served_metrics_report_an_outage_of_redis() -> None:
    with running() as server, serving({"ANTIPHON_REDIS_URL": server.url}) as address:
        until(lambda: scraped(address)["antiphon_up"] == 1, "a scrape that finds Redis")
        server.kill()
        until(lambda: scraped(address) == {"antiphon_up": 0}, "a scrape that finds no Redis")
        server.start()
        until(lambda: scraped(address)["antiphon_up"] == 1, "a scrape that finds it again")
        assert scraped(address)["antiphon_dead_letters"] == 0


def test_metrics_are_served_before_redis_starts() -> None:
    with running() as server:
        server.kill()
        with serving({"ANTIPHON_REDIS_URL": server.url}) as address:
            assert scraped(address) == {"antiphon_up": 0}
            server.start()
            until(lambda: scraped(address)["antiphon_up"] == 1, "a scrape that finds Redis")


def test_a_scrape_is_answered_while_redis_refuses_the_connection() -> None:
    """It runs by then, with a password that the program does not know."""
    with running("--requirepass", "sesame", login=":sesame") as server:
        server.kill()
        with serving({"ANTIPHON_REDIS_URL": server.url_of("")}) as address:
            server.start()
            assert scraped(address) == {"antiphon_up": 0}


def test_a_key_of_a_wrong_type_is_named_and_is_not_an_outage(run: InProcess, empty: dict[str, str]) -> None:
    client = redis.Redis.from_url(empty["ANTIPHON_REDIS_URL"], protocol=3)
    key = Keys(empty["ANTIPHON_NAMESPACE"]).dead(0)
    with serving(empty) as address:
        assert scraped(address)["antiphon_readable"] == 1
        client.set(key, "foreign")
        until(lambda: scraped(address) == {"antiphon_up": 1, "antiphon_readable": 0}, "a scrape of it")
    shown = run("status", **empty)
    assert (shown.exit_code, f"(XLEN {key})" in shown.stderr) == (3, True)


async def test_an_idle_connection_is_closed_after_the_read_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds a thread of the server."""
    monkeypatch.setattr(metrics, "_READ_TIMEOUT_S", 0.2)

    async def nothing() -> PipelineStatus:
        raise AssertionError("there was no scrape")

    port, stop = metrics.serve("127.0.0.1", 0, nothing)
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(60):
            assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
    finally:
        await asyncio.to_thread(stop)


@pytest.mark.parametrize(
    "listen", ["9464", "localhost:", ":1", "localhost:http", "localhost:99999", "a:٣", "a:-1"]
)
def test_an_invalid_listen_address_is_refused(run: InProcess, empty: dict[str, str], listen: str) -> None:
    assert "HOST:PORT" in run.refused("metrics", "--listen", listen, **empty)


def test_a_port_that_is_taken_is_named(
    run: InProcess, empty: dict[str, str], redis_server: RedisServer
) -> None:
    assert f"Cannot listen on 127.0.0.1:{redis_server.port}: Address already in use. Choose" in run.refused(
        "metrics", "--listen", f"127.0.0.1:{redis_server.port}", **empty
    )
