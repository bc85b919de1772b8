"""Every session that is recorded, by its name."""

from tests.recordings.scenario import Scenario
from tests.recordings.scenarios import answers, endings, faulty, memory, models, people, tools, writes

_SUBJECTS = (answers, tools, writes, people, models, endings, memory, faulty)
SCENARIOS: dict[str, Scenario] = {one.name: one for subject in _SUBJECTS for one in subject.SCENARIOS}

assert len(SCENARIOS) == sum(len(subject.SCENARIOS) for subject in _SUBJECTS), "names must differ"
