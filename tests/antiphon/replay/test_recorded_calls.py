"""The calls of every recording can be listed, with arguments where these are known."""

import pytest

from antiphon.recording.files import read_lines
from antiphon.replay.recorded_calls import batches_of
from tests.antiphon.conftest import ROOT

RECORDINGS = ROOT / "tests/recordings"


@pytest.mark.parametrize("name", ["malformed", "of_no_value", "circles", "many_faults"])
def test_only_calls_that_failed_lack_arguments(name: str) -> None:
    (path,) = RECORDINGS.glob(f"placeholders_{name}.jsonl*")
    calls = [call for batch in batches_of(read_lines(path)) for call in batch]
    failed = [call for call in calls if call.result.status == "error"]
    assert failed
    assert [call.call.id for call in calls if call.arguments is None and call.result.status == "ok"] == []
