"""`make bench`: every measurement in one run, as a table and as JSON under benchmarks/results/."""

import argparse
import platform
import statistics
from datetime import UTC, datetime
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table

from benchmarks import dispatcher, floor, langgraph_peer, recordings, replay, workflows
from benchmarks.noop_tools import RESULT
from benchmarks.pipeline import Pipeline, pipeline
from benchmarks.runs.measure import measure as runs_of_workflows
from benchmarks.steps.measure import measure as steps
from benchmarks.stub_engine import REPLY
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
    rows: list[Row] = []
    with pipeline() as measured:
        seconds = measured.start()
        rows += start_up(seconds)
        measured.run(300)
        rows += speed(measured, arguments.sessions, arguments.runs, arguments.peer)
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
    show(rows)


def start_up(seconds: dict[str, float]) -> list[Row]:
    slowest = max(seconds, key=lambda name: seconds[name])
    return [("start-up to ready, slowest", f"{seconds[slowest]:.2f} s ({slowest})", "", "< 1.5 s")]


def speed(measured: Pipeline, sessions: int, runs: int, peer_sessions: int) -> list[Row]:
    """Throughput and latency, each run paired with one of the floor and of the peer."""
    hops = measured.hops()
    rates, floor_rates, idle_ms, floor_idle_ms = [], [], [], []
    peer_rates: dict[int, list[float]] = {1: [], 2: []}
    costs: dict[str, float] = {}
    for _ in range(runs):
        before = measured.cpu_s()
        rates.append(sessions / measured.run(sessions))
        costs = {name: (cpu - before[name]) / sessions * 1e6 for name, cpu in measured.cpu_s().items()}
        idle_ms += [measured.latency_s() * 1000 for _ in range(100)]
        with running() as server:
            floor_rates.append(floor.measure(server.port, hops, sessions, IN_FLIGHT))
        with running() as server:
            floor_idle_ms.append(1000 / floor.measure(server.port, hops, 200, in_flight=1))
        for processes, found in peer_rates.items():
            if peer_sessions:
                found.append(langgraph_peer.measure(peer_sessions, processes, REPLY, RESULT))
    rate, floor_rate = statistics.median(rates), statistics.median(floor_rates)
    ratio = statistics.median(a / b for a, b in zip(rates, floor_rates, strict=True))
    idle, floor_idle = statistics.median(idle_ms), statistics.median(floor_idle_ms)
    rows: list[Row] = [
        ("messages of a session", f"{len(hops)}", f"{sum(hop.size_bytes for hop in hops)} bytes", ""),
        (
            "sessions per second",
            f"{rate:.0f}",
            f"floor {floor_rate:.0f}: {ratio:.2f}",
            ">= 0.40 of the floor",
        ),
        (
            "one idle session",
            f"{idle:.1f} ms",
            f"floor {floor_idle:.1f} ms: {idle / floor_idle:.2f}",
            "<= 2 floors",
        ),
        ("CPU per session", f"{sum(costs.values()):.0f} us", _costs(costs), ""),
    ]
    for processes, found in peer_rates.items():
        if found:
            peer = statistics.median(found)
            name = f"LangGraph + SQLite, processes: {processes}"
            rows.append((name, f"{peer:.0f}/s", f"we are {rate / peer:.1f} times as fast", ">= 3"))
    return rows


def growth(measured: Pipeline) -> list[Row]:
    """Bytes that a session leaves in Redis, over its rounds."""
    sizes = {}
    for rounds in (5, 10, 20, 40):
        measured.run(1, f"rounds={rounds}", max_rounds=rounds + 1, max_tool_calls=1000, max_tokens=10_000_000)
        sizes[rounds] = measured.session_bytes(measured.newest_session())
    early = (sizes[10] - sizes[5]) / 5
    late = (sizes[40] - sizes[20]) / 20
    text = ", ".join(f"{rounds}: {size / 1000:.0f} kB" for rounds, size in sizes.items())
    return [("bytes per round, late over early", f"{late / early:.2f}", text, "about 1: linear")]


def memory(measured: Pipeline, sessions: int) -> list[Row]:
    """Resident memory after the first thousands of sessions, and after all."""
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
    """Redis's memory before, at the height, and after the retention of 2,000 sessions."""
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


def _costs(costs: dict[str, float]) -> str:
    return ", ".join(f"{name.split('_')[-1]} {cost:.0f}" for name, cost in costs.items())


if __name__ == "__main__":
    main()
