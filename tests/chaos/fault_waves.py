"""Every point with every action that may happen there, in waves: in each, one process of each component fails.

What ends a process, or leaves it stuck, comes alone to it; what it survives comes together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from shared.events import Component
from shared.events.base import COMPONENTS
from shared.faults.points import POINTS, Action, Point

FREEZE_S, DELAY_S = 2.5, 0.3
"""A freeze is longer than the lease of these tests, and shorter than what the watchdog allows."""

_WRITTEN: dict[Action, str] = {"freeze": f"freeze={FREEZE_S}", "delay": f"delay={DELAY_S}"}
_SURVIVED: tuple[Action, ...] = ("raise", "unavailable", "delay", "disconnect")
_FATAL = {("heartbeat.before", "raise"), ("catalogue.before", "raise")}
"""An error in one of these duties ends the process; it is started again by whoever runs it."""


@dataclass(frozen=True)
class Wave:
    """What fails together."""

    name: str
    faults: dict[Component, tuple[str, ...]]
    """As ANTIPHON_FAULTS has them."""


def waves(is_long: bool) -> Iterator[Wave]:
    """The long form: each point in each component that comes by, with each action. The short form: each in one.

    Of what takes long, a freeze and a hang, the short form has one wave each.
    """
    points = _by_component(is_long)
    for action in (*_SURVIVED, "kill", "hang", "freeze"):
        each = {name: [p.name for p in some if action in p.actions] for name, some in points.items()}
        if action in _SURVIVED:
            together, alone = _split(each, action)
            yield from _named(action, [together])
            yield from _named(f"{action}-fatal", _one_by_one(alone))
        else:
            one_by_one = list(_one_by_one(each))
            yield from _named(action, one_by_one if is_long or action == "kill" else one_by_one[:1])


def _named(name: Action | str, each: Sequence[dict[Component, list[str]]]) -> Iterator[Wave]:
    action = name.partition("-")[0]
    written = _WRITTEN.get(action, action)  # type: ignore[call-overload]  # an action by its name
    for n, points in enumerate(each, 1):
        faults = {c: tuple(f"{point}:{written}" for point in some) for c, some in points.items() if some}
        if faults:
            yield Wave(f"{name}-{n}", faults)


def _by_component(is_long: bool) -> dict[Component, list[Point]]:
    """The points of each component; in the short form a shared point goes to whoever has the fewest."""
    found: dict[Component, list[Point]] = {component: [] for component in COMPONENTS}
    for point in sorted(POINTS.values(), key=lambda point: len(point.components)):
        fewest = min(point.components, key=lambda component: len(found[component]))
        for component in point.components if is_long else [fewest]:
            found[component].append(point)
    return found


def _split(
    each: dict[Component, list[str]], action: str
) -> tuple[dict[Component, list[str]], dict[Component, list[str]]]:
    """Those that a process survives, and those that end it."""
    survived = {c: [name for name in some if (name, action) not in _FATAL] for c, some in each.items()}
    fatal = {c: [name for name in some if (name, action) in _FATAL] for c, some in each.items()}
    return survived, fatal


def _one_by_one(each: dict[Component, list[str]]) -> list[dict[Component, list[str]]]:
    columns = zip_longest(*each.values())
    return [{c: [name] for c, name in zip(each, names, strict=True) if name} for names in columns]
