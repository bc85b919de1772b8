"""The command that renews the recordings makes the same ones, except for ids and times."""

import subprocess
import sys
from pathlib import Path

from antiphon.recording.files import read_lines
from antiphon.replay.diff import diff
from antiphon.replay.differences import Difference
from antiphon.replay.verify import verify
from tests.recordings.folder import FOLDER

NAME = "a_cost_that_nobody_knows"
_CATALOGUE = "catalogue"
"""The hash of the offered tools, which changes with each new field of a contract."""


def test_a_recording_made_again_verifies_and_equals_the_stored_one(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tests.recordings", "--into", str(tmp_path), NAME)
    made = subprocess.run(command, cwd=FOLDER.parents[1], check=False, capture_output=True, text=True)

    assert (made.returncode, made.stderr) == (0, "")
    path = tmp_path / f"{NAME}.jsonl"
    assert verify(path).result == "same"
    assert other_than_kept(path) == []


def other_than_kept(path: Path) -> list[str]:
    """Return the differences between a recording and the stored one of the same name."""
    return [
        f"{place.kind} {one.path}"
        for place in diff(read_lines(path), read_lines(FOLDER / path.name)).event_differences
        for one in place.differences or (Difference("", place.a, place.b),)
        if one.path != _CATALOGUE
    ]
