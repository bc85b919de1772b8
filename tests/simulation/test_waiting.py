"""The order in which waiting queries are admitted, for all orders of arrival; test_bus.py compares it with Redis."""

from collections import Counter

from antiphon_shared.bus.waiting import QueuePosition
from hypothesis import given
from hypothesis import strategies as st

from tests.simulation.waiting import WaitingRoom

TENANTS = ("a", "b", "c")
weights = st.fixed_dictionaries({tenant: st.sampled_from((0.25, 0.5, 1, 2, 7)) for tenant in TENANTS})
steps = st.lists(st.sampled_from((*TENANTS, "turn", "turn", "turn")), max_size=200)


class Line:
    """A waiting room, and the number of admitted queries of each tenant."""

    def __init__(self, weights: dict[str, float]) -> None:
        self.room, self.weights = WaitingRoom(), weights
        self.served: Counter[str] = Counter()
        self._count = 0

    def come(self, tenant: str, bound: int = 10_000) -> bool:
        self._count += 1
        place = QueuePosition(tenant, self._count, self._count)
        return self.room.add(f"{tenant}{self._count}", b"", place, bound)

    def turn(self) -> str | None:
        if not self.room.queries:
            return None
        session_id = self.room.next(self.weights)
        self.room.take_out(session_id)
        self.room.forget_past()
        self.served[session_id[0]] += 1
        return session_id


@given(weights, steps)
def test_tenants_that_both_wait_all_the_time_get_turns_by_their_weights(
    weights: dict[str, float], steps: list[str]
) -> None:
    """The bound of start-time fair queueing, for any behaviour of a third tenant."""
    line = Line(weights)
    for tenant in ("a", "b"):
        for _ in range(200):
            line.come(tenant)
    for step in steps:
        line.turn() if step == "turn" else line.come("c")
        apart = line.served["a"] / weights["a"] - line.served["b"] / weights["b"]
        assert abs(apart) <= 1 / weights["a"] + 1 / weights["b"] + 1e-6


@given(weights, steps, st.integers(0, 100))
def test_a_query_waits_for_a_bounded_number_of_others(
    weights: dict[str, float], steps: list[str], at: int
) -> None:
    """The turn does not depend on earlier queries or on other tenants, as the tenant had no waiting query."""
    line = Line(weights)
    for step in [*steps[:at], *["b"] * 300]:
        line.turn() if step == "turn" else line.come(step)
    while line.room.of("a"):
        line.turn()
    before = line.served.copy()
    line.come("a")
    while line.room.of("a"):
        line.turn()
    others = sum((line.served - before).values()) - 1
    # One turn of its own that is still ahead of the present, and one of each other that has just begun.
    assert others <= sum(2 * weights[other] / weights["a"] + 2 for other in ("b", "c"))


@given(weights, steps)
def test_every_query_is_admitted_once_and_in_the_order_of_its_tenant(
    weights: dict[str, float], steps: list[str]
) -> None:
    line = Line(weights)
    let_in = [line.turn() if step == "turn" else line.come(step) and None for step in steps]
    while (session_id := line.turn()) is not None:
        let_in.append(session_id)
    names = [name for name in let_in if name]
    assert len(names) == len(set(names)) == sum(step != "turn" for step in steps)
    for tenant in TENANTS:
        mine = [int(name[1:]) for name in names if name[0] == tenant]
        assert mine == sorted(mine)
    assert line.room == WaitingRoom(), "no state of tenants without waiting queries is kept"


@given(weights, steps, st.integers(1, 20))
def test_a_flood_of_one_tenant_keeps_the_queue_open_for_others(
    weights: dict[str, float], steps: list[str], bound: int
) -> None:
    line = Line(weights)
    for step in steps:
        line.turn() if step == "turn" else line.come(step, bound)
        assert len(line.room.queries) <= 2 * bound
        for tenant in TENANTS:
            assert len(line.room.of(tenant)) <= bound
    for _ in range(3 * bound):
        line.come("b", bound)
    if len(line.room.queries) < 2 * bound and len(line.room.of("a")) * len(line.room.tenants) < bound:
        assert line.come("a", bound) or not line.room.of("a")
