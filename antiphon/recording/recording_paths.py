"""The recordings at the paths that a person names: files, and folders with all recordings in them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from antiphon_shared.process.errors import ConfigurationError

ENDINGS = (".jsonl", ".jsonl.gz")


class NoRecordings(ConfigurationError):
    """A path leads to no recording."""

    code = "no_recordings"


def find_recordings(paths: Iterable[Path]) -> list[Path]:
    """Return the recordings at `paths`, each once; the recordings of a folder are sorted, without hidden files.

    Raises NoRecordings if a path does not exist, or if a folder contains no recordings.
    """
    return list(dict.fromkeys(one for path in paths for one in _paths_at(path)))


def _paths_at(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        if not path.exists():
            raise NoRecordings(f"{path} does not exist.", hint="Name recordings, or folders with recordings.")
        yield path
        return
    inside = sorted(one for one in path.rglob("*.jsonl*") if _is_recording(one.relative_to(path), one))
    if not inside:
        raise NoRecordings(
            f"{path} contains no recordings.", hint=f"The names of recordings end in {' or '.join(ENDINGS)}."
        )
    yield from inside


def _is_recording(inside: Path, path: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in inside.parts)
    return inside.name.endswith(ENDINGS) and not is_hidden and path.is_file()
