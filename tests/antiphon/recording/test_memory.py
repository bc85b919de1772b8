"""The part of a long recording that is in memory at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.recording.files import write_lines
from tests.antiphon.conftest import clean_environment
from tests.antiphon.recording.large import large_session
from tests.redis_server import RedisServer

SIZE_BYTES = 60_000_000
GROWTH_BYTES_MAX = 20_000_000
THERE_AND_BACK = """
import asyncio, re, sys
from pathlib import Path
from antiphon.recording.export import export
from antiphon.recording.files import read_lines
from antiphon.recording.hashes import prompt_hashes
from antiphon.recording.import_session import import_session
from antiphon_shared.bus.redis_bus import Bus

def peak_bytes():  # getrusage would tell that of the process this one was forked from, if it is larger
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

async def main(given, folder):
    bus = Bus.from_settings()
    await bus.open()
    prompt_hashes()  # reads the SDK in
    before = peak_bytes()
    session_id = await import_session(bus, read_lines(given))
    imported_bytes = peak_bytes() - before
    await export(bus, session_id, folder)
    print(imported_bytes, peak_bytes() - before)
    await bus.close()

asyncio.run(main(*map(Path, sys.argv[1:])))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells the peak on Linux")
def test_a_long_recording_is_never_in_memory_whole(
    tmp_path: Path, redis_server: RedisServer, namespace: str
) -> None:
    given = tmp_path / "given.jsonl"
    write_lines(given, large_session(SIZE_BYTES))
    where = {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": namespace}
    child = subprocess.run(
        [sys.executable, "-c", THERE_AND_BACK, given, tmp_path / "out"],
        env=clean_environment(**where),
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stderr
    imported_bytes, in_all_bytes = map(int, child.stdout.split())
    assert imported_bytes < GROWTH_BYTES_MAX
    assert in_all_bytes < GROWTH_BYTES_MAX
    exported = (tmp_path / "out" / "large.jsonl").read_bytes()
    assert len(exported) > SIZE_BYTES
    # The header names its writer, and the next line contains its hash; the rest is the same.
    assert exported.split(b"\n", 2)[2] == given.read_bytes().split(b"\n", 2)[2]
