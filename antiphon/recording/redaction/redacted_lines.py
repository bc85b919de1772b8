"""Recordings as they may leave this process: without secrets, and consistent all the same.

What followed from words that are gone, digests of briefings and counts of tokens, is made anew from those that stand
there now, so that a redacted recording verifies like any other. Where that cannot be done, `replay verify` tells where.
A session that today's code decides otherwise keeps its decisions: made anew, they would be today's, and verify.
"""

from collections.abc import Sequence
from pathlib import Path

from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.settings import load
from antiphon_shared.redaction.secret_values import secret_values

from antiphon.recording.lines import Line
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.settings import RecordingSettings


def own_redaction() -> Redaction:
    """As the settings of this process say; its own secrets are never told. Raises ConfigurationError."""
    return Redaction.of(load(RecordingSettings).rules, secret_values())


def redacted(lines: Sequence[Line], redaction: Redaction) -> list[Line]:
    """The lines of one recording as they may leave."""
    redaction = redaction.anew()
    for line in lines:
        redaction.learn(line)
    shown = [redaction.line(line) for line in lines]
    if not redaction.count:
        return shown
    from antiphon.recording.update import (  # most recordings need none of today's code
        TakesAnotherWay,
        updated,
    )
    from antiphon.recording.verify import verify_lines

    try:
        if verify_lines(lines).result == "diverged":
            return shown
        consistent = list(updated(shown))
        return consistent if verify_lines(consistent).result != "diverged" else shown
    except (TakesAnotherWay, UnreadableEvent):
        return shown


def make_consistent(path: Path) -> None:
    """The same for a recording that stands in a file, redacted, of a session that verified. Raises OSError."""
    from antiphon.recording.rewriting import rewritten
    from antiphon.recording.update import TakesAnotherWay

    try:
        new = rewritten(path)
    except (TakesAnotherWay, UnreadableEvent):
        return
    if new is not None and new.report.result != "diverged":
        new.take()
    elif new is not None:
        new.drop()
