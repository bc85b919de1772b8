"""Recorded calls to a model, found again by their requests."""

from collections.abc import Callable
from typing import Any

import pytest
from antiphon_shared.events.step_records import ExchangeRecord

from antiphon.recording.lines import Line, RecordLine
from antiphon.replay.requests import request_hash
from antiphon.replay.serving.exchanges import Exchanges, Miss, request_lines
from antiphon.replay.serving.recording_index import RecordedRequest, RecordingIndex

Request = dict[str, Any]


@pytest.fixture
def recording_index(courses_lines: list[Line]) -> RecordingIndex:
    return RecordingIndex(courses_lines)


def exchanges_of(recording_index: RecordingIndex, misses: list[Miss]) -> Exchanges:
    calls = (call for one in recording_index.exchanges.values() for call in one.calls)
    return Exchanges(recording_index.session_id, calls, misses)


def first_asked(recording_index: RecordingIndex) -> RecordedRequest:
    return next(iter(recording_index.exchanges.values())).calls[0]


def test_a_request_gets_its_recorded_exchange(recording_index: RecordingIndex) -> None:
    misses: list[Miss] = []
    exchanges = exchanges_of(recording_index, misses)
    for exchange in recording_index.exchanges.values():
        for asked in exchange.calls:
            assert exchanges.take(dict(reversed(list(asked.request.items())))) == asked
    assert not misses


def test_a_repeated_request_gets_its_second_answer(courses_lines: list[Line]) -> None:
    lines = [
        line.model_copy(update={"record": twice(line.record)})
        if isinstance(line, RecordLine) and isinstance(line.record, ExchangeRecord)
        else line
        for line in courses_lines
    ]
    recording_index = RecordingIndex(lines)
    misses: list[Miss] = []
    exchanges, request = exchanges_of(recording_index, misses), dict(first_asked(recording_index).request)
    answers = [exchanges.take(request) for _ in range(3)]
    assert [answer.call.duration_ms if answer else None for answer in answers] == [1, 2, None]
    assert "so often" in misses[0].request


def twice(record: ExchangeRecord) -> ExchangeRecord:
    calls = [call.model_copy(update={"duration_ms": n}) for call in record.calls for n in (1, 2)]
    return record.model_copy(update={"calls": tuple(calls)})


def test_a_session_gets_only_its_own_answers(recording_index: RecordingIndex) -> None:
    misses: list[Miss] = []
    another, own = Exchanges("another-session", [], misses), exchanges_of(recording_index, [])
    request = dict(first_asked(recording_index).request)
    assert another.take(request) is None
    assert misses[0].session_id == "another-session"
    assert own.take(request) is not None


def in_other_words(request: Request) -> None:
    request["messages"][0]["content"] += " Hurry."


def for_another_model(request: Request) -> None:
    request["model"] = "another"


def without_a_tool(request: Request) -> None:
    del request["tools"][0]


@pytest.mark.parametrize("change", [in_other_words, for_another_model, without_a_tool])
def test_a_request_that_differs_was_not_recorded(
    change: Callable[[Request], None], recording_index: RecordingIndex
) -> None:
    original = first_asked(recording_index)
    request = {
        **original.request,
        "messages": [dict(message) for message in original.request["messages"]],
        "tools": list(original.request["tools"]),
    }
    change(request)
    assert exchanges_of(recording_index, []).take(request) is None


def test_a_miss_shows_the_nearest_recorded_request(recording_index: RecordingIndex) -> None:
    misses: list[Miss] = []
    exchanges = exchanges_of(recording_index, misses)
    request = {**first_asked(recording_index).request, "max_tokens": 17}
    assert exchanges.take(request) is None
    (miss,) = misses
    assert [line for line in miss.diff.splitlines() if line[0] in "+-"][2:] == ["-  4096", "+  17"]


def test_integers_beyond_64_bits_are_distinguished() -> None:
    """The numbers are so close to each other that they are equal as floats."""
    one, other = ({"messages": [{"n": n, "m": 1}]} for n in (2**70, 2**70 + 1))
    assert request_hash(one) == request_hash({"messages": [{"m": 1, "n": 2**70}]})
    assert request_hash(one) != request_hash(other)
    assert request_lines(one) != request_lines(other)
