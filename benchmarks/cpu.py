"""`make bench-cpu REF=...`: the CPU cost of a session, of this tree and of another commit.

Both pipelines run side by side, each on a Redis of its own, and take turns: A B, B A, A B ... What counts is the ratio
within each pair, so that a machine that is busy for a while slows both. Every few pairs all processes are started
anew, as one start may be luckier than another. The verdict rests on an interval of the median that assumes nothing of
how the ratios are distributed; exit code 1 when even its lower end is above the limit.

With --calls it compares the number of function calls instead of the CPU time. It is nearly the same on a busy machine,
and names the functions that changed, but says nothing about what a call costs.
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
CHANGED = 12
"""The number of places shown whose calls changed most."""
EXIT_DEARER, EXIT_USAGE = 1, 2

Costs = dict[str, float]
"""CPU seconds per session, by process; or calls per session, by process and place."""


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
    parser.add_argument(
        "--calls", action="store_true", help="compare the number of function calls, not the CPU time"
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
    show(pairs, found, commit, arguments.calls)
    sys.exit(EXIT_DEARER if found.lower > LIMIT else 0)


def measure(other: Path, arguments: argparse.Namespace) -> list[Pair]:
    """Run pair after pair, as many as there is time for."""
    # They need the extra `bench`, which the figures below do not.
    from benchmarks.calls import CountedPipeline
    from benchmarks.pipeline import Pipeline, pipeline

    kind = CountedPipeline if arguments.calls else Pipeline
    pairs: list[Pair] = []
    deadline = time.monotonic() + arguments.seconds
    for _ in range(arguments.starts):
        with contextlib.ExitStack() as stack:
            ours, theirs = (stack.enter_context(pipeline(tree, kind=kind)) for tree in (ROOT, other))
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
    """Return what a session costs."""
    before = measured.spent()
    measured.run(sessions)
    return {name: (after - before.get(name, 0)) / sessions for name, after in measured.spent().items()}


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


def show(pairs: Sequence[Pair], found: Interval, commit: str, are_calls: bool) -> None:
    """Print each process's cost, the places whose calls changed most, and the verdict."""
    what, unit = ("calls", 1) if are_calls else ("CPU", 1e-6)
    console = Console(width=100)
    title = "calls per session" if are_calls else "CPU per session, microseconds"
    table = Table(title, "this tree", commit[:12], "ratio")
    by_process = [Pair(*map(sum_by_process, pair)) for pair in pairs]
    for name in by_process[0].ours:
        ratio = statistics.median(pair.ours[name] / pair.theirs[name] for pair in by_process)
        costs = (
            statistics.median(getattr(pair, side)[name] for pair in by_process) / unit
            for side in Pair._fields
        )
        table.add_row(name, *(f"{each:.0f}" for each in costs), f"{ratio:.3f}")
    console.print(table)
    if are_calls:
        for place, more in changed(pairs, CHANGED):
            console.print(f"{more:+8.1f}  {place}", highlight=False)
    console.print(
        f"{(found.median - 1) * 100:+.1f} % {what} per session "
        f"({CONFIDENCE:.0%} interval {(found.lower - 1) * 100:+.1f} to {(found.upper - 1) * 100:+.1f} %, "
        f"{len(pairs)} pairs); "
        f"{verdict(found)} (limit {(LIMIT - 1) * 100:+.0f} %)."
    )


def sum_by_process(costs: Costs) -> Costs:
    """Sum the costs of a process's places."""
    sums: Costs = {}
    for name, each in costs.items():
        process = name.partition(" ")[0]
        sums[process] = sums.get(process, 0) + each
    return sums


def changed(pairs: Sequence[Pair], limit: int) -> list[tuple[str, float]]:
    """Return the places whose calls differ most between the trees, by the median of the pairs; the most added first."""
    places = {place for pair in pairs for side in pair for place in side}
    more = {
        place: statistics.median(pair.ours.get(place, 0) - pair.theirs.get(place, 0) for pair in pairs)
        for place in places
    }
    most = sorted(more, key=lambda place: -abs(more[place]))[:limit]
    return sorted(((place, more[place]) for place in most), key=lambda one: -one[1])


def verdict(found: Interval) -> str:
    """Return what can be said of the limit, in words."""
    if found.lower > LIMIT:
        return "too dear"
    return (
        "within the limit" if found.upper <= LIMIT else "not shown to be too dear: run more pairs to be sure"
    )


if __name__ == "__main__":
    main()
