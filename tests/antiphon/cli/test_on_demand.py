"""Commands are imported when they are asked for, without taking memory again and again."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.antiphon.conftest import clean_environment

DEEP = """
def called():
    return 0

def nested(depth):
    if depth:
        return nested(depth - 1)
    for _ in range(500):
        called()

for depth in range(400):
    nested(depth)
"""
PROGRAM = """
import sys
from resource import RUSAGE_SELF, getrusage
from antiphon.cli.on_demand import _imported
before = getrusage(RUSAGE_SELF).ru_minflt
_imported("deep")
print(getrusage(RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pages are counted by `resource`")
def test_calls_deep_within_an_import_take_no_memory_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text(DEEP)

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )

    assert int(done.stdout) < 300
