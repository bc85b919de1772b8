"""The verification of recordings with today's code."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import naming, read_batches, read_lines
from antiphon.recording.lines import Line, RecordLine
from antiphon.replay.envelopes import Envelopes
from antiphon.replay.report import Report
from antiphon.replay.steps.repeat import Replay
from antiphon.replay.steps.replay_state import COMPONENT_OF

_DECIDING: tuple[Component, ...] = ("coordinator", "tool_dispatcher")
_BRIEFING: tuple[Component, ...] = ("context_synthesizer", "reasoning_engine", "response_assembler")
"""Two groups of components; no step needs a step of the other group."""


def verify(path: Path, only: Collection[Component] = COMPONENTS) -> Report:
    """Verify one recording with today's code, or only the steps of some components.

    Raises UnreadableEvent, which names the file, and OSError.
    """
    with naming(path):
        report = _same_by_group(path) if set(only) == set(COMPONENTS) else None
        return verify_lines(read_lines(path), only) if report is None else report


def verify_lines(lines: Iterable[Line], only: Collection[Component] = COMPONENTS) -> Report:
    """Verify the lines of a recording. Raises UnreadableEvent."""
    verification = Verification(only)
    for line in lines:
        verification.read(line)
    return verification.report()


class Verification:
    """A verification, line by line."""

    def __init__(self, only: Collection[Component] = COMPONENTS) -> None:
        self._envelopes, self._replay = Envelopes(), Replay(only=only)

    def read(self, line: Line) -> None:
        """Add the next line. Raises UnreadableEvent."""
        self._envelopes.check(line)
        self._replay.read(line)

    def report(self) -> Report:
        """Return the result. Raises UnreadableEvent when the recording is not whole."""
        return self._replay.report()


def _same_by_group(path: Path) -> Report | None:
    """Return the report if every step is the same, else None.

    The steps of each group are repeated for a batch of lines at a time, so that its code and values stay in the
    processor's caches. A difference or an error may change how a step of the other group counts, so only the
    verification in order reports those.
    """
    envelopes, components = Envelopes(), dict[str, None]()
    deciding, briefing = Replay(only=_DECIDING), Replay(only=_BRIEFING)
    try:
        for lines in read_batches(path):
            for line in lines:
                envelopes.check(line)
            for replay in (deciding, briefing):
                for line in lines:
                    replay.read(line)
            while briefing.content.forgotten:
                deciding.content.forget(briefing.content.forgotten.pop())
            if not (deciding.is_same and briefing.is_same) or deciding.decisions.takes_answers:
                return None
            kinds = (line.record.kind for line in lines if isinstance(line, RecordLine))
            components.update((COMPONENT_OF[kind], None) for kind in kinds if kind in COMPONENT_OF)
        decided, briefed = deciding.report(), briefing.report()
    except UnreadableEvent:
        return None
    counts = {**decided.steps, **briefed.steps}
    answer = briefed.answer if deciding.runs is None else decided.answer
    if not (decided.is_same and briefed.is_same and counts) or answer == "unknown":
        return None
    return replace(briefed, steps={name: counts[name] for name in components}, answer=answer)
