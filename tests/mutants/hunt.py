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

from antiphon.recording.lines import Line
from antiphon.recording.replaying.replay import Replay
from antiphon.recording.replaying.report import Divergence
from shared.events import COMPONENTS
from tests.mutants.mutant import Mutant, lines_of, mutants_of

Recordings = Mapping[str, Sequence[Line]]
RECORDINGS_A_LINE = 400
"""Recordings that run a line, and that its mutants are held against, the shortest first."""

_PATIENCE_S = 10
"""For a mutant that never ends, which is caught thereby."""


class _GivenUp(BaseException):
    """Not an error of the mutant's, which the replay would tell of and go on."""


@dataclass(frozen=True)
class Caught:
    """How a mutant was found out."""

    recording: str
    divergence: Divergence | None
    """None when it raised instead."""
    is_right: bool
    """Whether the divergence names the component, and an event at which the function had run."""


def drawn(modules: Sequence[str], each: int, recordings: Recordings) -> list[tuple[Mutant, list[str]]]:
    """For each module so many mutants of lines that recordings run, with those recordings."""
    run = lines_run(modules, recordings)
    found = []
    for module in modules:
        ranked = sorted(mutants_of(module), key=lambda mutant: mutant.rank)
        running = [(one, run[one.module, one.line]) for one in ranked if run.get((one.module, one.line))]
        found += [(one, names[:RECORDINGS_A_LINE]) for one, names in islice(running, each)]
    return found


def lines_run(modules: Sequence[str], recordings: Recordings) -> dict[tuple[str, int], list[str]]:
    """By module and line, the recordings whose replay runs it; the shortest recording first."""
    names = {str(lines_of(module)[0]): module for module in modules}
    run: dict[tuple[str, int], list[str]] = defaultdict(list)
    for name in sorted(recordings, key=lambda name: len(recordings[name])):
        seen: set[tuple[str, int]] = set()
        with _traced(names, seen):
            _replayed(recordings[name])
        for place in seen:
            run[place].append(name)
    return run


def hunted(mutant: Mutant, names: Sequence[str], recordings: Recordings) -> Caught | None:
    """How the mutant is caught by the first recording that does; None when it survives them all."""
    for name in names:
        ran: list[None] = []
        ran_at: set[int] = set()
        replay, told = Replay(), 0
        with mutant.in_place(ran), _patiently():
            try:
                for line in recordings[name]:
                    replay.read(line)
                    if len(ran) > told:
                        ran_at.add(replay.newest_step)
                        told = len(ran)
                report = replay.report()
            except (Exception, _GivenUp):
                return Caught(name, None, True)
        if report.first is not None:
            return Caught(name, report.first, _is_right(mutant, report.first, ran_at))
    return None


def _is_right(mutant: Mutant, divergence: Divergence, ran_at: set[int]) -> bool:
    room = mutant.module.partition(".")[0]
    if room in COMPONENTS and divergence.component != room:
        return False
    if room == "coordinator":
        return divergence.event in ran_at
    return bool(ran_at) and divergence.event >= min(ran_at)


@contextmanager
def _patiently() -> Iterator[None]:
    def give_up(*_: object) -> None:
        raise _GivenUp

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _replayed(lines: Sequence[Line]) -> None:
    replay = Replay()
    for line in lines:
        replay.read(line)
    replay.report()


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
