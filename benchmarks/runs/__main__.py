"""Measure runs of workflows against the floor and other frameworks: `python -m benchmarks.runs`."""

import argparse

from rich.console import Console
from rich.table import Table

from benchmarks import workflows
from benchmarks.runs.measure import measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs", description=__doc__)
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each pair; the median counts (default: %(default)s)"
    )
    parser.add_argument(
        "--peers", type=int, default=1, help="runs of the other frameworks; 0: none (default: %(default)s)"
    )
    arguments = parser.parse_args()
    table = Table("measured", "figure", "compared with", "target")
    for row in (*workflows.measure(arguments.runs), *measure(arguments.runs, arguments.peers)):
        table.add_row(*row)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
