"""`make bench-fairness`: how much a flood of one tenant's queries delays another's, as a ratio to an idle pipeline.

The five run as processes; the model is a stub that takes 100 ms for each of a session's three rounds. There is room
for as many sessions as the engine has calls in flight, since the tools take no time: see docs/overload.md. The small
tenant asks one query after the other, first alone, then while the big one's wait.
"""

import argparse
import statistics
import time
from itertools import count

from benchmarks.pipeline import LIMIT_S
from tests.flows.pipeline import Pipeline, pipeline
from tests.grants import a_grant

TARGET = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fairness", description=__doc__)
    parser.add_argument(
        "--big", type=int, default=1_000, help="queries of the large tenant (default: %(default)s)"
    )
    parser.add_argument(
        "--small", type=int, default=10, help="queries of the small tenant in each run (default: %(default)s)"
    )
    parser.add_argument(
        "--room",
        type=int,
        default=16,
        help="maximum of open sessions, and of model calls in flight (default: %(default)s)",
    )
    parser.add_argument(
        "--model-s",
        type=float,
        default=0.1,
        help="seconds that the model takes for a reply (default: %(default)g)",
    )
    arguments = parser.parse_args()
    with pipeline(
        wait_s=arguments.model_s,
        ANTIPHON_BUS_MAX_OPEN_SESSIONS=str(arguments.room),
        ANTIPHON_REASONING_ENGINE_CONCURRENCY=str(arguments.room),
    ) as five:
        ask = Asking(five)
        for _ in range(3):
            ask()
        idle_s = [ask() for _ in range(arguments.small)]
        submit(five, "big", arguments.big)
        five.until(lambda: waiting(five) > 0, "the flood to wait", LIMIT_S)
        flooded_s = [ask() for _ in range(arguments.small)]
        left = waiting(five)
    show("idle", idle_s)
    show(f"beside {arguments.big} queries, of which {left} still wait", flooded_s)
    ratio = p95(flooded_s) / p95(idle_s)
    print(f"p95 of the small tenant, flooded over idle: {ratio:.2f} (target: at most {TARGET:g})")
    if not left:
        print("The flood was over before the small tenant was: ask for a larger one with --big.")


def p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20, method="inclusive")[-1]


def show(what: str, seconds: list[float]) -> None:
    print(f"{what}: median {statistics.median(seconds) * 1000:.0f} ms, p95 {p95(seconds) * 1000:.0f} ms")


def submit(five: Pipeline, tenant: str, queries: int) -> None:
    grant = a_grant(("read", "write"), tenant=tenant)
    for n in range(queries):
        five.submit("How high is it?", session_id=f"{tenant}.{n}", grant=grant)


def waiting(five: Pipeline) -> int:
    return int(five.client.hlen(five.keys.queries_waiting(0)))


class Asking:
    """One query after the other of the tenant `small`."""

    def __init__(self, five: Pipeline) -> None:
        self._five, self._numbers = five, count()
        self._grant = a_grant(("read", "write"), tenant="small")

    def __call__(self) -> float:
        """Return the seconds from a submission to its answer."""
        session_id = f"small.{next(self._numbers)}"
        answer = self._five.keys.of_session(session_id, "response")
        started = time.perf_counter()
        self._five.submit("How high is it?", session_id=session_id, grant=self._grant)
        while not self._five.client.exists(answer):
            if time.perf_counter() - started > LIMIT_S:
                raise RuntimeError(f"no answer within {LIMIT_S:.0f} s\n{self._five.logs()}")
            time.sleep(0.002)
        return time.perf_counter() - started


if __name__ == "__main__":
    main()
