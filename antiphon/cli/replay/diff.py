"""`antiphon replay diff`."""

from pathlib import Path
from typing import Annotated

import typer

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    Json,
    UsageError,
    command,
    stdout,
    write_json,
)
from antiphon.recording.files import as_text, read_lines
from antiphon.replay.diff import diff as compare
from antiphon.replay.reports import compared


@command
def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="The first recording.")],
    b: Annotated[
        Path, typer.Argument(metavar="B", help="The second recording, usually of the same question.")
    ],
    json: Json = False,
) -> int:
    """Show the differences between two recordings, without ids and times.

    Exit codes: 0 no differences; 1 they differ; 2 a file is missing; 3 a file is unreadable.

    \b
    antiphon replay diff before.jsonl after.jsonl
    """
    for path in (a, b):
        if not path.is_file():
            raise UsageError(f"{as_text(path)} is not a file. Name two recordings.")
    comparison = compare(read_lines(a), read_lines(b))
    names = as_text(a), as_text(b)
    if json:
        write_json(compared.document(names, comparison))
    else:
        for line in compared.reported(names, comparison):
            stdout().print(line)
    return EXIT_DONE if comparison.is_same else EXIT_FAILED
