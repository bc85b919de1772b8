"""Forty rounds: what a round adds and what it costs do not grow with the rounds before it."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

from antiphon_shared.events import BriefingReady
from antiphon_shared.memory.layers import MemoryDelta

from context_synthesizer.session_index import SessionIndex
from tests.context_synthesizer.builders import a_search
from tests.memories import a_round

ROUNDS = 40
QUERY = "Which courses teach MCP, and who teaches them?"
TOPICS = "mcp courses", "mcp teachers", "course prices", "harbour fees", "ferry times"


def file_a_round(session_index: SessionIndex, number: int) -> MemoryDelta:
    """File five passages of four sentences each, on one of a few topics."""
    topic = TOPICS[number % len(TOPICS)]
    passages = [
        (
            f"Page {number}.{n}",
            " ".join(
                f"Note {number}.{n}.{m} on {topic} was written down in room {number * 7 + n + m} of the house."
                for m in range(4)
            ),
        )
        for n in range(5)
    ]
    return session_index.file(
        *a_round(a_search(topic, *passages), round=number, text=f"I read about {topic} [F{number}].")
    )


def test_bytes_appended_per_round_do_not_grow() -> None:
    session_index = SessionIndex(QUERY)
    sizes = [
        len(file_a_round(session_index, n).model_dump_json(exclude_defaults=True))
        for n in range(1, ROUNDS + 1)
    ]
    assert sum(sizes[-10:]) <= 1.3 * sum(sizes[:10])


def test_what_the_log_keeps_of_a_briefing_stays_small() -> None:
    session_index = SessionIndex(QUERY)
    sizes = []
    for number in range(1, ROUNDS + 1):
        file_a_round(session_index, number)
        briefing = session_index.briefing(number + 1, ROUNDS)
        left = session_index.to_summarize(briefing)
        ready = BriefingReady(
            round=number + 1, briefing=briefing.outline, to_summarize=left[1] if left else None
        )
        sizes.append(len(ready.model_dump_json()))
    assert session_index.memory.facts
    assert max(sizes) < 8_000


def test_filing_a_round_calls_no_more_functions_than_before() -> None:
    session_index = SessionIndex(QUERY, 2_000)
    calls = [_calls_of(partial(file_a_round, session_index, number)) for number in range(1, ROUNDS + 1)]
    assert sum(calls[-10:]) <= 1.3 * sum(calls[:10])


def _calls_of(work: Callable[[], object]) -> int:
    """Count the calls of Python functions in it: the cost of a round, without a clock."""
    count = 0

    def counted(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
