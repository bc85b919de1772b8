"""Every point with every action that may happen there, in waves: in each, one process of each component fails.

What ends a process, or leaves it stuck, comes alone to it; what it survives comes together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from antiphon_shared.events import Component
from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.faults.points import ACTIONS, POINTS, Action, Point

FREEZE_S, DELAY_S = 2.5, 0.3
"""A freeze is longer than the lease of these tests, and shorter than what the watchdog allows."""

_WRITTEN = {"freeze": f"freeze={FREEZE_S}", "delay": f"delay={DELAY_S}"}
_SURVIVED: tuple[Action, ...] = ("raise", "unavailable", "delay", "disconnect")
_FATAL = {("heartbeat.before", "raise"), ("catalogue.before", "raise"), ("redis.commands.sent", "raise")}
"""An error in a duty, such as the heartbeat, ends the process; whoever runs it starts it again."""

_Cases = Mapping[Component, list[tuple[Point, Action]]]


@dataclass(frozen=True)
class Wave:
    """The faults that are injected together."""

    name: str
    faults: dict[Component, tuple[str, ...]]
    """As ANTIPHON_FAULTS has them."""
    is_survived: bool
    """Whether every process of it goes on working."""


def short_form() -> list[Wave]:
    """Return a kill at every point, in one component each, and some of the other actions."""
    points = _points_shared_out()
    survived = {c: _mixed(some) for c, some in points.items()}
    return [
        *_waves("kill", _one_by_one(_cases(points, "kill"))),
        *_waves("mixed", [survived]),
        *_waves("hang", _one_by_one(_cases(points, "hang"))[:1]),
        *_waves("freeze", _one_by_one(_cases(points, "freeze"))[1:2]),
    ]


def long_form() -> list[Wave]:
    """Return every point in every component that passes it, with every action."""
    points = {c: [point for point in POINTS.values() if c in point.components] for c in COMPONENTS}
    found: list[Wave] = []
    for action in ACTIONS:
        cases = _cases(points, action)
        alone: _Cases = cases
        if action in _SURVIVED:
            found += _waves(
                action, [{c: [one for one in some if _survives(one)] for c, some in cases.items()}]
            )
            alone = {c: [one for one in some if not _survives(one)] for c, some in cases.items()}
        found += _waves(f"{action}-alone", _one_by_one(alone))
    return found


def _waves(name: str, each: list[_Cases]) -> Iterator[Wave]:
    for n, cases in enumerate(each, 1):
        faults = {c: tuple(map(_written, some)) for c, some in cases.items() if some}
        if faults:
            is_survived = all(_survives(case) for some in cases.values() for case in some)
            yield Wave(f"{name}-{n}", faults, is_survived)


def _written(case: tuple[Point, Action]) -> str:
    point, action = case
    return f"{point.name}:{_WRITTEN.get(action, action)}"


def _points_shared_out() -> dict[Component, list[Point]]:
    """Return each point in one component only: in the one that has the fewest so far."""
    found: dict[Component, list[Point]] = {component: [] for component in COMPONENTS}
    for point in sorted(POINTS.values(), key=lambda point: len(point.components)):
        found[min(point.components, key=lambda component: len(found[component]))].append(point)
    return found


def _cases(points: Mapping[Component, list[Point]], action: Action) -> _Cases:
    return {c: [(point, action) for point in some if action in point.actions] for c, some in points.items()}


def _one_by_one(cases: _Cases) -> list[_Cases]:
    """Return the first of each component together, then the second of each, and so on."""
    rows = zip_longest(*cases.values())
    return [{c: [one] for c, one in zip(cases, row, strict=True) if one} for row in rows]


def _mixed(points: list[Point]) -> list[tuple[Point, Action]]:
    """Return each point with one action that a process survives: the points take turns through them."""
    mixed: list[tuple[Point, Action]] = []
    for n, point in enumerate(points):
        can = [a for a in reversed(_SURVIVED) if a in point.actions and _survives((point, a))]
        mixed.append((point, can[n % len(can)]))
    return mixed


def _survives(case: tuple[Point, Action]) -> bool:
    point, action = case
    return action not in ("kill", "hang") and (point.name, action) not in _FATAL
