"""`antiphon replay update`."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from antiphon.cli.output import EXIT_DONE, EXIT_FAILED, EXIT_UNREADABLE, EXIT_USAGE, refuse, stderr, stdout
from antiphon.cli.replay.verify import Paths
from antiphon.recording.found import NoRecordings, found
from antiphon.recording.reports import text
from antiphon.recording.reports.outcome import Outcome
from antiphon.recording.reports.shown import printable
from antiphon.recording.rewriting import Rewritten, rewritten
from antiphon.recording.update import TakesAnotherWay
from antiphon.recording.verify_all import UNREADABLE, explained, outcome, shown


def update(
    paths: Paths,
    is_agreed: Annotated[bool, typer.Option("--yes", "-y", help="Rewrite without asking.")] = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Only show what would be rewritten.")] = False,
) -> None:
    """Rewrite recordings as today's code would have written them, once what differs has been shown.

    Replies of models, results of tools, words of clients and times stay as they were. Where today's code asks for
    something else, so that they are no answer any more, a recording stays as it is. Exits with 1 when one stays that
    is not what today's code would write, and with 3 when one cannot be read.

    \b
    antiphon replay update tests/recordings --dry-run
    """
    try:
        chosen = found(paths)
    except NoRecordings as error:
        refuse(error)
        raise typer.Exit(EXIT_USAGE) from None
    with ExitStack() as unless_taken:
        prepared = [_prepare(path, unless_taken) for path in chosen]
        ready = [one for one in prepared if isinstance(one, Rewritten)]
        codes = [one for one in prepared if isinstance(one, int)]
        code = max(*codes, _take(ready, is_agreed, is_dry), EXIT_DONE)
    raise typer.Exit(code)


def _prepare(path: Path, unless_taken: ExitStack) -> Rewritten | int:
    """Show what differs: the recording to put in its place, or the exit code when there is none to put."""
    then = outcome(path)
    try:
        new = None if then.report is None else rewritten(path)
    except TakesAnotherWay as error:
        return _stays(then, str(error))
    except UNREADABLE as error:
        then, new = Outcome(shown(path), error=explained(error, path)), None
    if then.report is None:
        _say(text.told(then))
        return EXIT_UNREADABLE
    if new is None:
        _say([f"{printable(then.path)}: is as it would be written today"])
        return EXIT_DONE
    unless_taken.callback(new.drop)
    if not new.report.is_same:
        return _stays(then, f"updated, it would still have {text.headline(new.report)}")
    if then.report.is_same:
        _say([f"{printable(then.path)}: decides the same; only what was noted beside it differs"])
    else:
        _say(text.told(then))
    return new


def _take(ready: list[Rewritten], is_agreed: bool, is_dry: bool) -> int:
    """Put the new ones in their places, if that is wanted."""
    if not ready:
        return EXIT_DONE
    count = f"{len(ready)} recording{'s' if len(ready) > 1 else ''}"
    if is_dry or not (is_agreed or _agrees(count)):
        stderr().print(f"{count} would be rewritten; nothing was.", style="dim")
        return EXIT_FAILED
    for new in ready:
        new.take()
    stderr().print(f"{count} rewritten.", style="dim")
    return EXIT_DONE


def _agrees(count: str) -> bool:
    if not sys.stdin.isatty():
        stderr().print("Nobody is there to be asked: --yes rewrites without.", style="dim")
        return False
    return typer.confirm(f"Rewrite {count}?", err=True)


def _stays(then: Outcome, why: str) -> int:
    _say([*text.told(then), f"  stays as it is: {printable(why)}"])
    return EXIT_FAILED


def _say(lines: list[str]) -> None:
    for line in lines:
        stdout().print(line)
