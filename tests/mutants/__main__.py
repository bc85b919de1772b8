"""Change the code at random, and count the changes that `replay verify` or a test detects.

`make mutants SEED=7 NUMBER=300` draws 300 changes (mutants) from all product code.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path
from time import time_ns

from tests.mutants import runs
from tests.mutants.hunt import Fate, Stage, draw, hunted, say
from tests.mutants.mutant import ROOT
from tests.mutants.result import as_json, as_text, fates_in
from tests.recordings.pure_modules import pure_modules

_ROOMS = runs.FLOORS[:-1]
_VERIFY: Sequence[Stage] = ("recordings",)


def main() -> None:
    arguments = _arguments()
    os.chdir(ROOT)
    pure = frozenset(str(path.relative_to(ROOT)) for path in pure_modules().values())
    seed = time_ns() % 1_000_000 if arguments.seed is None else arguments.seed
    fates = _earlier(arguments.again) if arguments.again else _drawn(arguments, seed, pure)
    stages = _stages(arguments)
    for after_stage in hunted(fates, arguments.jobs, stages, say, arguments.minutes):
        fates = after_stage
        if arguments.json:
            arguments.json.write_text(json.dumps(as_json(fates, seed), indent=1))
    sys.stdout.write(as_text(fates, stages != _VERIFY) + "\n")


def _drawn(arguments: argparse.Namespace, seed: int, pure: frozenset[str]) -> list[Fate]:
    files = [one for one in runs.files() if one in pure or (not arguments.pure and one.startswith(_ROOMS))]
    files = [one for one in files if one.startswith(tuple(arguments.beneath) or ("",))]
    say(f"drawing {arguments.number} mutants from {len(files)} files by seed {seed}")
    return [Fate(one, one.file in pure) for one in draw(files, arguments.number, seed, arguments.jobs)]


def _earlier(paths: Sequence[Path]) -> list[Fate]:
    fates = [one for path in paths for one in fates_in(path)]
    known = [one for one in fates if one.mutant.is_there]
    say(f"{len(known)} of {len(fates)} mutants are still there; the source of the others has changed")
    return known


def _stages(arguments: argparse.Namespace) -> Sequence[Stage]:
    if arguments.verify:
        return _VERIFY
    if arguments.near:
        return "recordings", "near tests"
    return ("suite",) if arguments.together else ("recordings", "near tests", "suite")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, help="seed of the draw (default: a new one each time)")
    parser.add_argument(
        "--number", type=int, default=300, help="number of mutants to draw (default: %(default)s)"
    )
    parser.add_argument("--pure", action="store_true", help="draw from the pure modules only")
    parser.add_argument("--verify", action="store_true", help="run only `replay verify` against each mutant")
    parser.add_argument(
        "--near",
        action="store_true",
        help="run `replay verify` and the test files that import the mutated module: faster than the whole suite",
    )
    parser.add_argument(
        "--together",
        action="store_true",
        help="run only the whole suite, once for all mutants; with --again, for those that survived a quick run",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=inf,
        help="end each run of the suite after so many minutes; tests that failed by then count",
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to this file")
    parser.add_argument(
        "--again",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="read an earlier result instead of drawing, and continue with its survivors",
    )
    parser.add_argument(
        "beneath", nargs="*", metavar="PATH", help="draw only from files whose paths begin with PATH"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
