"""The files that killed programs leave behind."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from antiphon_shared.process.clock import utc_now

from antiphon.leftovers import LOCK, OwnFolder, clear_folders, clear_parts
from antiphon.recording.files import PART_BEGINS, PART_ENDS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def aged(path: Path, hours: float = 25) -> Path:
    at = utc_now().timestamp() - hours * 3_600
    os.utime(path, (at, at))
    return path


def test_a_folder_of_a_process_that_was_killed_is_deleted_after_a_day(folder: Path) -> None:
    own = "from antiphon.leftovers import OwnFolder; print(OwnFolder('rerun').path, flush=True)"
    killed = [sys.executable, "-c", f"import os; {own}; os._exit(1)"]
    environment = {**os.environ, "TMPDIR": str(folder)}
    process = subprocess.run(killed, env=environment, stdout=subprocess.PIPE, text=True)
    path = Path(process.stdout.strip())
    assert path.parent == folder
    clear_folders()
    assert path.exists()
    aged(path)
    clear_folders()
    assert not path.exists()


def test_a_folder_of_a_running_process_is_kept_despite_its_age(folder: Path) -> None:
    own = OwnFolder("redis")
    aged(own.path)
    clear_folders()
    assert own.path.parent == folder
    assert own.path.exists()
    own.delete()
    assert list(folder.iterdir()) == []


def test_a_foreign_folder_is_kept_despite_its_name(folder: Path) -> None:
    elsewhere, link = folder / "elsewhere", folder / "antiphon-rerun-abcdefgh"
    elsewhere.mkdir()
    (elsewhere / LOCK).touch()
    aged(elsewhere)
    link.symlink_to(elsewhere)
    plain = folder / "antiphon-redis-abcdefgh"
    plain.write_text("a file")
    named_alike = folder / "antiphon-redis-notebook"
    named_alike.mkdir()
    (named_alike / LOCK).symlink_to(plain)
    results = folder / "antiphon-results-999999999-backup"
    results.mkdir()
    for path in (plain, named_alike, results):
        aged(path)
    clear_folders()
    assert all(path.exists() for path in (elsewhere, link, plain, named_alike, results))


def test_an_unfinished_temporary_file_is_deleted_after_a_day(tmp_path: Path) -> None:
    paths = []
    for _ in range(2):
        descriptor, name = tempfile.mkstemp(prefix=PART_BEGINS, suffix=PART_ENDS, dir=tmp_path)
        os.close(descriptor)
        paths.append(Path(name))
    other = tmp_path / ".somebody.part"
    other.write_text("mine")
    aged(paths[0])
    aged(other)
    clear_parts(tmp_path)
    assert [path.exists() for path in (*paths, other)] == [False, True, True]


def test_clearing_a_missing_folder_does_nothing(tmp_path: Path) -> None:
    clear_parts(tmp_path / "not-there")
    assert list(tmp_path.iterdir()) == []
