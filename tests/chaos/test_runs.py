"""kill -9 inside every type of node: each write takes effect once, or the run says that it does not know.

Six processes: the five, and a second coordinator, so that two decide on each run. Three of them kill themselves at
points that are drawn at random; CHAOS_SEED repeats a draw.
"""

import asyncio
import os
import random
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from antiphon_shared.events import InputRequested
from antiphon_shared.process.runner import FAULTS_ALLOWED

from antiphon import Antiphon, workflows
from tests.chaos.booking_promises import Bookings, assert_true
from tests.chaos.booking_workflows import GRAPHS, specification
from tests.flows.pipeline import Pipeline, pipeline

pytestmark = pytest.mark.chaos

SEED = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(1_000_000))
RUNS = 3
"""The number of runs for each type of node."""
LIMIT_S = 60.0
COORDINATORS = ("coordinator", "coordinator-2")
IN_DELIVERIES = (
    "delivery.decoded",
    "handler.before",
    "handler.after",
    "commit.before",
    "commit.after",
)
IN_CALLS = (
    *IN_DELIVERIES,
    "write.claim.before",
    "write.claimed",
    "tool.before",
    "tool.running",
    "tool.after",
    "write.settle.before",
)
TIMES_MAX = 6
"""The most times that a process passes a point before it kills itself."""

T = TypeVar("T")


@pytest.fixture(scope="module")
def six(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    file = tmp_path_factory.mktemp("bookings") / "ledger.db"
    with pipeline(
        is_started=False,
        ANTIPHON_TOOLS="tests.chaos.booking_tools",
        BOOKINGS_FILE=str(file),
        BOOKING_S="0.04",
        ANTIPHON_BUS_LEASE_S="1",
        ANTIPHON_BUS_MAX_DELIVERIES="100",
        ANTIPHON_LOG_LEVEL="warning",
    ) as processes:
        processes.start()
        processes.start("coordinator-2")
        processes.wait_until_ready()
        yield processes


@pytest.mark.parametrize("node", GRAPHS)
def test_a_run_killed_inside_a_node_of_any_type_reports_the_effects_truthfully(
    six: Pipeline, node: str
) -> None:
    sys.stdout.write(f"CHAOS_SEED={SEED}\n")  # shown where the test fails
    choose = random.Random(f"{SEED} {node}")
    for name in COORDINATORS:
        arm(six, name, choose.choice(IN_DELIVERIES), choose.randint(2, TIMES_MAX))
    arm(six, "tool_dispatcher", choose.choice(IN_CALLS), choose.randint(1, TIMES_MAX))
    six.wait_until_ready()
    run_ids = begin(six, node)
    killed: list[str] = []
    if node == "yield":
        answer(six, run_ids, killed)
    wait_for_answers(six, run_ids, killed)
    assert killed, "no process was killed"
    assert_promises(six, run_ids)


def test_runs_whose_coordinators_are_all_killed_while_they_wait_for_a_person_continue(six: Pipeline) -> None:
    run_ids = begin(six, "yield")
    six.until(lambda: waits(six, run_ids), "all runs waiting", LIMIT_S)
    for name in COORDINATORS:
        six.kill(name)
        six.start(name)
    answer(six, run_ids, [])
    wait_for_answers(six, run_ids, [])
    assert_promises(six, run_ids)
    assert {six.response_to(run_id).status for run_id in run_ids} == {"complete"}


def arm(six: Pipeline, name: str, point: str, times: int) -> None:
    """Start another process that kills itself when it passes a point for the n-th time."""
    six.kill(name)
    fault = f"{point}:kill@{times}"
    sys.stdout.write(f"{name}: {fault}\n")
    six.start(name, ANTIPHON_FAULTS=fault, ANTIPHON_FAULTS_ALLOWED=FAULTS_ALLOWED)


def supervise(six: Pipeline, killed: list[str]) -> None:
    """Restart the killed processes and note their names."""
    for name in (*COORDINATORS, "tool_dispatcher"):
        if six.running[name].poll() is not None:
            killed.append(name)
            six.start(name)


def begin(six: Pipeline, node: str) -> list[str]:
    """Begin some runs of the workflow with that type of node."""

    async def started(antiphon: Antiphon) -> list[str]:
        source = specification()
        return [await workflows.start(antiphon, f"by_{node}", source=source) for _ in range(RUNS)]

    return as_client(six, started)


def answer(six: Pipeline, run_ids: list[str], killed: list[str]) -> None:
    """Give each run the input that it waits for."""

    def all_wait() -> bool:
        supervise(six, killed)
        return waits(six, run_ids)

    six.until(all_wait, f"all runs waiting, CHAOS_SEED={SEED}", LIMIT_S)

    async def given(antiphon: Antiphon) -> None:
        for run_id in run_ids:
            await workflows.give(antiphon, run_id, {"ok": True})

    as_client(six, given)


def waits(six: Pipeline, run_ids: list[str]) -> bool:
    """Return whether each run has asked a person."""
    return all(six.events(run_id, InputRequested) for run_id in run_ids)


def as_client(six: Pipeline, work: Callable[[Antiphon], Awaitable[T]]) -> T:
    async def connected() -> T:
        async with Antiphon(six.redis.url) as antiphon:
            return await work(antiphon)

    return asyncio.run(connected())


def wait_for_answers(six: Pipeline, run_ids: list[str], killed: list[str]) -> None:
    def all_answered() -> bool:
        supervise(six, killed)
        return set(run_ids) <= {one.session_id for one in six.responses()}

    six.until(all_answered, f"all runs answered, CHAOS_SEED={SEED}", LIMIT_S)


def assert_promises(six: Pipeline, run_ids: list[str]) -> None:
    """Check that each run has ended in one response, and that response and service agree."""

    def is_idle() -> bool:
        supervise(six, [])  # a process may have been killed after the last answer
        return six.is_idle()

    six.until(is_idle, "everything done", LIMIT_S)
    six.wait_until_idle()
    answered = [one.session_id for one in six.responses() if one.session_id in run_ids]
    assert sorted(answered) == sorted(run_ids)
    file = Path(six.environment["BOOKINGS_FILE"])
    for run_id in run_ids:
        assert_true(six.response_to(run_id), Bookings(file, run_id))
