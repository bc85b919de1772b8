"""The command that makes the recordings anew makes the same ones, but for ids and times."""

import subprocess
import sys
from pathlib import Path

from antiphon.recording.diff import diff
from antiphon.recording.files import read_lines
from antiphon.recording.verify import verify
from tests.recordings.folder import FOLDER

NAMES = ("a_cost_that_nobody_knows", "a_plain_write_in_order")


def test_made_anew_a_recording_verifies_and_is_the_kept_one(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tests.recordings", "--into", str(tmp_path), *NAMES)
    made = subprocess.run(command, cwd=FOLDER.parents[1], check=False, capture_output=True, text=True)  # noqa: S603  # our own command

    assert (made.returncode, made.stderr) == (0, "")
    for name in NAMES:
        path = tmp_path / f"{name}.jsonl"
        assert verify(path).result == "same"
        assert list(diff(read_lines(path), read_lines(FOLDER / path.name)).places) == []
