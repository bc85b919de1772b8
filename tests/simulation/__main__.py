"""`python -m tests.simulation`: run worlds, count their faults and the broken promises."""

import argparse
import sys
from collections import Counter
from time import process_time

from tests.simulation.promises import broken_promises
from tests.simulation.shrink import SESSIONS, Case, report
from tests.simulation.world import World

_REPORTED_MAX = 3


def main() -> int:
    """Simulate the seeds; return 1 if a promise was broken."""
    asked = _arguments()
    faults: Counter[str] = Counter()
    broken: list[Case] = []
    sessions = promises = 0
    began_s = process_time()
    for seed in range(asked.first, asked.first + asked.seeds):
        case = Case(seed, tuple(range(asked.sessions)))
        world: World = case.world(is_exact=asked.exact)
        found = broken_promises(world)
        faults += world.faults.counts
        sessions += len(world.clients)
        promises += len(found)
        broken += [case] if found else []
    took_s = max(process_time() - began_s, 1e-3)
    for case in broken[:_REPORTED_MAX]:
        print(report(case), end="\n\n")
    if broken:
        print(f"seeds that break a promise: {', '.join(str(case.seed) for case in broken)}")
    for kind, count in faults.most_common():
        print(f"{count:>9}  {kind}")
    print(f"{sum(faults.values()):>9}  faults injected")
    print(f"{sessions:>9}  sessions, {60 * sessions / took_s:,.0f} a minute of processor time")
    print(f"{promises:>9}  promises broken")
    return 1 if promises else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument(
        "--seeds", type=int, default=1_000, help="number of simulated worlds (default: %(default)s)"
    )
    parser.add_argument("--first", type=int, default=0, help="seed of the first world (default: %(default)s)")
    parser.add_argument(
        "--sessions", type=int, default=SESSIONS, help="sessions in each world (default: %(default)s)"
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="decode each message again in every process, as real processes do; slower",
    )
    asked = parser.parse_args()
    if min(asked.seeds, asked.sessions) < 1:
        parser.error("--seeds and --sessions must be 1 or more")
    return asked


if __name__ == "__main__":
    sys.exit(main())
