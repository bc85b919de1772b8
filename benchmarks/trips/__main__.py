"""Trips booked by rounds with ten tools, and by `w_book_trip`: `python -m benchmarks.trips`.

A scripted model makes mistakes, drawn by a seed: it forgets a cancellation after a failure (20 % of them), books
something else after a call whose answer was lost (30 %), and says that it is done before the trip is confirmed (5 %).
In half of the trips one tool fails. The same trips, failures and draws serve both ways, and a model without mistakes.
"""

import argparse

from rich.console import Console
from rich.table import Table

from benchmarks.trips.measure import SEED, TRIPS, measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trips", description=__doc__)
    parser.add_argument(
        "--trips", type=int, default=TRIPS, help="trips drawn by the seed (default: %(default)s)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=SEED,
        help="decides the trips, failures and mistakes (default: %(default)s)",
    )
    arguments = parser.parse_args()
    table = Table("", "rounds", "w_book_trip", "rounds, no mistakes", "w_book_trip, no mistakes")
    for row in measure(arguments.trips, arguments.seed):
        table.add_row(*row)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
