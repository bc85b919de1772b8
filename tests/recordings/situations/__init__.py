"""Situations as data: tables from which sessions are recorded, of which those are kept that coverage needs."""

from tests.recordings.scenario import Scenario
from tests.recordings.situations import (
    answers,
    batches,
    bounds,
    chat,
    drawn,
    endings,
    filing,
    formats,
    forms,
    grants,
    limits,
    models,
    notes,
    people,
    placeholders,
    prompted,
    ranking,
    steps,
    summaries,
    tables,
)

_SUBJECTS = (
    answers,
    batches,
    bounds,
    chat,
    drawn,
    endings,
    filing,
    formats,
    forms,
    grants,
    ranking,
    limits,
    models,
    notes,
    people,
    placeholders,
    steps,
    prompted,
    summaries,
    tables,
)
SITUATIONS: tuple[Scenario, ...] = tuple(one for subject in _SUBJECTS for one in subject.SCENARIOS)
