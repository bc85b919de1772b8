"""`make bench`: every measurement in one run, as a table and as JSON under benchmarks/results/."""

import argparse
import platform
import statistics
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table

from benchmarks import dispatcher, floor, langgraph_peer, recordings, replay, start_up, workflows
from benchmarks.noop_tools import RESULT
from benchmarks.pipeline import ONE_PROCESS, Pipeline, pipeline
from benchmarks.runs.measure import measure as runs_of_workflows
from benchmarks.steps.measure import measure as steps
from benchmarks.stub_engine import REPLY
from benchmarks.trips.measure import measure as trips
from tests.redis_server import running

IN_FLIGHT = 500

Row = tuple[str, str, str, str]
"""What was measured, the figure, what it stands beside, the target."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--sessions", type=int, default=3_000, help="sessions of one throughput run")
    parser.add_argument("--long", type=int, default=20_000, help="sessions of the memory run")
    parser.add_argument("--runs", type=int, default=3, help="runs of each pair, of which the median counts")
    parser.add_argument("--peer", type=int, default=400, help="sessions of the peer; 0 leaves it out")
    arguments = parser.parse_args()
    rows: list[Row] = start_up.measure(arguments.runs)
    with pipeline() as measured:
        measured.start()
        measured.run(300)
        with pipeline(modules=ONE_PROCESS) as in_one:
            in_one.start()
            in_one.run(300)
            five, one = Samples(measured), Samples(in_one)
            rows += speed(five, one, arguments.sessions, arguments.runs, arguments.peer)
            rows.append(("one process: memory", f"{in_one.memory_mb()['antiphon']:.0f} MB", "", ""))
        rows += growth(measured)
        rows += memory(measured, arguments.long)
    rows += retention()
    rows += dispatcher.measure(arguments.runs)
    rows += replay.measure(arguments.runs, seconds=1.0)
    rows += workflows.measure(arguments.runs)
    rows += runs_of_workflows(arguments.runs)
    rows += [
        (what, f"{per_core} and core", f"{on_the_wall} on the wall", target)
        for what, per_core, on_the_wall, target in recordings.measure()
    ]
    rows += [
        (what, f"{with_steps} with steps", f"{without} with all tools and no steps", "")
        for what, without, with_steps in steps()
    ]
    rows += [
        (f"trips: {what}", f"{by_workflow} by w_book_trip", f"{by_rounds} by rounds with ten tools", "")
        for what, by_rounds, by_workflow, *_ in trips()
    ]
    show(rows)


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
        beside_rate = f"floor {statistics.median(floor_rates):.0f}: {ratio:.2f}"
        return [
            (f"{form}: sessions per second", f"{self.rate:.0f}", beside_rate, targets[0]),
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


def speed(five: Samples, one: Samples, sessions: int, runs: int, peer_sessions: int) -> list[Row]:
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
        *five.rows("five processes", floor_rates, floor_idle, (">= 0.40 of the floor", "<= 2.4 floors")),
        *one.rows("one process", floor_rates, floor_idle, (">= 0.35 of the floor", "<= 1.6 floors")),
        ("one process: CPU over that of five", f"{ratio:.2f}", "", "<= 0.91"),
        *(row for peer, found in peers.items() for row in peer_rows(peer, found, five, one)),
    ]


Peer = tuple[langgraph_peer.Checkpointer, int]
PEERS: tuple[Peer, ...] = (("SQLite", 1), ("SQLite", 2), ("memory", 1))
"""The checkpointer and the number of processes."""


def peer_rows(peer: Peer, found: list[langgraph_peer.Measured], five: Samples, one: Samples) -> list[Row]:
    checkpointer, processes = peer
    name = f"LangGraph, {checkpointer}, processes: {processes}"
    rate = statistics.median(measured.rate for measured in found)
    cost_s = statistics.median(measured.cpu_s for measured in found)
    return [
        (
            f"{name}: sessions per second",
            f"{rate:.0f}",
            f"{five.rate / rate:.1f} times as fast; {one.rate / rate:.1f} in one process",
            ">= 3" if checkpointer == "SQLite" else "",
        ),
        (
            f"{name}: CPU per session",
            f"{cost_s * 1e6:.0f} us",
            f"we: {five.cost_s / cost_s:.2f} of it; {one.cost_s / cost_s:.2f} in one process, with Redis",
            "",
        ),
    ]


def growth(measured: Pipeline) -> list[Row]:
    """Measure the bytes that a session leaves in Redis, over its rounds."""
    sizes = {}
    for rounds in (5, 10, 20, 40):
        measured.run(1, f"rounds={rounds}", max_rounds=rounds + 1, max_tool_calls=1000, max_tokens=10_000_000)
        sizes[rounds] = measured.session_bytes(measured.newest_session())
    early = (sizes[10] - sizes[5]) / 5
    late = (sizes[40] - sizes[20]) / 20
    text = ", ".join(f"{rounds}: {size / 1000:.0f} kB" for rounds, size in sizes.items())
    return [
        ("bytes per round, late over early", f"{late / early:.2f}", text, "<= 1.05; 40 rounds: <= 450 kB")
    ]


def memory(measured: Pipeline, sessions: int) -> list[Row]:
    """Measure resident memory after the first thousands of sessions, and after all."""
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
    """Measure Redis's memory before, at the peak, and after the retention of 2,000 sessions."""
    with pipeline(ANTIPHON_BUS_RETENTION_S="5") as measured:
        measured.start()
        measured.run(50)
        measured.wait_for_retention()
        before = measured.redis_memory_mb()
        measured.run(2_000)
        height = measured.redis_memory_mb()
        measured.wait_for_retention()
        after = measured.redis_memory_mb()
    beside = f"before {before:.2f} MB, height {height:.1f} MB"
    return [("Redis memory after retention", f"{after:.2f} MB", beside, "back to its start")]


def show(rows: list[Row]) -> None:
    table = Table("measured", "figure", "beside it", "target")
    for row in rows:
        table.add_row(*row)
    Console(width=140).print(table)
    now = datetime.now(UTC)
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    file = folder / f"{now:%Y%m%dT%H%M%SZ}.json"
    content = {"time": now, "python": platform.python_version(), "rows": rows}
    file.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))
    print(file.relative_to(Path.cwd()))


def _costs(costs: list[dict[str, float]]) -> str:
    medians = {name: statistics.median(cost[name] for cost in costs) * 1e6 for name in costs[0]}
    return ", ".join(f"{name.split('_')[-1]} {cost:.0f}" for name, cost in medians.items())


if __name__ == "__main__":
    main()
