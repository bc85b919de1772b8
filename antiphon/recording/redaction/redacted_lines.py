"""Redacted recordings that are still consistent.

Digests of briefings and counts of tokens are computed anew from the redacted text, so that a redacted
recording verifies like any other. Where that is impossible, `replay verify` shows the differences. A session
that today's code decides differently keeps its decisions: new ones would be today's, and verify.
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
    """Return the redaction of this process's settings, which hides its own secrets. Raises ConfigurationError."""
    return Redaction.of(load(RecordingSettings).rules, secret_values())


def redacted(lines: Sequence[Line], redaction: Redaction) -> list[Line]:
    """Return the redacted lines of one recording."""
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
    """Make a redacted recording in a file consistent, if its session verified. Raises OSError."""
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
