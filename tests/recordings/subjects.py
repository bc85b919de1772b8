"""The subjects of scenarios: the modules of a package, each with its `SCENARIOS`."""

from importlib import import_module
from pathlib import Path
from typing import Any


def subjects_in(package: str) -> list[Any]:
    """Return the modules of a package of this folder, in the order of their names."""
    files = sorted(Path(__file__).with_name(package).glob("[a-z]*.py"))
    return [import_module(f"tests.recordings.{package}.{file.stem}") for file in files]
