"""Every session that can be recorded, by its name."""

from tests.recordings.scenario import Scenario
from tests.recordings.situations import SITUATIONS
from tests.recordings.subjects import subjects_in

_ALL = (*(one for subject in subjects_in("scenarios") for one in subject.SCENARIOS), *SITUATIONS)
SCENARIOS: dict[str, Scenario] = {one.name: one for one in _ALL}

assert len(SCENARIOS) == len(_ALL), "names must differ"
