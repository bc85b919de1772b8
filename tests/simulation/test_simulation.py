"""The promises hold under any faults: a short form of `make simulate`, and every seed that once broke a promise."""

import pytest

from tests.simulation.faults import KINDS
from tests.simulation.promises import broken_promises, describe
from tests.simulation.shrink import Case, report

ONCE_BROKEN: tuple[tuple[Case, str], ...] = (
    (Case(161), "a query with a short deadline was answered only when its wait for a catalogue was over"),
    (Case(280), "a session that had been answered was opened afterwards, and its tools ran"),
    (
        Case(69, (0,), ("poison",)),
        "an answer that the coordinator gave in the assembler's place did not report a write of unknown outcome",
    ),
    (
        Case(335, (0, 6, 9), ("freeze", "handler error", "redis clock jump")),
        "an answer given before the opening, while another worker was about to open the session, did not stop it",
    ),
    (
        Case(1969),
        "a coordinator kept its own decision in memory, although another one had committed under other outages",
    ),
)
"""Worlds that found defects, with the defects. A change to the simulation changes these worlds, so each defect also has
a test next to the code."""


def test_no_promise_is_broken_in_worlds_full_of_faults_of_every_kind(subtests: pytest.Subtests) -> None:
    struck: set[str] = set()
    for case in map(Case, range(30)):
        world = case.world()
        struck |= {*world.faults.counts}
        with subtests.test(seed=case.seed):
            assert broken_promises(world) == [], report(case)
    assert struck >= set(KINDS)


@pytest.mark.parametrize(("case", "what"), ONCE_BROKEN)
def test_a_fixed_failure_stays_fixed(case: Case, what: str) -> None:
    assert not case.is_broken, f"{what}\n{report(case)}"


def test_a_world_is_a_function_of_its_seed() -> None:
    once, again = (Case(7).world(is_reported=True) for _ in range(2))
    assert once.trace
    assert once.trace == again.trace


def test_a_simulation_that_decodes_every_message_gives_the_same_trace() -> None:
    quick, exact = Case(11).world(is_reported=True), Case(11).world(is_reported=True, is_exact=True)
    assert quick.trace == exact.trace
    assert broken_promises(exact) == []


def test_a_broken_promise_is_described_in_words() -> None:
    world = Case(0, sessions=(0,)).world()
    world.bus.responses.clear()
    assert describe(broken_promises(world)) == "s0: 0 answers"
