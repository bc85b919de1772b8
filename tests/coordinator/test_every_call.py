"""What small functions of the coordinator make of values and texts: every_call.json.

After a change that is meant: `python -m tests.coordinator.test_every_call`, and read what it has written.
"""

from pathlib import Path

import pytest

from coordinator import (
    alone,
    approvals,
    child_questions,
    child_runs,
    document,
    limits,
    models,
    offer,
    requests,
)
from coordinator.runs import commands, ending, opening
from coordinator.workflows import begin, names, plan
from tests.kept_forms import Reader, differences, write
from tests.plain_samples import PLAIN
from tests.sampled import readers_of_samples

KEPT = Path(__file__).with_name("every_call.json")
_MODULES = (
    alone,
    approvals,
    child_questions,
    child_runs,
    document,
    limits,
    models,
    offer,
    requests,
    commands,
    ending,
    opening,
    begin,
    names,
    plan,
)
READERS = tuple(reader for module in _MODULES for reader in readers_of_samples(module, PLAIN))


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_each_call_gives_what_it_gave(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
