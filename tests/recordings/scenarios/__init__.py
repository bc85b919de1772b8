"""Every session that can be recorded, by its name."""

from tests.recordings import situations
from tests.recordings.scenario import Scenario
from tests.recordings.scenarios import (
    answers,
    child_runs,
    endings,
    faulty,
    memory,
    models,
    outputs,
    people,
    run_faults,
    runs,
    tools,
    writes,
)

_ALL = (
    *(
        one
        for subject in (
            *(
                answers,
                tools,
                writes,
                people,
                models,
                endings,
                memory,
                faulty,
                outputs,
                runs,
                run_faults,
                child_runs,
            ),
        )
        for one in subject.SCENARIOS
    ),
    *situations.SITUATIONS,
)
SCENARIOS: dict[str, Scenario] = {one.name: one for one in _ALL}

assert len(SCENARIOS) == len(_ALL), "names must differ"
