"""The faults of ANTIPHON_FAULTS, as values. Pure.

POINT:ACTION[=SECONDS][WHICH], and more after commas. WHICH selects among the passes of the point:
(empty) the first   @3 the third   @2-4   @every=5   *10% a tenth of them   *10%~7 the same with seed 7
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import cast

from antiphon_shared.faults.points import ACTIONS, POINTS, Action
from antiphon_shared.process.errors import ConfigurationError

SECONDS_MAX = 3_600.0
FAULTS_MAX = 200
_TIMED = ("delay", "freeze")
_QUOTED_CHARACTERS = 80
_FORM = re.compile(
    r"(?P<point>[^:@*=\s]+):(?P<action>[^:@*=\s]+)(?:=(?P<seconds>[0-9.]{1,12}))?"
    r"(?:@(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?|@every=(?P<every>[0-9]{1,9})"
    r"|\*(?P<percent>[0-9.]{1,12})%(?:~(?P<seed>[0-9]{1,9}))?)?"
)
_HINT = (
    "Use POINT:ACTION[=SECONDS] and the occurrences, for example commit.before:kill@3, "
    "tool.before:delay=0.5*10%, reader.read.before:unavailable@2-4, model.before:raise@every=5; "
    "separate several by commas."
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One action at one point, in some of the passes of a process."""

    text: str
    """The fault as written in the setting."""
    point: str
    action: Action
    seconds: float
    """The length of a delay or a freeze; 0 for other actions."""
    strikes: Callable[[int], bool]
    """Returns whether the fault strikes at the n-th pass, from 1."""


def read_faults(text: str) -> tuple[Fault, ...]:
    """Return the faults in a setting, in order. Raises ConfigurationError, which names the mistake."""
    parts = [part for part in map(str.strip, text.split(",")) if part]
    if len(parts) > FAULTS_MAX:
        raise _refused(f"{len(parts)} faults; {FAULTS_MAX} are allowed", "Remove some.")
    return tuple(map(_read, parts))


def _read(text: str) -> Fault:
    quoted = repr(text[:_QUOTED_CHARACTERS])
    form = _FORM.fullmatch(text)
    if form is None:
        raise _refused(f"{quoted} is not a fault", _HINT)
    point = POINTS.get(form["point"])
    if point is None:
        raise _refused(f"{quoted}: the point does not exist", f"There are {', '.join(POINTS)}.")
    if form["action"] not in ACTIONS:
        raise _refused(f"{quoted}: the action does not exist", f"There are {', '.join(ACTIONS)}.")
    action = cast(Action, form["action"])
    if action not in point.actions:
        raise _refused(
            f"{quoted}: {action} is not possible at this point", f"Choose of {', '.join(point.actions)}."
        )
    if (action in _TIMED) != (form["seconds"] is not None):
        hint = f"Write {action}=0.5." if action in _TIMED else f"Write {action} alone."
        raise _refused(f"{quoted}: {'how many' if action in _TIMED else 'it takes no'} seconds", hint)
    seconds = 0.0 if form["seconds"] is None else _number(form["seconds"], SECONDS_MAX, quoted)
    return Fault(text, point.name, action, seconds, _strikes(form, quoted))


def _strikes(form: re.Match[str], quoted: str) -> Callable[[int], bool]:
    if form["every"] is not None:
        every = int(form["every"])
        if not every:
            raise _refused(f"{quoted}: every=0 never occurs", "Use every=1 or more.")
        return lambda n: n % every == 0
    if form["percent"] is not None:
        share = _number(form["percent"], 100.0, quoted) / 100
        seed = f"{form['seed'] or 0} {form['point']}"
        return lambda n: _draw_number(f"{seed} {n}") < share
    first = int(form["first"] or 1)
    last = int(form["last"] or first)
    if not 1 <= first <= last:
        raise _refused(f"{quoted}: invalid occurrences", "Occurrences count from 1, and a range must ascend.")
    return lambda n: first <= n <= last


def _draw_number(text: str) -> float:
    """Return a number from 0 to below 1, which depends only on the text."""
    return int.from_bytes(blake2b(text.encode(), digest_size=6).digest()) / 2**48


def _number(text: str, most: float, quoted: str) -> float:
    """Return the number in a text, which must be above 0 and at most `most`. Raises ConfigurationError."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= most:
        raise _refused(f"{quoted}: {text} is not a number above 0 and up to {most:g}", "Correct it.")
    return number


def _refused(problem: str, hint: str) -> ConfigurationError:
    return ConfigurationError(f"ANTIPHON_FAULTS: {problem}.", hint=hint)
