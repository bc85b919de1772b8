"""The search for the smallest world that still breaks a promise: fewer sessions, fewer kinds of faults."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.simulation.faults import KINDS
from tests.simulation.promises import broken_promises, describe
from tests.simulation.world import World

ItemT = TypeVar("ItemT")

SESSIONS = 10
_LINES_MAX = 120


@dataclass(frozen=True)
class Case:
    """A world that can be run again."""

    seed: int
    sessions: tuple[int, ...] = tuple(range(SESSIONS))
    kinds: tuple[str, ...] = KINDS

    def world(self, is_reported: bool = False, is_exact: bool = False) -> World:
        world = World(self.seed, self.sessions, self.kinds, is_reported, is_exact)
        world.run()
        return world

    @property
    def is_broken(self) -> bool:
        return bool(broken_promises(self.world()))


def shrunk(case: Case) -> Case:
    """Return a smaller world that still breaks a promise."""
    sessions = _fewer(case.sessions, lambda some: Case(case.seed, some, case.kinds))
    return Case(case.seed, sessions, _fewer(case.kinds, lambda some: Case(case.seed, sessions, some)))


def _fewer(items: tuple[ItemT, ...], case_of: Callable[[tuple[ItemT, ...]], Case]) -> tuple[ItemT, ...]:
    for one in items:
        if len(items) > 1 and case_of((one,)).is_broken:
            return (one,)
    for one in items:
        without = tuple(item for item in items if item != one)
        if case_of(without).is_broken:
            items = without
    return items


def report(case: Case) -> str:
    """Report the smallest world found that breaks a promise, and its trace."""
    smallest = shrunk(case)
    world = smallest.world(is_reported=True)
    broken = broken_promises(world)
    concerned = {"", *(one.session_id for one in broken)}
    lines = [f"{at_ms:>8} ms  {id:4} {what}" for at_ms, id, what in world.trace if id in concerned]
    return "\n".join((f"{smallest}", describe(broken), *_middle_cut(lines)))


def _middle_cut(lines: Sequence[str]) -> Sequence[str]:
    half = _LINES_MAX // 2
    if len(lines) <= _LINES_MAX:
        return lines
    return (*lines[:half], f"          ... {len(lines) - 2 * half} lines ...", *lines[-half:])
