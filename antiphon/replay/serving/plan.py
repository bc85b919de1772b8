"""The plan of a rerun, for its processes."""

from pathlib import Path

from antiphon_shared.values import Value

from antiphon.recording.files import naming, read_lines
from antiphon.replay.serving.exchanges import Match
from antiphon.replay.serving.recording_index import RecordingIndex


class Plan(Value):
    """The address of Redis, the recordings, and the comparison of requests to the model."""

    redis_url: str
    paths: tuple[Path, ...]
    match: Match

    def scores(self) -> dict[str, RecordingIndex]:
        """Return the scores by session. Raises UnreadableEvent, OSError."""
        scores = map(read_score, self.paths)
        return {recording_index.session_id: recording_index for recording_index in scores}


def read_score(path: Path) -> RecordingIndex:
    """Return the score of one recording. Raises UnreadableEvent, which names the file, and OSError."""
    with naming(path):
        return RecordingIndex(read_lines(path))
