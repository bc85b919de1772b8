"""`antiphon recording`: sessions to files, and back."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from re import fullmatch
from typing import Annotated

import typer
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.collector import freeze_program_objects
from antiphon_shared.process.errors import AntiphonError
from redis.exceptions import NoPermissionError

from antiphon.cli.options import RecordingPaths
from antiphon.cli.output import (
    EXIT_DONE,
    Json,
    UsageError,
    command,
    counted,
    print_json,
    refuse,
    run,
    stderr,
    stdout,
)
from antiphon.cli.printer import one_line
from antiphon.cli.recording_check import check
from antiphon.cli.recording_scan import scan
from antiphon.errors import AlreadyThere, UnknownSession
from antiphon.leftovers import clear_parts
from antiphon.observe import connected
from antiphon.recording.export import Exported, export_session, sessions_since
from antiphon.recording.files import as_text, read_lines
from antiphon.recording.import_session import import_session
from antiphon.recording.recording_paths import find_recordings
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.settings import own_redaction
from antiphon.recording.side_by_side import each, side_by_side
from antiphon.replay.redacted_lines import make_consistent
from antiphon.submission import checked_session_id

app = typer.Typer(
    no_args_is_help=True,
    help="Export sessions to files, check the files, and import them. `antiphon replay` compares "
    "them with the current code.",
)
app.command("scan")(scan)
app.command("check")(check)

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


@app.command("export")
def export_sessions(
    session_ids: Annotated[
        list[str] | None, typer.Argument(metavar="SESSION...", help="The ids of the sessions.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="The directory to write to; created if missing."),
    ] = None,
    is_all: Annotated[bool, typer.Option("--all", help="Export every stored session.")] = False,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Export the sessions opened since then: 90s, 30m, 2h or 7d ago, or an ISO time (UTC).",
        ),
    ] = None,
    is_compressed: Annotated[
        bool, typer.Option("--gz", help="Compress the files: SESSION.jsonl.gz.")
    ] = False,
    json: Json = False,
) -> None:
    """Export sessions as recordings, one file SESSION.jsonl each.

    A recording replaces only an earlier recording of the same session. The recording of an open session ends at its
    latest event. Exit codes: 0 written; 2 unknown session, or the directory cannot be written; 3 cannot connect to
    Redis, or a session is unreadable. If one of several sessions fails, the others are still written.

    \b
    antiphon recording export ID -o recordings
    antiphon recording export --since 2h -o recordings --gz
    antiphon replay verify recordings/ID.jsonl
    """
    run(_export(session_ids or [], folder, is_all, since, is_compressed, json))


@app.command("import")
@command
async def import_recordings(
    paths: RecordingPaths,
    json: Json = False,
) -> int:
    """Import recordings into Redis for inspection: no component continues to work on them.

    Use a separate Redis or namespace. The import needs an administrator's rights: the users of `antiphon redis acl`
    cannot write whole sessions. Imported sessions expire after ANTIPHON_BUS_RETENTION_S. To import a recording again
    changes nothing. Exit codes: 0 imported; 2 the session exists with other content; 3 unreadable, or cannot connect
    to Redis.

    \b
    ANTIPHON_NAMESPACE=look antiphon recording import recordings
    ANTIPHON_NAMESPACE=look antiphon sessions show ID
    """
    files = find_recordings(paths)
    freeze_program_objects()
    done: list[dict[str, str]] = []
    code = EXIT_DONE
    async with (
        connected() as bus,
        aclosing(side_by_side(each(files), partial(_import_file, bus))) as imported,
    ):
        with _progress() as tell:
            async for file, future in imported:
                try:
                    session_id = future.result()
                except AntiphonError as error:
                    code = refuse(error)
                    continue
                done.append({"session_id": session_id, "path": as_text(file)})
                tell(f"{len(done)} of {len(files)} imported")
                if not json:
                    stdout().print(session_id)
    if json:
        print_json(done)
    return code


async def _export(
    session_ids: list[str],
    folder: Path | None,
    is_all: bool,
    since: str | None,
    is_compressed: bool,
    is_json: bool,
) -> int:
    if bool(session_ids) + is_all + (since is not None) != 1:
        raise UsageError("export needs session ids, --all or --since, and only one of them.")
    if folder is None:
        raise UsageError(
            "no output directory was given.", hint="Name a directory, for example -o recordings."
        )
    earliest = None if since is None else moment(since, utc_now())
    for session_id in session_ids:
        checked_session_id(session_id)
    freeze_program_objects()
    await asyncio.to_thread(clear_parts, folder)
    written: list[Exported] = []
    code = EXIT_DONE
    async with connected() as bus:
        chosen = each(list(dict.fromkeys(session_ids))) if session_ids else sessions_since(bus, earliest)
        write = partial(_export_one, bus, folder, own_redaction(), is_compressed)
        async with aclosing(side_by_side(chosen, write)) as exported:
            with _progress() as tell:
                async for _, future in exported:
                    try:
                        one = future.result()
                    except AntiphonError as error:
                        # With --all, an unknown session has expired meanwhile.
                        if session_ids or not isinstance(error, UnknownSession):
                            code = refuse(error)
                        continue
                    written.append(one)
                    tell(f"{len(written)} written")
                    _show(one, is_json)
    if is_json:
        print_json([_as_json(one) for one in written])
    else:
        megabytes = sum(one.bytes for one in written) / 1e6
        stderr().print(f"{counted(len(written), 'recording')}, {megabytes:.1f} MB.", style="dim")
    return code


async def _export_one(
    bus: Bus, folder: Path, redaction: Redaction, is_compressed: bool, session_id: str
) -> Exported:
    try:
        return await export_session(bus, session_id, folder, redaction, is_compressed, make_consistent)
    except OSError as error:
        raise UsageError(
            f"{one_line(error.filename or folder)}: {error.strerror or error}.",
            hint="Check the free disk space and your write permission.",
        ) from None


def _show(one: Exported, is_json: bool) -> None:
    if not is_json:
        stdout().print(as_text(one.path))
    if not one.is_answered:
        stderr().print(
            f"Session {one.session_id} has no answer yet: its recording ends at its latest event.",
            style="yellow",
        )
    if one.diverges:
        stderr().print(
            f"Session {one.session_id} does not verify: {one.diverges}. Its redacted recording keeps "
            "the recorded decisions and does not verify either.",
            style="yellow",
        )


async def _import_file(bus: Bus, file: Path) -> str:
    try:
        try:
            return await import_session(bus, read_lines(file))
        except AlreadyThere:  # perhaps just imported from another file, which may have the same content
            return await import_session(bus, read_lines(file))
    except NoPermissionError as error:
        raise UsageError(
            f"Redis: {error}.", hint="Import with an administrator's rights, or into a separate Redis."
        ) from None


def moment(text: str, now: datetime) -> datetime:
    """Return a time given as an age or in ISO form, in UTC if it names no zone. Raises UsageError."""
    try:
        if ago := fullmatch(r"(\d{1,9})([smhd])", text.strip()):
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        time = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise UsageError(
            f"--since: {one_line(text, 60)!r} is not a time.",
            hint="Use for example 2h, 7d, or 2026-11-21T12:00.",
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the progress in a line, on a terminal that shows no other output."""
    console = stderr()
    if not console.is_terminal or stdout().is_terminal:
        yield lambda text: None
        return
    with console.status("") as status:
        yield lambda text: status.update(text)


def _as_json(one: Exported) -> dict[str, object]:
    return {**asdict(one), "path": as_text(one.path)}
