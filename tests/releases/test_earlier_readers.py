"""The release of an earlier format reads every event that is written for its sessions."""

import json
import subprocess
import sys
from pathlib import Path

from antiphon_shared.events import encode
from antiphon_shared.formats import FORMAT

from antiphon.replay.against.trees import import_path
from tests.releases.trees import earlier_tree
from tests.shared.events.examples import EXAMPLES, an_event

READ = """
import json, sys
try:
    from antiphon_shared.events import decode, encode
    from antiphon_shared.events.codec import EVENT_DATA
except ModuleNotFoundError:
    from shared.events import decode, encode
    from shared.events.codec import EVENT_DATA
known = {data.type for data in EVENT_DATA}
for line in sys.stdin:
    if json.loads(line)["type"] in known:  # one that came later goes to no session of an earlier format
        print(encode(decode(line.strip().encode())).decode())
"""


def test_an_earlier_release_reads_every_event_of_its_own_format(tmp_path: Path) -> None:
    earlier = earlier_tree(tmp_path)
    written = [encode(an_event(data).model_copy(update={"format": FORMAT - 1})).decode() for data in EXAMPLES]
    read = subprocess.run(
        [sys.executable, "-P", "-c", READ],
        input="\n".join(written),
        env={"PYTHONPATH": import_path(earlier)},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert read.returncode == 0, read.stderr
    known = {json.loads(line)["type"] for line in read.stdout.splitlines()}
    expected = [json.loads(line) for line in written if json.loads(line)["type"] in known]
    assert list(map(json.loads, read.stdout.splitlines())) == expected
    assert len(known) > 20
