"""Bounds of shown and read texts and of waits: each met exactly, one below and one above; see also limits.py."""

import json
from collections.abc import Iterator
from typing import Any

from coordinator import outputs, questions
from reasoning_engine import failure, reply
from tests.messages_server import Scripted, Use
from tests.recordings.length_pages import ALL_LENGTHS, text_of
from tests.recordings.name_pages import NAMES_OFTEN, NAMES_ONCE
from tests.recordings.scenario import Scenario, calls, fails, says, use
from tests.recordings.scenarios.outputs import FITS, SCHEMA

_BELOW_AT_ABOVE = (-1, 0, 1)
_SHAPE = {"type": "object", "additionalProperties": {"type": ["string", "array"]}}


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def _longer_error(more: int) -> Scripted:
    return fails(400, "invalid_request_error", text_of(failure._MESSAGE_CHARACTERS_MAX + more))


def _wait(more: int) -> Scripted:
    return fails(429, "rate_limit_error", retry_after=str(int(failure._RETRY_AFTER_MAX_S) + more))


_FAILURES = tuple(make(more) for make in (_longer_error, _wait) for more in _BELOW_AT_ABOVE)

_OF_A_ROUND = 60
_LONG_ANSWER = "\n\n".join(
    f"{text_of(length, 'The mole of Holm ')}\n\n{text_of(length, 'The ferry ', ' seats')} [F1]."
    for length in ALL_LENGTHS
)


def _rounds(tool: str, name: str, values: list[Any]) -> Iterator[Scripted]:
    for at in range(0, len(values), _OF_A_ROUND):
        yield calls(*(Use(name=tool, input={name: value}) for value in values[at : at + _OF_A_ROUND]))


SCENARIOS = (
    Scenario(
        "bounds_of_lengths_in_an_answer",
        "How is the ferry?",
        (calls(use("open_page", name="claims of 2021")), says(_LONG_ANSWER, piece=2_000)),
        options={"citations": "strict"},
        deployment="pages",
    ),
    Scenario(
        "bounds_of_lengths_in_searches",
        "What is there?",
        (*_rounds("find", "query", list(map(text_of, ALL_LENGTHS))), says("Nothing.")),
        options={"max_rounds": 12, "max_tool_calls": 500},
        deployment="pages",
    ),
    Scenario(
        "bounds_of_lengths_in_failures",
        "What fails?",
        (
            calls(use("open_page", name="claims of 2021")),
            *_rounds("fail_at_length", "length", list(ALL_LENGTHS)),
            says("All of it [F1]."),
        ),
        ends="any",
        options={"max_rounds": 12, "max_tool_calls": 500},
        deployment="pages",
    ),
    Scenario(
        "bounds_of_a_refused_answer",
        "Which harbour is it?",
        (*(says(text_of(outputs._ATTEMPT_CHARACTERS + more)) for more in _BELOW_AT_ABOVE), says(FITS)),
        options={"output_schema": SCHEMA, "max_rounds": 6},
        deployment="validating",
    ),
    Scenario(
        "bounds_of_a_question_without_an_answer",
        "Which boat is it?",
        (
            calls(
                *(
                    use("ask_user", question=text_of(questions._QUESTION_CHARACTERS + more, end="?"))
                    for more in _BELOW_AT_ABOVE
                )
            ),
            says("Nobody knows."),
        ),
        options={"interactive": True},
        deployment="pages",
    ),
    Scenario(
        "bounds_of_sources_of_an_answer",
        "Which harbours are there?",
        (
            calls(use("open_page", name="names often"), use("open_page", name="names once")),
            says(json.dumps({"often": list(NAMES_OFTEN), "once": NAMES_ONCE[len(NAMES_OFTEN) + 1 :]})),
            says(json.dumps({"once": NAMES_ONCE})),
        ),
        options={"output_schema": _SHAPE, "max_rounds": 4},
        deployment="pages",
    ),
    Scenario(
        "bounds_of_arguments",
        "What is there to find?",
        (
            calls(
                *(Use(name="find", input={"query": 2 ** (reply._INTEGER_BITS_MAX + more) - 1}) for more in _BELOW_AT_ABOVE),
                *(Use(name="find", input={"query": _nested(reply._DEPTH_MAX + more)}) for more in (-3, -2, *_BELOW_AT_ABOVE)),
                *(Use(name="find", input={"query": "a"}, id="i" * (reply._ID_CHARACTERS_MAX + more)) for more in _BELOW_AT_ABOVE),
                *(Use(name="n" * length, input={}) for length in (63, 64, 65)),
                *(Use(name="n" * (reply._NAME_CHARACTERS_MAX + more), input={}) for more in _BELOW_AT_ABOVE),
                Use(name="find", input={"query": "b"}, id=""),
            ),
            says("Not much."),
        ),
        options={"max_tool_calls": 100},
        deployment="pages",
    ),
    *(
        Scenario(
            f"bounds_of_failures_{n}",
            f"Does it fail at a bound ({n})?",
            (*_FAILURES[at : at + 2], says("It did.")),
            ends="any",
            deployment="impatient",
        )
        for n, at in enumerate(range(0, len(_FAILURES), 2))
    ),
)  # fmt: skip  # tables
NAMES = frozenset(one.name for one in SCENARIOS)
"""Coverage does not distinguish a limit from the next number."""
