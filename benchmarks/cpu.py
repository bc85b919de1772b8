"""`make bench-cpu REF=...`: the CPU cost of a session, of this tree and of another commit.

Both pipelines run side by side, each on a Redis of its own, and take turns: A B, B A, A B ... What counts is the ratio
within each pair, so that a machine that is busy for a while slows both. Every few pairs all processes are started
anew, as one start may be luckier than another. The verdict rests on an interval of the median that assumes nothing of
how the ratios are distributed; exit code 1 when even its lower end is above the limit.
"""

import argparse
import contextlib
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console
from rich.table import Table

from antiphon.replay.against.trees import ROOT, NotInHistory, extract

if TYPE_CHECKING:
    from benchmarks.pipeline import Pipeline

REF = "56c0a8b"
"""The default commit to compare with."""
LIMIT = 1.03
CONFIDENCE = 0.95
PAIRS_MIN = 6
"""Fewer give no interval of that confidence."""
EXIT_DEARER, EXIT_USAGE = 1, 2

Costs = dict[str, float]
"""CPU seconds per session, by process."""


class Pair(NamedTuple):
    """The same sessions, in this tree and in the other."""

    ours: Costs
    theirs: Costs

    @property
    def ratio(self) -> float:
        return sum(self.ours.values()) / sum(self.theirs.values())


class Interval(NamedTuple):
    """A median, and between what it lies."""

    lower: float
    median: float
    upper: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cpu", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--ref", default=os.environ.get("REF") or REF, help="commit to compare with (default: %(default)s)"
    )
    parser.add_argument(
        "--starts",
        type=int,
        default=4,
        help="number of times that all processes are started (default: %(default)s)",
    )
    parser.add_argument(
        "--pairs", type=int, default=8, help="pairs of runs for each start (default: %(default)s)"
    )
    parser.add_argument(
        "--sessions", type=int, default=400, help="sessions of one run (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=500.0,
        help="seconds after which no further pair begins (default: %(default)g)",
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="antiphon-cpu-") as folder:
        try:
            commit = extract(arguments.ref, Path(folder))
        except NotInHistory as error:
            print(f"{error.message} Name a commit that is there: make bench-cpu REF=HEAD~1", file=sys.stderr)
            sys.exit(EXIT_USAGE)
        pairs = measure(Path(folder), arguments)
    if len(pairs) < PAIRS_MIN:
        print(f"{len(pairs)} pairs are too few, {PAIRS_MIN} are needed. Raise --seconds.", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    found = interval([pair.ratio for pair in pairs])
    show(pairs, found, commit)
    sys.exit(EXIT_DEARER if found.lower > LIMIT else 0)


def measure(other: Path, arguments: argparse.Namespace) -> list[Pair]:
    """Run pair after pair, as many as there is time for."""
    from benchmarks.pipeline import pipeline  # needs the extra `bench`, which the figures below do not

    pairs: list[Pair] = []
    deadline = time.monotonic() + arguments.seconds
    for _ in range(arguments.starts):
        with contextlib.ExitStack() as stack:
            ours, theirs = (stack.enter_context(pipeline(tree)) for tree in (ROOT, other))
            for one in (ours, theirs):
                one.start()
                one.run(arguments.sessions)  # to warm up
            for _ in range(arguments.pairs):
                if time.monotonic() > deadline:
                    return pairs
                pairs.append(one_pair(ours, theirs, arguments.sessions, ours_first=len(pairs) % 2 == 0))
    return pairs


def one_pair(ours: "Pipeline", theirs: "Pipeline", sessions: int, ours_first: bool) -> Pair:
    """Run the same number of sessions in both, one after the other."""
    if ours_first:
        return Pair(cost(ours, sessions), cost(theirs, sessions))
    second = cost(theirs, sessions)
    return Pair(cost(ours, sessions), second)


def cost(measured: "Pipeline", sessions: int) -> Costs:
    """Return what each process spends on a session."""
    before = measured.on_cpu_s()
    measured.run(sessions)
    return {name: (after - before[name]) / sessions for name, after in measured.on_cpu_s().items()}


def interval(ratios: Sequence[float]) -> Interval:
    """Return the median with an interval that holds it with a probability of CONFIDENCE, by order statistics.

    The number of ratios below the true median is binomial (n, 1/2), whatever the distribution: of the ordered
    ratios, the k-th smallest and the k-th largest enclose it as surely as that number is not below k at either end.
    """
    ordered, n = sorted(ratios), len(ratios)
    k, missed = 0, 0.0
    while (missed := missed + 2 * comb(n, k) / 2**n) <= 1 - CONFIDENCE:
        k += 1
    k = max(k, 1)
    return Interval(ordered[k - 1], statistics.median(ordered), ordered[n - k])


def show(pairs: Sequence[Pair], found: Interval, commit: str) -> None:
    """Print each process's cost, and the verdict."""
    table = Table("CPU per session, microseconds", "this tree", commit[:12], "ratio")
    for name in pairs[0].ours:
        ours, theirs = ([getattr(pair, side)[name] for pair in pairs] for side in ("ours", "theirs"))
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        table.add_row(
            name, *(f"{statistics.median(side) * 1e6:.0f}" for side in (ours, theirs)), f"{ratio:.3f}"
        )
    console = Console(width=100)
    console.print(table)
    console.print(
        f"{(found.median - 1) * 100:+.1f} % CPU per session "
        f"({CONFIDENCE:.0%} interval {(found.lower - 1) * 100:+.1f} to {(found.upper - 1) * 100:+.1f} %, "
        f"{len(pairs)} pairs); "
        f"{verdict(found)} (limit {(LIMIT - 1) * 100:+.0f} %)."
    )


def verdict(found: Interval) -> str:
    """Return what can be said of the limit, in words."""
    if found.lower > LIMIT:
        return "too dear"
    return (
        "within the limit" if found.upper <= LIMIT else "not shown to be too dear: run more pairs to be sure"
    )


if __name__ == "__main__":
    main()
