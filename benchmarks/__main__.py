"""Measure the project against its floors and its peers, part by part.

Each part's table is printed as soon as it is measured, and written to benchmarks/results/ as JSON.
"""

import argparse
import platform
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table

from benchmarks import dispatcher, forms, recordings, replay, start_up, workflows
from benchmarks.forms import Row
from benchmarks.runs.measure import measure as runs_of_workflows
from benchmarks.steps.measure import measure as steps
from benchmarks.trips.measure import measure as trips

PARTS: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "start-up": lambda given: start_up.measure(given.runs),
    "forms": lambda given: forms.speed(given.sessions, given.runs, given.peer),
    "growth": lambda _: forms.growth(),
    "memory": lambda given: forms.memory(given.long),
    "retention": lambda _: forms.retention(),
    "dispatcher": lambda given: dispatcher.measure(given.runs),
    "replay": lambda given: replay.measure(given.runs, seconds=1.0),
    "workflows": lambda given: workflows.measure(given.runs),
    "runs": lambda given: runs_of_workflows(given.runs),
    "recordings": lambda _: [
        (what, f"{per_core} and core", f"{on_the_wall} on the wall", target)
        for what, per_core, on_the_wall, target in recordings.measure()
    ],
    "steps": lambda _: [
        (what, f"{with_steps} with steps", f"{without} with all tools and no steps", "")
        for what, without, with_steps in steps()
    ],
    "trips": lambda _: [
        (f"trips: {what}", f"{by_workflow} by w_book_trip", f"{by_rounds} by rounds with ten tools", "")
        for what, by_rounds, by_workflow, *_ in trips()
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument(
        "--sessions", type=int, default=3_000, help="sessions of one throughput run (default: %(default)s)"
    )
    parser.add_argument(
        "--long", type=int, default=20_000, help="sessions of the memory run (default: %(default)s)"
    )
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each pair; the median counts (default: %(default)s)"
    )
    parser.add_argument(
        "--peer",
        type=int,
        default=400,
        help="sessions of each framework compared with; 0: none (default: %(default)s)",
    )
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"no such part: {', '.join(unknown)}. The parts are {', '.join(PARTS)}")
    parts = given.parts or list(PARTS)
    file = Path(__file__).parent / "results" / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    rows: list[Row] = []
    for number, part in enumerate(parts, start=1):
        print(f"[{number}/{len(parts)}] measuring {part} ...", file=sys.stderr, flush=True)
        started = time.monotonic()
        measured = PARTS[part](given)
        print(f"{part} took {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        show(measured)
        rows += measured
        write(file, rows)
    print(file)


def show(rows: list[Row]) -> None:
    table = Table("measured", "figure", "compared with", "target")
    for row in rows:
        table.add_row(*row)
    Console(width=140).print(table)


def write(file: Path, rows: list[Row]) -> None:
    """Write the rows measured so far, so that an interrupted run keeps them."""
    file.parent.mkdir(exist_ok=True)
    content = {"time": datetime.now(UTC), "python": platform.python_version(), "rows": rows}
    file.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))


if __name__ == "__main__":
    main()
