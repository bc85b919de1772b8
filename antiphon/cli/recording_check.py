"""`antiphon recording check`: the trusted part of recordings whose chain is broken."""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from antiphon_shared.process.errors import AntiphonError, UnreadableEvent

from antiphon.cli.options import RecordingPaths
from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_UNREADABLE,
    Json,
    UsageError,
    command,
    counted,
    print_json,
    refuse,
    stderr,
    stdout,
)
from antiphon.recording.chain import SINCE
from antiphon.recording.files import as_text, naming, raw_lines, read_lines, write_lines
from antiphon.recording.lines import Line
from antiphon.recording.recording_paths import find_recordings
from antiphon.recording.repair import Examination, all_lines, examine
from antiphon.replay.verify_all import explained

_DAMAGES_MAX = 20


@command
def check(
    paths: RecordingPaths,
    repair: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Write the trusted part of the recording to this new file."),
    ] = None,
    keeps_changed: Annotated[
        bool,
        typer.Option("--keep-changed", help="With --repair: also write changed lines, after a confirmation."),
    ] = False,
    is_agreed: Annotated[
        bool, typer.Option("--yes", "-y", help="Keep changed lines without a confirmation.")
    ] = False,
    json: Json = False,
) -> int:
    """Check that recordings are unchanged, and report which part of a damaged one can be trusted.

    The hash chain detects accidental damage, not forgery. The trusted part ends with the last complete step before
    the first damage; `--repair` writes it to a new recording. With `--keep-changed` it writes every readable line,
    for example after a manual edit, and builds a new chain. Exit codes: 0 all intact; 1 one is damaged, even if it
    was repaired; 2 usage error; 3 one is unreadable.

    \b
    antiphon recording check tests/recordings
    antiphon recording check broken.jsonl --repair trusted.jsonl
    """
    files = find_recordings(paths)
    if repair is None and keeps_changed:
        raise UsageError("--keep-changed needs --repair OUT.")
    if repair is not None and (len(files) != 1 or repair.exists() or not repair.parent.is_dir()):
        raise UsageError(
            "--repair needs one recording and a new file.",
            hint="Name one recording, and a file that does not exist.",
        )
    documents: list[dict[str, Any]] = []
    codes = [_check(path, documents.append if json else None) for path in files]
    if json:
        print_json(documents)
    if repair is not None and codes == [EXIT_FAILED]:
        codes.append(_repair(files[0], repair, keeps_changed, is_agreed))
    return max(codes)


def _check(path: Path, add: Callable[[dict[str, Any]], None] | None) -> int:
    """Report on one recording; return the exit code."""
    try:
        raws = raw_lines(path)
        examined = examine(raws) if _has_chain(raws) else None
        if examined is None or examined.is_foreign or not examined.damages:
            with naming(path):
                for _ in read_lines(path):
                    pass
    except UnreadableEvent as error:
        if add is not None:
            add({"path": as_text(path), "error": explained(error, path)})
        return refuse(UnreadableEvent(f"{as_text(path)}: {explained(error, path)}"))
    if add is not None:
        add({"path": as_text(path), **_document(examined)})
    else:
        for line in _lines_of(as_text(path), examined):
            stdout().print(line)
    return EXIT_FAILED if examined is not None and examined.damages else EXIT_DONE


def _repair(path: Path, out: Path, keeps_changed: bool, is_agreed: bool) -> int:
    raws = raw_lines(path)
    lines: Sequence[Line] = examine(raws).trusted
    try:
        if keeps_changed:
            with naming(path):
                lines = list(all_lines(raws))
            if not (is_agreed or _agrees(path)):
                return EXIT_FAILED
        if not lines:
            raise UnreadableEvent(
                f"{as_text(path)}: the header is damaged, so no line can be trusted; nothing was written."
            )
        write_lines(out, lines)
        try:
            for _ in read_lines(out):
                pass
        except UnreadableEvent:
            out.unlink()
            raise
    except AntiphonError as error:
        return refuse(error)
    except OSError as error:
        return refuse(UsageError(f"{as_text(out)}: {error.strerror or error}."))
    stderr().print(f"{counted(len(lines), 'line')} written to {as_text(out)}.", style="dim")
    return EXIT_DONE


def _agrees(path: Path) -> bool:
    if not sys.stdin.isatty():
        stderr().print(
            "Cannot ask for confirmation without a terminal. Use --yes to keep changed lines.", style="dim"
        )
        return False
    return typer.confirm(f"Keep all lines of {as_text(path)} in their current form?", err=True)


def _has_chain(raws: Sequence[bytes]) -> bool:
    """Return whether the format of a recording has a hash chain; an unreadable header counts as damaged."""
    try:
        header = orjson.loads(raws[0])
        return not (
            isinstance(header, dict) and header.get("format") in range(1, SINCE) and "check" not in header
        )
    except (IndexError, orjson.JSONDecodeError):
        return bool(raws)


def _lines_of(path: str, examined: Examination | None) -> Iterable[str]:
    if examined is None:
        yield f"{path}: readable; its format has no hash chain"
    elif not examined.damages:
        yield f"{path}: intact"
    else:
        yield f"{path}: damaged"
        for damage in examined.damages[:_DAMAGES_MAX]:
            event = "" if damage.event is None else f" (event {damage.event})"
            yield f"  line {damage.line}{event} {damage.description}"
        if len(examined.damages) > _DAMAGES_MAX:
            yield f"  and {len(examined.damages) - _DAMAGES_MAX} lines more"
        yield f"  trusted: {_numbers(range(1, examined.events + 1))}"
        yield f"  changed or lost: {_numbers(examined.missing)}"
        yield f"  unchanged, but after the damage: {_numbers(examined.behind)}"


def _document(examined: Examination | None) -> dict[str, Any]:
    if examined is None:
        return {"has_chain": False, "damages": [], "trusted_events": None}
    return {
        "has_chain": True,
        "damages": [
            {"line": one.line, "what": one.description, "event": one.event} for one in examined.damages
        ],
        "trusted_events": examined.events,
        "missing_events": examined.missing,
        "events_behind": examined.behind,
    }


def _numbers(events: Sequence[int]) -> str:
    """Return numbers as ranges: `events 1-4, 6`."""
    if not events:
        return "no event"
    runs: list[list[int]] = []
    for n in events:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    numbers = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    return f"event{'s' * (len(events) > 1)} {numbers}"


assert EXIT_UNREADABLE > EXIT_FAILED > EXIT_DONE, "the worst wins"
