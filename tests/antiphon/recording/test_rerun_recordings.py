"""The project's own recordings, run again across five processes: all of them on one pipeline."""

from pathlib import Path

from antiphon.recording.rerun import rerun
from tests.messages_server import MessagesServer
from tests.redis_server import require_redis_server

RECORDINGS = Path(__file__).parents[2] / "recordings"


async def test_every_recording_ends_in_the_same_response_across_five_processes(
    the_real_model: MessagesServer,
) -> None:
    paths = sorted([*RECORDINGS.glob("*.jsonl"), *RECORDINGS.glob("*.jsonl.gz")])
    assert paths
    require_redis_server()
    reports = await rerun(paths, has_processes=True)
    different = [report for report in reports if not report.is_same]
    assert not different, different
    assert [report.first for report in reports if report.first is not None] == []
    assert not the_real_model.requests
