"""Situations as data: tables from which sessions are recorded, of which those are kept that coverage needs."""

from tests.recordings.scenario import Scenario
from tests.recordings.subjects import subjects_in

_SUBJECTS = subjects_in("situations")
SITUATIONS: tuple[Scenario, ...] = tuple(one for subject in _SUBJECTS for one in subject.SCENARIOS)
KEPT = frozenset[str]().union(*(getattr(subject, "NAMES", ()) for subject in _SUBJECTS))
"""Situations that are kept whatever lines they run: the `NAMES` of each subject."""
