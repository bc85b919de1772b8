"""What programs that were killed have left behind."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from antiphon.leftovers import clear_folders, clear_parts, own_folder
from antiphon.recording.files import PART_BEGINS, PART_ENDS
from shared.clock import utc_now


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def dead() -> int:
    """The number of a process that is over."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def aged(path: Path, hours: float = 25) -> Path:
    at = utc_now().timestamp() - hours * 3_600
    os.utime(path, (at, at))
    return path


def of(process: int, folder: Path) -> Path:
    path = folder / f"antiphon-rerun-{process}-abc_1"
    path.mkdir()
    (path / "plan.json").write_text("{}")
    return path


def test_a_folder_of_a_process_that_is_gone_is_deleted_after_a_day(folder: Path, dead: int) -> None:
    path = of(dead, folder)
    clear_folders()
    assert path.exists()
    aged(path)
    clear_folders()
    assert not path.exists()


def test_a_folder_of_a_process_that_lives_stays_however_old_it_is(folder: Path) -> None:
    path = aged(Path(own_folder("redis")))
    clear_folders()
    assert path.parent == folder
    assert path.exists()


def test_what_is_not_ours_by_its_name_or_its_kind_stays(folder: Path, dead: int, tmp_path: Path) -> None:
    named = f"antiphon-rerun-{dead}-abc"
    (folder / "elsewhere").mkdir()
    (folder / named).symlink_to(folder / "elsewhere")
    other = aged(folder / "elsewhere")
    plain = folder / f"antiphon-redis-{dead}-x"
    plain.write_text("a file")
    aged(plain)
    clear_folders()
    assert other.exists()
    assert (folder / named).is_symlink()
    assert plain.exists()


def test_a_file_that_never_took_its_place_is_deleted_after_a_day(tmp_path: Path) -> None:
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


def test_where_there_is_no_folder_nothing_is_cleared(tmp_path: Path) -> None:
    clear_parts(tmp_path / "not-there")
