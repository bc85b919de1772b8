"""A counted process writes its calls by place when it is asked to."""

import json
import os
import subprocess
import sys
from pathlib import Path

COUNTED = Path(__file__).parents[2] / "benchmarks" / "counted.py"
PROGRAM = """
import signal
def called(): return len("")
for _ in range(7): called()
signal.raise_signal(signal.SIGUSR1)
"""


def test_calls_are_counted_by_place(tmp_path: Path) -> None:
    """The calls of C functions count for the function that made them."""
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, COUNTED, tmp_path, "program"], env=environment, check=True)
    (written,) = tmp_path.glob("*.json")
    assert json.loads(written.read_text())[f"{tmp_path.name}/program.py: called"] == 7 + 7
