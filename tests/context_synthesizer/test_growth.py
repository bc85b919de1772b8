"""The additions and the cost of a round stay constant over any number of rounds."""

import sys
from collections.abc import Callable
from functools import partial
from random import Random
from statistics import median
from types import FrameType
from typing import Any

import pytest
from antiphon_shared.events import BriefingReady, ReasoningCompleted, ToolsCompleted
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


def test_the_logged_outline_of_a_briefing_stays_small() -> None:
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


@pytest.mark.parametrize("tokens_max", [2_000, 8_000])
def test_a_late_round_costs_little_more_than_an_early_one(tokens_max: int) -> None:
    """Counted are bytecode instructions, so that the passes of a comprehension count too.

    The middle one of three rounds counts, without those that compute all scores anew, which are ever fewer.
    """
    random, session_index = Random(1), SessionIndex(QUERY, tokens_max)
    steps = dict.fromkeys((18, 19, 20, 98, 99, 100), 0)
    for number in range(1, 101):

        def a_whole_round(number: int = number) -> None:
            session_index.file(*_a_round_of_many_words(random, number))
            session_index.briefing(number + 1, 200)

        if number in steps:
            steps[number] = _steps_of(a_whole_round)
        else:
            a_whole_round()
    counts = list(steps.values())
    assert median(counts[3:]) <= 1.5 * median(counts[:3])


def _a_round_of_many_words(random: Random, number: int) -> tuple[ReasoningCompleted, ToolsCompleted]:
    """Return a search with five passages of four sentences, whose words are common or rare, as those of a text."""

    def say(count: int) -> str:
        return " ".join(f"word{int(3_000 * random.random() ** 3)}" for _ in range(count))

    passages = [(say(2), ". ".join(say(12) for _ in range(4)) + ".") for _ in range(5)]
    return a_round(a_search(say(4), *passages), round=number, text=f"I read on [F{5 * number}].")


def _steps_of(work: Callable[[], object]) -> int:
    """Return the number of bytecode instructions that it takes."""
    count = 0

    def counted(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


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
