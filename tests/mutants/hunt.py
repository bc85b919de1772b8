"""Which mutants recordings catch: those of lines that some recording runs, drawn by lot."""

import signal
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

from antiphon_shared.events import COMPONENTS

from antiphon.recording.lines import Line
from antiphon.recording.replaying.replay import Replay
from antiphon.recording.replaying.report import Divergence
from antiphon.recording.verify import verify_lines
from tests.mutants.mutant import Mutant, lines_of, mutants_of

Recordings = Mapping[str, Sequence[Line]]
RECORDINGS_A_MUTANT = 96
"""Recordings in which a mutant changes something that it is held against, the shortest first."""
_LOOKED_AT_MAX = 200
"""Recordings that run a mutant's line, and that are looked through for one in which it changes something."""
_PATIENCE_S = 10
"""Of work, for a mutant that never ends, which is caught thereby: one that is not let work has not given up."""


class _GivenUp(BaseException):
    """Not an error of the mutant's, which the replay would tell of and go on."""


@dataclass(frozen=True)
class Hunted:
    """A mutant that changes what its function returns in some recordings, and whether verifying these finds it."""

    mutant: Mutant
    recording: str
    """In which it was caught, or the last in which it was not."""
    changed_at: frozenset[int]
    """Numbers of the events in whose steps its function returns something else."""
    divergence: Divergence | None = None
    has_raised: bool = False

    @property
    def is_caught(self) -> bool:
        return self.has_raised or self.divergence is not None

    @property
    def is_named_right(self) -> bool:
        """Whether the divergence names the component, and an event in whose step the function is wrong.

        What is filed wrong shows when a briefing has a place for it, or in the answer: not before.
        """
        if self.divergence is None:
            return self.has_raised
        room, event = self.mutant.module.partition(".")[0], self.divergence.event
        if room in COMPONENTS and self.divergence.component != room:
            return False
        return event in self.changed_at or (room != "coordinator" and event > min(self.changed_at))


def hunted(modules: Sequence[str], each: int, recordings: Recordings) -> Iterator[Hunted]:
    """Of each module so many mutants, drawn by lot from those that change what a function returns somewhere."""
    run = lines_run(modules, recordings)
    for module in modules:
        ranked = sorted(mutants_of(module), key=lambda mutant: mutant.rank)
        found = (_hunted(one, run.get((module, one.line), ()), recordings) for one in ranked)
        yield from islice((one for one in found if one is not None), each)


def _hunted(mutant: Mutant, names: Sequence[str], recordings: Recordings) -> Hunted | None:
    """None for a mutant that changes nothing in any recording that was looked at."""
    last: Hunted | None = None
    held = 0
    for name in names[:_LOOKED_AT_MAX]:
        changed_at = _changed_at(mutant, recordings[name])
        if not changed_at:
            continue
        last = _held_against(mutant, name, changed_at, recordings[name])
        held += 1
        if last.is_caught or held == RECORDINGS_A_MUTANT:
            break
    return last


def _changed_at(mutant: Mutant, lines: Sequence[Line]) -> frozenset[int]:
    """Numbers of the events in whose steps the mutant returns something else than the original."""
    replay, differing, at = Replay(), list[None](), set[int]()
    with mutant.beside(lambda: differing.append(None)), _patiently():
        try:
            for line in lines:
                replay.read(line)
                if differing:
                    at.add(replay.newest_step)
                    differing.clear()
        except _GivenUp:
            at.add(replay.newest_step)
    return frozenset(at)


def _held_against(mutant: Mutant, name: str, changed_at: frozenset[int], lines: Sequence[Line]) -> Hunted:
    with mutant.in_place(), _patiently():
        try:
            first = verify_lines(lines).first
        except (Exception, _GivenUp):
            return Hunted(mutant, name, changed_at, has_raised=True)
    return Hunted(mutant, name, changed_at, first)


def lines_run(modules: Sequence[str], recordings: Recordings) -> dict[tuple[str, int], list[str]]:
    """By module and line, the recordings whose replay runs it; the shortest recording first."""
    names = {str(lines_of(module)[0]): module for module in modules}
    run: dict[tuple[str, int], list[str]] = defaultdict(list)
    for name in sorted(recordings, key=lambda name: len(recordings[name])):
        seen: set[tuple[str, int]] = set()
        with _traced(names, seen):
            verify_lines(recordings[name])
        for place in seen:
            run[place].append(name)
    return run


@contextmanager
def _patiently() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise _GivenUp

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, _PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _traced(names: Mapping[str, str], seen: set[tuple[str, int]]) -> Iterator[None]:
    """Notes the lines of the files named that are run."""

    def local(frame: FrameType, what: str, _: Any) -> Any:
        if what == "line":
            seen.add((names[frame.f_code.co_filename], frame.f_lineno))
        return local

    def tracer(frame: FrameType, what: str, _: Any) -> Any:
        return local if frame.f_code.co_filename in names else None

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        yield
    finally:
        sys.settrace(before)
