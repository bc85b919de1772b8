"""The options that several groups of commands share."""

from pathlib import Path
from typing import Annotated

import typer

RecordingPaths = Annotated[
    list[Path],
    typer.Argument(metavar="PATH...", help="Recordings, or folders of recordings; compressed or not."),
]
Github = Annotated[bool, typer.Option("--github", help="Print annotations for GitHub Actions.")]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="The reason, for the record.")]
