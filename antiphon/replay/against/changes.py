"""The differences between two versions of the code on one recording, from their divergences. Pure.

If only one version diverges from the record, the other does what was recorded. If both diverge in the same way, there
is no change between them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

from antiphon.replay.against.results import DifferingValue, Result

Version = Literal["before", "now"]
"""The other version of the code, and today's."""
Kind = Literal["same", "changed", "unchecked", "unreadable"]
_LINE_OF_CODE = re.compile(r", line \d+\)$")
_BY_TODAY = "today's code raises "


@dataclass(frozen=True, slots=True)
class Change:
    """A value that the two versions decide differently."""

    event: int
    """The number of the event that was decided on."""
    type: str
    component: str
    output: str
    path: str
    recorded: Any
    before: Any
    """The value of the other version."""
    now: Any
    """The value of today's code."""


@dataclass(frozen=True, slots=True)
class StepChange:
    """All differences in one step of one component."""

    event: int
    type: str
    component: str
    changes: tuple[Change, ...]

    @property
    def sent(self) -> tuple[Change, ...]:
        """Return the changes in the events that the step sends; the others are in its record."""
        return tuple(one for one in self.changes if one.output.startswith("antiphon."))

    @property
    def first(self) -> Change:
        """Return the most informative change: in the request to a model, else in the sent events."""
        requests = (one for one in self.changes if one.output == "request")
        return next(requests, next(iter(self.sent), self.changes[0]))


@dataclass(frozen=True)
class Compared:
    """A recording, verified by both versions."""

    path: str
    session_id: str = ""
    steps: tuple[StepChange, ...] = ()
    alike: int = 0
    """The number of values that diverge from the record in the same way in both."""
    unchecked: Mapping[str, int] = field(default_factory=dict)
    """The number of unchecked values by reason, in either version."""
    errors: Mapping[Version, str] = field(default_factory=dict)
    """The reason why a version cannot read it."""

    @property
    def result(self) -> Kind:
        if self.errors:
            return "unreadable"
        if self.steps:
            return "changed"
        return "unchecked" if self.unchecked else "same"


def compare_results(before: Result, now: Result) -> Compared:
    """Return the differences between the other version's result for a recording and today's."""
    if before.error or now.error:
        errors: dict[Version, str] = {"before": before.error, "now": now.error}
        return Compared(now.path, errors={version: error for version, error in errors.items() if error})
    left, right = _by_key(before.divergences), _by_key(now.divergences)
    changes, alike = [], 0
    for key in sorted(dict.fromkeys((*right, *left)), key=lambda key: key[0]):
        a, b = left.get(key), right.get(key)
        if (a is None and _is_covered(key, left)) or (b is None and _is_covered(key, right)):
            continue
        change = _change(a, b)
        if change.before != change.now:
            changes.append(change)
        else:
            alike += 1
    return Compared(
        path=now.path,
        session_id=now.session_id,
        steps=tuple(_steps(changes)),
        alike=alike,
        unchecked=_unchecked(before, now),
    )


_Key = tuple[int, str, str, str]


def _by_key(values: Sequence[DifferingValue]) -> dict[_Key, DifferingValue]:
    return {(one.event, one.component, one.output, one.path): one for one in values}


def _change(a: DifferingValue | None, b: DifferingValue | None) -> Change:
    value = b or a
    assert value is not None, "one of the two diverges there"
    before, now = _value(a, value), _value(b, value)
    return Change(
        value.event, value.type, value.component, value.output, value.path, value.expected, before, now
    )


def _is_covered(key: _Key, by: Mapping[_Key, DifferingValue]) -> bool:
    """Return whether one version diverges in a larger value that contains this one, and is itself a difference."""
    event, component, output, path = key
    ends = [path[:end] for end, sign in enumerate(path) if end and sign in ".["]
    return any((event, component, output, end) in by for end in ends)


def _value(own: DifferingValue | None, other: DifferingValue) -> Any:
    """Return a version's value: the recorded one, if it does not diverge."""
    value = other.expected if own is None else own.got
    if isinstance(value, str) and value.startswith(_BY_TODAY):
        return _LINE_OF_CODE.sub(")", value.replace(_BY_TODAY, "the code raises ", 1))
    return value


def _steps(changes: Sequence[Change]) -> list[StepChange]:
    ordered = sorted(changes, key=lambda one: (one.event, one.component))
    return [
        StepChange(event, found[0].type, component, found)
        for (event, component), group in groupby(ordered, key=lambda one: (one.event, one.component))
        if (found := tuple(group))
    ]


def _unchecked(before: Result, now: Result) -> dict[str, int]:
    """Return the unchecked values of either version by reason; a reason common to both counts once."""
    unchecked_steps = {
        reason: max(before.unchecked.get(reason, 0), now.unchecked.get(reason, 0))
        for reason in (*now.unchecked, *before.unchecked)
    }
    for name, one in (("before", before), ("now", now)):
        if left := one.divergences_in_all - len(one.divergences):
            unchecked_steps[f"divergences {name} beyond the first {len(one.divergences)}"] = left
    return unchecked_steps
