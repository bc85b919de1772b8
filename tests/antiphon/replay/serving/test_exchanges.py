"""Recorded calls to a model, found again by what they ask."""

from collections.abc import Callable
from typing import Any

import pytest
from antiphon_shared.events.step_records import ExchangeRecord

from antiphon.recording.lines import Line, RecordLine
from antiphon.replay.requests import request_hash
from antiphon.replay.serving.exchanges import Exchanges, Match, shown
from antiphon.replay.serving.recording_index import Asked, RecordingIndex

Request = dict[str, Any]


@pytest.fixture
def recording_index(courses_lines: list[Line]) -> RecordingIndex:
    return RecordingIndex(courses_lines)


def first_asked(recording_index: RecordingIndex) -> Asked:
    return next(iter(recording_index.exchanges.values())).calls[0]


def test_a_request_gets_what_it_got_then(recording_index: RecordingIndex) -> None:
    exchanges = Exchanges.of(recording_index)
    for exchange in recording_index.exchanges.values():
        for asked in exchange.calls:
            assert exchanges.take(dict(reversed(list(asked.request.items())))) == asked
    assert not exchanges.misses


def test_the_second_time_a_request_comes_it_gets_its_second_answer(courses_lines: list[Line]) -> None:
    lines = [
        line.model_copy(update={"record": twice(line.record)})
        if isinstance(line, RecordLine) and isinstance(line.record, ExchangeRecord)
        else line
        for line in courses_lines
    ]
    recording_index = RecordingIndex(lines)
    exchanges, request = Exchanges.of(recording_index), dict(first_asked(recording_index).request)
    answers = [exchanges.take(request) for _ in range(3)]
    assert [answer.call.duration_ms if answer else None for answer in answers] == [1, 2, None]
    assert "so often" in exchanges.misses[0].asked


def twice(record: ExchangeRecord) -> ExchangeRecord:
    calls = [call.model_copy(update={"duration_ms": n}) for call in record.calls for n in (1, 2)]
    return record.model_copy(update={"calls": tuple(calls)})


def test_a_session_is_given_its_own_answers_alone(recording_index: RecordingIndex) -> None:
    another, own = Exchanges("another-session", []), Exchanges.of(recording_index)
    request = dict(first_asked(recording_index).request)
    assert another.take(request) is None
    assert another.misses[0].session_id == "another-session"
    assert own.take(request) is not None


def spaced(request: Request) -> None:
    request["messages"][0]["content"] = request["messages"][0]["content"].replace("\n", "\n\n ")


def reordered(request: Request) -> None:
    request["tools"] = [
        {key: value for key, value in tool.items() if key != "cache_control"}
        for tool in reversed(request["tools"])
    ]


def shortened(request: Request) -> None:
    request["max_tokens"] = 17


def in_other_words(request: Request) -> None:
    request["messages"][0]["content"] += " Hurry."


def for_another_model(request: Request) -> None:
    request["model"] = "another"


def without_a_tool(request: Request) -> None:
    del request["tools"][0]


@pytest.mark.parametrize(
    ("change", "found_by"),
    [
        (spaced, ["semantic"]),
        (reordered, ["semantic"]),
        (shortened, ["semantic"]),
        (in_other_words, []),
        (for_another_model, []),
        (without_a_tool, []),
    ],
)
def test_what_else_may_differ_is_little(
    change: Callable[[Request], None], found_by: list[Match], recording_index: RecordingIndex
) -> None:
    modes: tuple[Match, ...] = ("strict", "semantic")
    for match in modes:
        original = first_asked(recording_index)
        request = {
            **original.request,
            "messages": [dict(message) for message in original.request["messages"]],
            "tools": list(original.request["tools"]),
        }
        change(request)
        found = Exchanges.of(recording_index, match).take(request)
        assert (found is not None) == (match in found_by)


def test_a_miss_shows_the_nearest_recorded_request(recording_index: RecordingIndex) -> None:
    exchanges = Exchanges.of(recording_index)
    request = {**first_asked(recording_index).request, "max_tokens": 17}
    assert exchanges.take(request) is None
    (miss,) = exchanges.misses
    assert [line for line in miss.diff.splitlines() if line[0] in "+-"][2:] == ["-  4096", "+  17"]


def test_integers_beyond_64_bits_are_told_apart() -> None:
    """However near to each other: as floats they would be the same."""
    one, other = ({"messages": [{"n": n, "m": 1}]} for n in (2**70, 2**70 + 1))
    assert request_hash(one) == request_hash({"messages": [{"m": 1, "n": 2**70}]})
    assert request_hash(one) != request_hash(other)
    assert shown(one) != shown(other)
