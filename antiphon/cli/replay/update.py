"""`antiphon replay update`."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_UNCHECKED,
    EXIT_UNREADABLE,
    command,
    counted,
    stderr,
    stdout,
)
from antiphon.cli.replay.verify_options import Paths
from antiphon.recording.recording_paths import find_recordings
from antiphon.replay.report import Report
from antiphon.replay.reports import event_changes, text
from antiphon.replay.reports.change_lines import printable
from antiphon.replay.reports.outcome import Outcome
from antiphon.replay.rewriting import Rewritten, rewritten
from antiphon.replay.update import DecidesDifferently
from antiphon.replay.verify_all import explained, outcome

_WORST_FIRST = (EXIT_UNREADABLE, EXIT_FAILED, EXIT_UNCHECKED, EXIT_DONE)
_ANSWERS = {"y": "yes", "n": "no", "a": "all", "q": "quit"}


@command
def update(
    paths: Paths,
    is_agreed: Annotated[
        bool, typer.Option("--yes", "-y", help="Rewrite all without a confirmation.")
    ] = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Show the changes without writing them.")] = False,
) -> int:
    """Rewrite recordings as the current code would write them, after showing every difference.

    Replies of models, results of tools, input of clients and times are kept. The command shows the differences of each
    recording by event and asks for a confirmation. It skips a recording in which the current code makes other
    requests, so that the recorded replies do not fit, or in which a step cannot be compared.

    Exit codes: 0 all are up to date; 1 one was not updated; 2 usage error; 3 one is unreadable; 4 one was not updated
    because it cannot be compared. If several apply, the first of 3, 1, 4, 0.

    \b
    antiphon replay update tests/recordings --dry-run
    """
    asking = _Asking(is_agreed, is_dry)
    codes = [_update(path, asking) for path in find_recordings(paths)]
    asking.summarize()
    return min(codes, key=_WORST_FIRST.index)


class _Asking:
    """The person's decisions whether to rewrite recordings, for each or for all."""

    def __init__(self, is_agreed: bool, is_dry: bool) -> None:
        self._all: bool | None = False if is_dry else True if is_agreed else None
        self._is_warned = is_dry
        self._rewritten = self._left = 0

    def agrees(self, path: str) -> bool:
        """Return whether to rewrite the recording at `path`; ask unless that is decided for all."""
        agrees = self._all
        if agrees is None and sys.stdin.isatty():
            agrees = self._confirm(path)
        elif agrees is None and not self._is_warned:
            stderr().print(
                "Cannot ask for confirmation without a terminal. Use --yes to rewrite.", style="dim"
            )
            self._is_warned = True
        self._rewritten += bool(agrees)
        self._left += not agrees
        return bool(agrees)

    def _confirm(self, path: str) -> bool:
        choices = ", ".join(f"[{key}]{word[1:]}" for key, word in _ANSWERS.items())
        while True:
            choice = typer.prompt(f"Rewrite {path}? {choices}", default="n", show_default=False, err=True)
            answer = choice.strip().lower()[:1]
            if answer in _ANSWERS:
                break
        if answer in "aq":
            self._all = answer == "a"
        return answer in "ya"

    def summarize(self) -> None:
        if self._left:
            stderr().print(
                f"{counted(self._left, 'recording')} would be rewritten; nothing was written.", style="dim"
            )
        if self._rewritten:
            stderr().print(f"{counted(self._rewritten, 'recording')} rewritten.", style="dim")


def _update(path: Path, asking: _Asking) -> int:
    """Show the differences, ask, and rewrite one recording; return the exit code."""
    then = outcome(path)
    try:
        if then.report is not None and then.report.incomparable:
            return _stays(then, _cannot_be_compared(then.report))
        new = None if then.report is None else rewritten(path)
    except DecidesDifferently as error:
        return _stays(then, str(error))
    except UnreadableEvent as error:
        then, new = Outcome(then.path, error=explained(error, path)), None
    except OSError as error:
        then, new = Outcome(then.path, error=f"{error.strerror or error}."), None
    if then.report is None:
        _say(text.reported(then))
        return EXIT_UNREADABLE
    if new is None:
        _say([f"{printable(then.path)}: up to date"])
        return EXIT_DONE
    try:
        return _take(new, then, asking)
    finally:
        new.drop()


def _take(new: Rewritten, then: Outcome, asking: _Asking) -> int:
    """Replace the recording by the new one, if that is complete and the person agrees."""
    if new.report.result == "diverged":
        return _stays(then, f"after an update it would still have {text.headline(new.report)}")
    if new.report.incomparable:
        return _stays(then, f"updated, {_cannot_be_compared(new.report)}")
    _say(event_changes.reported(then.path, new.changes()))
    if not asking.agrees(printable(then.path)):
        return EXIT_FAILED
    new.take()
    return EXIT_DONE


def _cannot_be_compared(report: Report) -> str:
    return f"it cannot be compared with the current code: {text.reasons(report.incomparable)}"


def _stays(then: Outcome, why: str) -> int:
    _say([*text.reported(then), f"  not updated: {printable(why)}"])
    is_unchecked = then.report is not None and then.report.result == "unchecked"
    return EXIT_UNCHECKED if is_unchecked else EXIT_FAILED


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        stdout().print(line)
