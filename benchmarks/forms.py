"""Throughput, latency, CPU and memory of the pipeline, as five processes and as one, with the floor and LangGraph.

Run alone: `python -m benchmarks forms growth memory retention`.
"""

import contextlib
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks import floor, langgraph_peer
from benchmarks.noop_tools import RESULT
from benchmarks.pipeline import MODULES, ONE_PROCESS, Pipeline, pipeline
from benchmarks.stub_engine import REPLY
from tests.redis_server import running

IN_FLIGHT = 500

Row = tuple[str, str, str, str]
"""The measure, the figure, the comparison, the target."""


def speed(sessions: int, runs: int, peer_sessions: int) -> list[Row]:
    """Measure five processes and one, in turns."""
    with warm() as measured, warm(ONE_PROCESS) as in_one:
        rows = _speed(Samples(measured), Samples(in_one), sessions, runs, peer_sessions)
        return [*rows, ("one process: memory", f"{in_one.memory_mb()['antiphon']:.0f} MB", "", "")]


@contextlib.contextmanager
def warm(modules: Mapping[str, str] = MODULES) -> Iterator[Pipeline]:
    """Start a pipeline and run sessions until its caches are filled."""
    with pipeline(modules=modules) as started:
        started.start()
        started.run(300)
        yield started


@dataclass
class Samples:
    """The results of the runs of one pipeline."""

    measured: Pipeline
    rates: list[float] = field(default_factory=list)
    """Sessions per second, by run."""
    idle_ms: list[float] = field(default_factory=list)
    costs: list[dict[str, float]] = field(default_factory=list)
    """CPU seconds of a session, by process, by run."""

    def take(self, sessions: int) -> None:
        before = self.measured.on_cpu_s()
        self.rates.append(sessions / self.measured.run(sessions))
        after = self.measured.on_cpu_s()
        self.costs.append({name: (cpu_s - before[name]) / sessions for name, cpu_s in after.items()})
        self.idle_ms += [self.measured.latency_s() * 1000 for _ in range(100)]

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    def rows(
        self, form: str, floor_rates: list[float], floor_idle: float, targets: tuple[str, str]
    ) -> list[Row]:
        """Return the rows of this form of the pipeline; the floor's runs are paired with its own."""
        ratio = statistics.median(a / b for a, b in zip(self.rates, floor_rates, strict=True))
        idle = statistics.median(self.idle_ms)
        rates = f"floor {statistics.median(floor_rates):.0f}: {ratio:.2f}"
        return [
            (f"{form}: sessions per second", f"{self.rate:.0f}", rates, targets[0]),
            (
                f"{form}: one idle session",
                f"{idle:.1f} ms",
                f"floor {floor_idle:.1f} ms: {idle / floor_idle:.2f}",
                targets[1],
            ),
            (f"{form}: CPU per session", f"{self.cost_s * 1e6:.0f} us", _costs(self.costs), ""),
        ]

    @property
    def cost_s(self) -> float:
        return statistics.median(sum(cost.values()) for cost in self.costs)


def _speed(five: Samples, one: Samples, sessions: int, runs: int, peer_sessions: int) -> list[Row]:
    """Measure throughput, latency and CPU of both forms; pair each run with one of the floor and of the peers."""
    hops = five.measured.hops()
    floor_rates, floor_idle_ms = [], []
    peers: dict[Peer, list[langgraph_peer.Measured]] = {peer: [] for peer in PEERS if peer_sessions}
    for n in range(runs):
        for samples in (five, one) if n % 2 == 0 else (one, five):
            samples.take(sessions)
        with running() as server:
            floor_rates.append(floor.measure(server.port, hops, sessions, IN_FLIGHT))
        with running() as server:
            floor_idle_ms.append(1000 / floor.measure(server.port, hops, 200, in_flight=1))
        for (checkpointer, processes), found in peers.items():
            found.append(langgraph_peer.measure(peer_sessions, processes, REPLY, RESULT, checkpointer))
    floor_idle = statistics.median(floor_idle_ms)
    ratio = statistics.median(
        sum(a.values()) / sum(b.values()) for a, b in zip(one.costs, five.costs, strict=True)
    )
    return [
        ("messages of a session", f"{len(hops)}", f"{sum(hop.size_bytes for hop in hops)} bytes", ""),
        *five.rows("five processes", floor_rates, floor_idle, (">= 0.28 of the floor", "<= 2.4 floors")),
        *one.rows("one process", floor_rates, floor_idle, (">= 0.35 of the floor", "<= 1.6 floors")),
        ("one process: CPU over that of five", f"{ratio:.2f}", "", "<= 0.91"),
        *(row for peer, found in peers.items() for row in _peer_rows(peer, found, five, one)),
    ]


