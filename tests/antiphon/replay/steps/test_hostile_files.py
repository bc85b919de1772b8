"""A recording is a file of unknown origin: readers end with an error message, never with a traceback."""

import contextlib
import json
from typing import Any

import orjson
from antiphon_shared.process.errors import UnreadableEvent
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.recording.lines import Line, decode_line, encode_line
from antiphon.replay.diff import diff
from antiphon.replay.reports import compared, text
from antiphon.replay.reports.outcome import Outcome
from antiphon.replay.update import DecidesDifferently, updated
from antiphon.replay.verify import verify_lines

_VALUES: list[Any] = [
    None,
    True,
    -1,
    2**70,
    1.5,
    "",
    "\u202e",
    "x" * 5_000,
    [],
    {},
    [[[[]]]],
    {"$content": 1},
]


def _spoiled(lines: list[Line], choose: st.DataObject) -> list[Line]:
    """Drop or replace one value in a line, or move a line."""
    place = choose.draw(st.integers(0, len(lines) - 1))
    match choose.draw(st.sampled_from(["drop", "replace", "swap", "twice"])):
        case "swap":
            other = choose.draw(st.integers(0, len(lines) - 1))
            lines = list(lines)
            lines[place], lines[other] = lines[other], lines[place]
            return lines
        case "twice":
            return [*lines[: place + 1], *lines[place:]]
        case how:
            fields = orjson.loads(encode_line(lines[place]))
            holder, key = choose.draw(st.sampled_from(list(_places(fields))))
            if how == "drop":
                del holder[key]
            else:
                holder[key] = choose.draw(st.sampled_from(_VALUES))
            return [*lines[:place], decode_line(json.dumps(fields).encode()), *lines[place + 1 :]]


def _places(value: Any) -> Any:
    """Yield every part of a JSON value that can be dropped or replaced, as its holder and its key."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_spoiled_recording_is_unreadable_or_differs(
    courses_lines: list[Line], choose: st.DataObject
) -> None:
    with contextlib.suppress(UnreadableEvent):
        spoiled = _spoiled(courses_lines, choose)
        assert list(compared.reported(("a", "b"), diff(courses_lines, spoiled)))
        with contextlib.suppress(DecidesDifferently, UnreadableEvent):
            verify_lines(list(updated(spoiled)))
        assert text.reported(Outcome("a", verify_lines(spoiled)))
