"""Sessions that earlier releases opened and that keep their format; each part of the document changes in one."""

from dataclasses import replace

from tests.recordings.deployments import in_format
from tests.recordings.scenarios import faulty, models, people, tools
from tests.recordings.situations import summaries

_ONCE = {one.name: one for subject in (faulty, models, people, summaries, tools) for one in subject.SCENARIOS}
_OF_RESULTS = ("parallel_reads_and_one_that_fails", "the_same_question_twice_is_answered_from_the_cache")
"""Scenarios whose results have the fields that later formats add to results."""
_OPENED = {
    1: ("a_question_and_an_approval_in_one_batch", *_OF_RESULTS),
    2: (
        "a_question_and_an_approval_in_one_batch",
        "a_plain_write_that_a_crash_left_unknown",
        "a_summary_that_changes_ids",
        "another_model_answers_for_one_that_fails",
    ),
}
"""Scenarios by the earlier format in which they are also recorded."""

SCENARIOS = tuple(
    replace(
        _ONCE[name], name=f"{name}_in_format_{format}", deployment=in_format(_ONCE[name].deployment, format)
    )
    for format, names in _OPENED.items()
    for name in names
)
NAMES = frozenset(one.name for one in SCENARIOS)
"""Coverage does not distinguish the fields of a document."""
