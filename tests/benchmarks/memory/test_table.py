"""The tables say where a target is missed."""

from rich.console import Console

from benchmarks.memory.measure import OURS, Outcome
from benchmarks.memory.table import recall_table


def shown(lost: int, method: str = OURS) -> str:
    outcome = Outcome("q1", "two-hop", method, 10.0, 100, 90, 10, tuple(map(str, range(lost))), (1.0,))
    console = Console(width=140)
    with console.capture() as printed:
        console.print(recall_table("two-hop", [outcome]))
    return printed.get()


def test_a_missed_target_is_named_in_words() -> None:
    assert "0.90 (0.00), missed 0.95" in shown(lost=1)


def test_a_target_that_is_met_is_named_too() -> None:
    assert "1.00 (1.00), met 0.95" in shown(lost=0)


def test_others_have_no_target() -> None:
    assert "missed" not in shown(lost=5, method="BM25")
