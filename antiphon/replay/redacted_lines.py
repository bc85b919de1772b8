"""The consistency of redacted recordings.

Digests of briefings and counts of tokens are computed again from the redacted text, so that a redacted recording
verifies like any other. If that is impossible, `replay verify` shows the differences. If today's code decides
differently, the recorded decisions stay: today's decisions would verify.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.lines import Line
from antiphon.recording.redaction.redact import Redaction


def redacted(lines: Sequence[Line], redaction: Redaction) -> list[Line]:
    """Return the redacted lines of one recording."""
    redaction = redaction.anew()
    for line in lines:
        redaction.learn(line)
    new_lines = [redaction.line(line) for line in lines]
    if not redaction.count:
        return new_lines
    # Most recordings do not need today's components.
    from antiphon.replay.update import DecidesDifferently, updated
    from antiphon.replay.verify import verify_lines

    try:
        if verify_lines(lines).result == "diverged":
            return new_lines
        consistent = list(updated(new_lines))
        return consistent if verify_lines(consistent).result != "diverged" else new_lines
    except (DecidesDifferently, UnreadableEvent):
        return new_lines


async def make_consistent(path: Path, lines: AsyncGenerator[Line]) -> str:
    """Make a redacted recording in a file consistent if its session verifies; else return the first divergence."""
    diverges = await _divergence(lines)
    if not diverges:
        await asyncio.to_thread(_rewrite, path)
    return diverges


async def _divergence(lines: AsyncGenerator[Line]) -> str:
    """Return the first divergence of today's code, without values of the session; empty without a divergence."""
    from antiphon.replay.reports.text import headline
    from antiphon.replay.verify import Verification

    checked = Verification()
    try:
        async with aclosing(lines):
            async for line in lines:
                checked.read(line)
        report = checked.report()
    except UnreadableEvent as error:
        return error.message
    return "" if report.first is None else headline(report)


def _rewrite(path: Path) -> None:
    from antiphon.replay.rewriting import rewritten
    from antiphon.replay.update import DecidesDifferently

    try:
        new = rewritten(path)
    except (DecidesDifferently, UnreadableEvent):
        return
    if new is not None and new.report.result != "diverged":
        new.take()
    elif new is not None:
        new.drop()
