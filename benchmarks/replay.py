"""`python -m benchmarks.replay`: recordings and events that `replay verify` gets through in a second, on one core."""

import argparse
import asyncio
import gc
import statistics
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.process.collector import freeze_program_objects
from antiphon_shared.process.settings import BusSettings
from rich.console import Console
from rich.table import Table

from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line
from antiphon.recording.session_lines import session_lines
from antiphon.replay.verify import verify
from benchmarks import temporal_peer
from benchmarks.pipeline import Pipeline, pipeline

ROUNDS = (3, 10)
WARM_UP = 20
DECISIONS: tuple[Component, ...] = ("coordinator",)
"""The steps that a replayer of workflows repeats."""
PEER_HISTORIES, PEER_REPLY = 100, "x" * 200

Row = tuple[str, str, str, str]
"""The measure, the figure, the comparison, the target; see benchmarks/__main__.py."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument(
        "--runs",
        type=int,
        default=5,
        help="runs of each measurement; the median counts (default: %(default)s)",
    )
    parser.add_argument(
        "--seconds", type=float, default=2.0, help="CPU seconds of one run (default: %(default)g)"
    )
    arguments = parser.parse_args()
    table = Table("measured", "figure", "compared with", "target")
    for row in measure(arguments.runs, arguments.seconds):
        table.add_row(*row)
    Console(width=140).print(table)


def measure(runs: int, seconds: float) -> list[Row]:
    """Measure sessions of each length, with two no-op calls in all rounds but the last, paired with the peer."""
    rows: list[Row] = []
    with TemporaryDirectory() as folder:
        for rounds, path in recorded(Path(folder)).items():
            events = verify(path).events
            peers = {"as it comes": True, "without its sandbox": False}
            rates: dict[str, list[float]] = {name: [] for name in ("whole", "decisions", *peers)}
            for _ in range(runs):
                rates["whole"].append(events * rate(path, seconds, COMPONENTS))
                rates["decisions"].append(events * rate(path, seconds, DECISIONS))
                for name, is_sandboxed in peers.items():
                    peer_events, per_second = temporal_peer.events_per_second(
                        events, PEER_HISTORIES, PEER_REPLY, is_sandboxed=is_sandboxed
                    )
                    rates[name].append(per_second)
            size = f"{events} events, {path.stat().st_size / 1000:.0f} kB"
            for what, target in (("whole", ">= 2 peers"), ("decisions", "")):
                ours = statistics.median(rates[what])
                ratios = [_ratio(rates[what], rates[name]) for name in peers]
                details = f"{ratios[0]:.1f} peers as they come, {ratios[1]:.1f} without sandbox"
                figure = f"{ours:,.0f} events/s, {ours / events:,.0f}/s of {size}"
                rows.append((f"replay verify, {rounds} rounds, {what}", figure, details, target))
            for name in peers:
                figure = f"{statistics.median(rates[name]):,.0f} events/s of {peer_events} events"
                rows.append((f"temporalio Replayer, {name}", figure, "", ""))
    return rows


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def rate(path: Path, seconds: float, only: Collection[Component]) -> float:
    """Return the verifications of a file in one CPU second, each from the file to the report."""
    for _ in range(WARM_UP):
        verify(path)
    usual = gc.get_threshold()
    freeze_program_objects()  # as `antiphon replay verify` does
    try:
        count, started = 0, time.process_time()
        while time.process_time() - started < seconds:
            report = verify(path, only)
            if not report.is_same or report.unchecked:
                raise RuntimeError(f"{path.name} does not verify: {report.first or report.unchecked}")
            count += 1
        return count / (time.process_time() - started)
    finally:
        gc.set_threshold(*usual)  # the peer is measured as it comes


def recorded(folder: Path) -> dict[int, Path]:
    """Return a recording by the whole pipeline for each number of rounds."""
    paths = {}
    with pipeline() as measured:
        measured.start()
        for rounds in ROUNDS:
            measured.run(1, f"rounds={rounds - 1}", max_rounds=rounds, max_tool_calls=1_000)
            paths[rounds] = folder / f"{rounds}-rounds.jsonl"
            write_lines(paths[rounds], asyncio.run(_lines(measured)))
    return paths


async def _lines(measured: Pipeline) -> list[Line]:
    """Return the newest session, once it is closed."""
    bus = Bus(Connections(measured.server.url), measured.keys, BusSettings())
    await bus.open()
    try:
        session_id = measured.newest_session()
        while True:
            lines = [line async for line in session_lines(session_id, bus)]
            if getattr(getattr(lines[-2], "record", None), "closes", False):
                return lines
            await asyncio.sleep(0.05)
    finally:
        await bus.close()


if __name__ == "__main__":
    main()
