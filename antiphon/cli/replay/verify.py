"""`antiphon replay verify`."""

from pathlib import Path
from typing import Annotated

import typer

from antiphon.cli import output
from antiphon.recording.verify import verify as verify_file
from shared.errors import AntiphonError


def verify(paths: Annotated[list[Path], typer.Argument(help="Recordings.")]) -> None:
    """Hold recordings against today's code: no network, no Redis, no model."""
    code = output.EXIT_DONE
    for path in paths:
        try:
            report = verify_file(path)
        except AntiphonError as error:
            code = output.refuse(error)
            continue
        output.stdout().print(f"{path}: {'same' if report.is_same else report.first}")
        code = code or (output.EXIT_DONE if report.is_same else output.EXIT_FAILED)
    raise typer.Exit(code)
