"""The folder of recordings, for modules that must not import the product."""

from pathlib import Path

FOLDER = Path(__file__).parent


def recordings_in(folder: Path) -> list[Path]:
    """Return the files of all recordings, sorted."""
    return sorted((*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")))


def name_of(path: Path) -> str:
    """Return the scenario that a file records."""
    return path.name.partition(".")[0]
