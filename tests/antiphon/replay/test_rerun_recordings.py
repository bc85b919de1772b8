"""The project's own recordings, run again: all of them on one pipeline."""

from pathlib import Path

from antiphon.replay.rerun import is_independent, rerun
from tests.messages_server import MessagesServer

RECORDINGS = Path(__file__).parents[2] / "recordings"


async def test_every_recording_ends_in_the_same_response(
    the_real_model: MessagesServer,
) -> None:
    paths = sorted([*RECORDINGS.glob("*.jsonl"), *RECORDINGS.glob("*.jsonl.gz")])
    paths = [path for path in paths if is_independent(path)]
    assert len(paths) > 200
    reports = await rerun(paths)
    different = [report for report in reports if not report.is_same]
    assert not different, different
    # A run has its own clock: deadlines of its calls and waits are those of today.
    first = {Path(report.path).name: report.first for report in reports if report.first is not None}
    assert {name: one for name, one in first.items() if not name.startswith("a_run_")} == {}
    assert not the_real_model.requests
