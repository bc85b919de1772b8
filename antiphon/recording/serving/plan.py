"""What the processes of a rerun are told."""

from pathlib import Path

from antiphon_shared.values import Value

from antiphon.recording.files import naming, read_lines
from antiphon.recording.serving.score import Score


class Plan(Value):
    """Where Redis and the recorded model are, and the recordings."""

    redis_url: str
    model_url: str
    paths: tuple[Path, ...]

    def scores(self) -> dict[str, Score]:
        """By session. Raises UnreadableEvent, OSError."""
        scores = map(read_score, self.paths)
        return {score.session_id: score for score in scores}


def read_score(path: Path) -> Score:
    """One recording. Raises UnreadableEvent, which names the file, and OSError."""
    with naming(path):
        return Score(read_lines(path))
