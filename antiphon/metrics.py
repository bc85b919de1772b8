"""The data of `antiphon status`, as metrics in Prometheus's text format."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import structlog
from antiphon_shared.breakers.breaker import Phase
from antiphon_shared.bus.connection import is_unavailable
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import AntiphonError
from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from redis.exceptions import RedisError, ResponseError

from antiphon.observe import BreakerStatus, ComponentStatus, PipelineStatus

Read = Callable[[], Awaitable[PipelineStatus]]

PHASES: dict[Phase, int] = {"closed": 0, "half_open": 1, "open": 2}
_READ_TIMEOUT_S = 5.0
_UP = "1 if Redis answers, else 0."
_READABLE = "1 if the state of the pipeline can be read; 0 if a key has a wrong type, which stderr names."
_FRESH_S = 1.0
"""The time between two reads of Redis, independent of the number of scrapers."""


def exposition(status: PipelineStatus) -> str:
    """Return the text of all metrics."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Fixed(status))
    return generate_latest(registry).decode()


def serve(host: str, port: int, read: Read) -> tuple[int, Callable[[], None]]:
    """Answer scrapes in a thread, with the result of `read`, which runs on the present event loop.

    Returns the port, and a function that stops the server. Raises OSError when the address is not available.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Live(read, asyncio.get_running_loop()))
    server, thread = start_http_server(port, host, registry)
    # Without a timeout, the library waits for ever for a client that sends nothing, in a thread for each.
    handler: Any = server.RequestHandlerClass
    server.RequestHandlerClass = type("Handler", (handler,), {"timeout": _READ_TIMEOUT_S})

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return server.server_port, stop


class _Fixed(Collector):
    """A collector of one status."""

    def __init__(self, status: PipelineStatus) -> None:
        self._status = status

    def collect(self) -> Iterator[GaugeMetricFamily]:
        return families(self._status)


class _Live(Collector):
    """A collector that reads the status on the event loop; the threads of the server call it."""

    def __init__(self, read: Read, loop: asyncio.AbstractEventLoop) -> None:
        self._read, self._loop = read, loop
        self._turn = asyncio.Lock()
        self._latest: tuple[float, PipelineStatus] | None = None
        self._reported = ""
        """The reason that was logged last."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        try:
            status = asyncio.run_coroutine_threadsafe(self._status(), self._loop).result(_READ_TIMEOUT_S + 1)
        except (RedisError, AntiphonError, OSError) as error:  # TimeoutError is one
            is_up = isinstance(error, ResponseError) and not is_unavailable(error)
            yield _gauge("up", _UP, int(is_up))
            if is_up:
                yield _gauge("readable", _READABLE, 0)
                self._report(str(error))
            return
        self._reported = ""
        yield from families(status)

    def _report(self, why: str) -> None:
        """Log why the state cannot be read, once for each reason."""
        if why != self._reported:
            self._reported = why
            structlog.get_logger().error("status_unreadable", reason=why)

    async def _status(self) -> PipelineStatus:
        async with asyncio.timeout(_READ_TIMEOUT_S), self._turn:
            now = monotonic_s()
            if self._latest is None or now - self._latest[0] >= _FRESH_S:
                self._latest = (now, await self._read())
            return self._latest[1]


def families(status: PipelineStatus) -> Iterator[GaugeMetricFamily]:
    """Yield every metric. A breaker without a metric is closed and has not failed lately."""
    yield _gauge("up", _UP, 1)
    yield _gauge("readable", _READABLE, 1)
    for name, description, value in _COMPONENT_METRICS:
        yield _labelled(
            name, description, "component", {one.component: value(one) for one in status.components}
        )
    for name, description, reading in _PIPELINE_METRICS:
        yield _gauge(name, description, reading(status))
    for name, description, measure in _BREAKER_METRICS:
        yield _labelled(name, description, "breaker", {one.name: measure(one) for one in status.breakers})


_COMPONENT_METRICS: tuple[tuple[str, str, Callable[[ComponentStatus], float]], ...] = (
    ("inbox_length", "Messages in a component's inbox.", lambda one: one.inbox.length),
    (
        "inbox_in_flight",
        "Messages in a component's inbox that are delivered to a worker and unfinished.",
        lambda one: one.inbox.in_flight,
    ),
    (
        "inbox_oldest_seconds",
        "Age of the oldest message in a component's inbox.",
        lambda one: one.inbox.oldest_wait_s or 0.0,
    ),
    ("workers_alive", "Workers with a recent heartbeat.", lambda one: one.workers_alive),
    ("workers_silent", "Workers without a recent heartbeat.", lambda one: one.workers_silent),
)
_PIPELINE_METRICS: tuple[tuple[str, str, Callable[[PipelineStatus], float]], ...] = (
    (
        "queue_length",
        "Queries in the queue that no coordinator has read yet.",
        lambda status: status.queue.length,
    ),
    (
        "queue_oldest_seconds",
        "Age of the oldest query in the queue.",
        lambda status: status.queue.oldest_wait_s or 0.0,
    ),
    ("rejected", "Rejected submissions.", lambda status: status.rejected),
    ("queries_waiting", "Queries that wait for capacity.", lambda status: status.waiting.queries),
    ("open_sessions", "Sessions that have not ended.", lambda status: status.open_sessions),
    ("dead_letters", "Messages set aside after their last delivery.", lambda status: status.dead_letters),
)
_BREAKER_METRICS: tuple[tuple[str, str, Callable[[BreakerStatus], float]], ...] = (
    ("breaker_phase", "0 closed, 1 half-open, 2 open.", lambda one: PHASES[one.phase]),
    ("breaker_failures", "Failed calls in the breaker's window.", lambda one: one.failures),
    ("breaker_by_hand", "1 if a person opened the breaker.", lambda one: int(one.held is not None)),
)


def _gauge(name: str, description: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"antiphon_{name}", description, value=value)


def _labelled(name: str, description: str, label: str, values: dict[str, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"antiphon_{name}", description, labels=[label])
    for label_value, value in values.items():
        family.add_metric([label_value], value)
    return family
