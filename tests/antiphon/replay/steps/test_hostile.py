"""Recordings of any origin end in a report, or in an error that names the unreadable part."""

import asyncio
from functools import cache
from typing import Any

import orjson
from antiphon_shared.process.errors import UnreadableEvent
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.recording.lines import decode_line, encode_line
from antiphon.replay.report import Report
from antiphon.replay.verify import verify_lines
from tests.antiphon.recording.recorded import recorded

ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        1e308,
        10**17,
        "",
        "x",
        "\x00",
        "F1-F9",
        "${calls[0]}",
        [],
        {},
        [[]],
        {"$content": "x"},
        {"$content": {}},
        {"_fields_set": 5},
    ]
)


@cache
def courses() -> list[bytes]:
    return [encode_line(line) for line in asyncio.run(recorded())]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values within."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, item in inner for one in places(item, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], odd: Any, is_dropped: bool) -> None:
    """Put something odd in one place, or leave the place away."""
    for key in path[:-1]:
        value = value[key]
    if is_dropped:
        del value[path[-1]]
    else:
        value[path[-1]] = odd


def verdict(raws: list[bytes]) -> Report | UnreadableEvent:
    try:
        return verify_lines(map(decode_line, raws))
    except UnreadableEvent as error:
        return error


@settings(max_examples=150)
@given(data=st.data())
def test_no_recording_is_too_odd(data: st.DataObject) -> None:
    raws = list(courses())
    for _ in range(data.draw(st.integers(1, 3))):
        n = data.draw(st.integers(0, len(raws) - 1))
        line = orjson.loads(raws[n])
        path = data.draw(st.sampled_from(places(line)))
        if path:
            changed(line, path, data.draw(ODD), data.draw(st.booleans()))
        raws[n] = orjson.dumps(line)
    assert isinstance(verdict(raws), Report | UnreadableEvent)


@settings(max_examples=50)
@given(data=st.data())
def test_lines_may_be_missing_repeated_or_in_another_order(data: st.DataObject) -> None:
    raws = list(courses())
    numbers = data.draw(st.lists(st.integers(0, len(raws) - 1), max_size=4))
    for n in numbers:
        raw = raws.pop(n % len(raws))
        if data.draw(st.booleans()):
            raws.insert(data.draw(st.integers(0, len(raws))), raw)
    assert isinstance(verdict(raws), Report | UnreadableEvent)


def test_a_record_of_very_many_events_is_refused_at_once() -> None:
    raws = [raw.replace(b'"outputs":2', b'"outputs":999999999999') for raw in courses()]
    error = verdict(raws)
    assert isinstance(error, UnreadableEvent)
    assert "names missing events" in error.message