Peer = tuple[langgraph_peer.Checkpointer, int]
"""The checkpointer and the number of processes."""

PEERS: dict[Peer, tuple[str, str]] = {
    ("SQLite", 1): (">= 3", ""),
    ("SQLite", 2): (">= 2", ""),
    ("memory", 1): ("", "< 1"),
}
"""The targets of each peer's two rows."""


def _peer_rows(peer: Peer, found: list[langgraph_peer.Measured], five: Samples, one: Samples) -> list[Row]:
    checkpointer, processes = peer
    name = f"LangGraph, {checkpointer}, processes: {processes}"
    rate = statistics.median(measured.rate for measured in found)
    cost_s = statistics.median(measured.cpu_s for measured in found)
    return [
        (
            f"{name}: sessions per second",
            f"{rate:.0f}",
            f"{five.rate / rate:.1f} times as fast; {one.rate / rate:.1f} in one process",
            PEERS[peer][0],
        ),
        (
            f"{name}: CPU per session",
            f"{cost_s * 1e6:.0f} us",
            f"we: {five.cost_s / cost_s:.2f} of it; {one.cost_s / cost_s:.2f} in one process, with Redis",
            PEERS[peer][1],
        ),
    ]


def growth() -> list[Row]:
    """Measure the bytes that a session leaves in Redis, over its rounds."""
    with warm() as measured:
        sizes = {rounds: _bytes_of_session(measured, rounds) for rounds in (5, 10, 20, 40)}
    early = (sizes[10] - sizes[5]) / 5
    late = (sizes[40] - sizes[20]) / 20
    text = ", ".join(f"{rounds}: {size / 1000:.0f} kB" for rounds, size in sizes.items())
    return [
        ("bytes per round, late over early", f"{late / early:.2f}", text, "<= 1.05; 40 rounds: <= 450 kB")
    ]


def _bytes_of_session(measured: Pipeline, rounds: int) -> int:
    measured.run(1, f"rounds={rounds}", max_rounds=rounds + 1, max_tool_calls=1000, max_tokens=10_000_000)
    return measured.session_bytes(measured.newest_session())


def memory(sessions: int) -> list[Row]:
    """Measure resident memory after a quarter of the sessions, and after all."""
    with warm() as measured:
        measured.run(sessions // 4)
        early = measured.memory_mb()
        measured.run(sessions - sessions // 4)
        late = measured.memory_mb()
    largest = max(late, key=lambda name: late[name])
    grown = max(late, key=lambda name: late[name] - early[name])
    return [
        ("largest process", f"{late[largest]:.0f} MB", largest, "< 90 MB"),
        (
            f"growth from {sessions // 4} to {sessions} sessions",
            f"{late[grown] - early[grown]:+.1f} MB",
            grown,
            "flat",
        ),
    ]


def retention() -> list[Row]:
    """Measure Redis's memory before, at the peak, and after the retention of 2,000 sessions.

    The retention is longer than a session waits between two commits on a slow machine.
    """
    with pipeline(ANTIPHON_BUS_RETENTION_S="30") as measured:
        measured.start()
        measured.run(50)
        measured.wait_for_retention()
        before = measured.redis_memory_mb()
        measured.run(2_000)
        peak = measured.redis_memory_mb()
        measured.wait_for_retention()
        after = measured.redis_memory_mb()
    details = f"before {before:.2f} MB, peak {peak:.1f} MB"
    return [("Redis memory after retention", f"{after:.2f} MB", details, "back to its start")]


def _costs(costs: list[dict[str, float]]) -> str:
    medians = {name: statistics.median(cost[name] for cost in costs) * 1e6 for name in costs[0]}
    return ", ".join(f"{name.split('_')[-1]} {cost:.0f}" for name, cost in medians.items())
