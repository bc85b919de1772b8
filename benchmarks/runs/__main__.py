"""The rows about runs alone: `python -m benchmarks.runs`."""

import argparse

from rich.console import Console
from rich.table import Table

from benchmarks.runs.measure import measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each pair, of which the median counts")
    table = Table("measured", "figure", "beside it", "target")
    for row in measure(parser.parse_args().runs):
        table.add_row(*row)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
