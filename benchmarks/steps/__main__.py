"""Share of right results over tasks of the assembly example: `python -m benchmarks.steps`.

A scripted model makes mistakes, drawn by a seed: a wrong tool in 15 % of its moves, a wrong argument in 20 %, a
validation left out in 20 %, prose in place of a move in 10 %. It works on the same tasks twice, with the same draws:
with all fifteen tools and nothing enforced, and with the steps of examples/assembly/steps.yaml.
"""

import argparse

from rich.console import Console
from rich.table import Table

from benchmarks.steps.measure import SEED, TASKS, measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.steps", description=__doc__)
    parser.add_argument(
        "--tasks", type=int, default=TASKS, help="tasks drawn by the seed (default: %(default)s)"
    )
    parser.add_argument(
        "--seed", type=int, default=SEED, help="decides the tasks and mistakes (default: %(default)s)"
    )
    arguments = parser.parse_args()
    table = Table("", "all tools, nothing enforced", "steps")
    for row in measure(arguments.tasks, arguments.seed):
        table.add_row(*row)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
