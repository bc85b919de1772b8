"""A tool that fails until a file is there, and writes down each of its runs."""

import os
from pathlib import Path

from antiphon import ToolFailed, tool

_FOLDER = Path(os.environ.get("UNWELL_FOLDER", os.devnull))


@tool(effect="read", retry=1)
def measure(n: int) -> dict[str, str]:
    """Measures a thing."""
    with (_FOLDER / "runs").open("ab") as file:
        file.write(b"run\n")
    if not (_FOLDER / "is-well").exists():
        raise ToolFailed("api_failure", "The instrument does not answer.", "Go on without it.")
    return {"measured": f"thing {n}"}
