"""Situations as tables, from which sessions are recorded; the recordings that coverage needs are kept."""

from tests.recordings.scenario import Scenario
from tests.recordings.subjects import subjects_in

_SUBJECTS = subjects_in("situations")
SITUATIONS: tuple[Scenario, ...] = tuple(one for subject in _SUBJECTS for one in subject.SCENARIOS)
KEPT = frozenset[str]().union(*(getattr(subject, "NAMES", ()) for subject in _SUBJECTS))
"""Situations whose recordings are always kept: the `NAMES` of each subject."""
