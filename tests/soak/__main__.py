"""Run the whole pipeline under full load while failures are injected: `python -m tests.soak --minutes 10`."""

import argparse
import json
import random
import sys

from tests.soak.soak import Order, soak


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument(
        "--minutes", type=_minutes, default=10.0, help="minutes of injected failures (default: %(default)g)"
    )
    parser.add_argument(
        "--seed", type=int, help="seed of the load and the failures (default: a new one each time)"
    )
    parser.add_argument(
        "--sessions", type=int, default=24, help="sessions in flight at any time (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    given = parser.parse_args()
    seed = random.randrange(1_000_000) if given.seed is None else given.seed
    command = f"python -m tests.soak --minutes {given.minutes:g} --seed {seed} --sessions {given.sessions}"
    print(command, file=sys.stderr)
    order = Order(given.minutes * 60, seed, given.sessions, command=command)
    report = soak(order, lambda line: print(line, file=sys.stderr, flush=True))
    print(json.dumps(report.as_json(), indent=2) if given.json else "\n".join(report.lines()))
    sys.exit(1 if report.broken else 0)


def _minutes(text: str) -> float:
    minutes = float(text)
    if not 0.1 <= minutes <= 10_000:
        raise argparse.ArgumentTypeError("must be between 0.1 and 10000")
    return minutes


if __name__ == "__main__":
    main()
