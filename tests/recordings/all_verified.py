"""Verify every recording in this process; print the lines that ran, and the packages imported, as JSON.

It runs without pytest, so that the process imports only the needs of a verification, and `coverage`.
"""

import json
import sys
from pathlib import Path

from antiphon.recording.files import read_lines
from tests.recordings.folder import FOLDER, recordings_in
from tests.recordings.lines_run import lines_run

EARLIER = Path(__file__).parents[1] / "releases" / "recordings"

if __name__ == "__main__":
    paths = [*recordings_in(FOLDER), *recordings_in(EARLIER)]
    lines = sorted(lines_run(list(read_lines(path)) for path in paths))
    packages = sorted({name.partition(".")[0] for name in sys.modules})
    sys.stdout.write(json.dumps({"lines": lines, "packages": packages}))
