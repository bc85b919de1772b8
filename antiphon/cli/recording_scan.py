"""`antiphon recording scan`: a check for likely secrets."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.settings import load
from antiphon_shared.redaction.secret_values import secret_values

from antiphon.annotations import annotation
from antiphon.cli.input_files import text_of
from antiphon.cli.options import Github, RecordingPaths
from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_UNREADABLE,
    Json,
    UsageError,
    command,
    counted,
    print_json,
    print_table,
    refuse,
    stderr,
    stdout,
)
from antiphon.cli.printer import one_line
from antiphon.recording.recording_paths import find_recordings
from antiphon.recording.redaction.allowed import Allowed
from antiphon.recording.redaction.scan import Finding, Scanner
from antiphon.recording.settings import RecordingSettings


@command
def scan(
    paths: RecordingPaths,
    allow: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with allowed findings, each with a reason.")
    ] = None,
    is_personal: Annotated[
        bool, typer.Option("--personal", help="Also report e-mail addresses and payment card numbers.")
    ] = False,
    is_github: Github = False,
    json: Json = False,
) -> int:
    """Search recordings for likely secrets, and fail if there are any.

    Findings are printed masked. The allow-list accepts a finding by its fingerprint, followed by a reason. Exit codes:
    0 no findings; 1 findings; 2 usage error; 3 unreadable.

    \b
    antiphon recording scan tests/recordings --allow allowed.txt
    """
    allowed, files = _allowed(allow), find_recordings(paths)
    scanner = Scanner(secret_values(), is_personal, load(RecordingSettings).rules.keys)
    findings: list[tuple[Path, Finding]] = []
    code = EXIT_DONE
    for file in files:
        try:
            findings += ((file, finding) for finding in allowed.remove_allowed(scanner.file(file)))
        except UnreadableEvent as error:
            code = refuse(error)
        except OSError as error:
            code = refuse(UnreadableEvent(f"{file}: {error.strerror or error}."))
    _show(findings, json, is_github)
    stderr().print(f"{counted(len(files), 'file')}, {counted(len(findings), 'finding')}.", style="dim")
    return EXIT_UNREADABLE if code else EXIT_FAILED if findings else EXIT_DONE


def _show(findings: list[tuple[Path, Finding]], is_json: bool, is_github: bool) -> None:
    if is_json:
        print_json([{"file": str(file), **asdict(finding)} for file, finding in findings])
    elif is_github:
        for file, finding in findings:
            line = one_line(f"{finding.path} {finding.excerpt}; fingerprint {finding.fingerprint}")
            title = f"Likely secret: {finding.kind}"
            stdout().print(annotation("error", line, file=one_line(file), line=finding.line, title=title))
    else:
        rows = (
            (f"{file}:{one.line}", one.kind, one.path, one.excerpt, one.fingerprint) for file, one in findings
        )
        print_table(("where", "kind", "path", "excerpt", "fingerprint"), rows, "No findings.")


def _allowed(path: Path | None) -> Allowed:
    if path is None:
        return Allowed()
    try:
        return Allowed.of(text_of(path, "--allow"))
    except ValueError as error:
        raise UsageError(f"--allow: {one_line(path)} cannot be read: {error}.") from None
