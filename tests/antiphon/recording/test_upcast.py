"""Recordings of formats that were, that are, and that will be."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from antiphon_shared.events import ToolsRequested
from antiphon_shared.formats import Upcaster
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import read_lines
from antiphon.recording.lines import FORMAT, Header, Line, data_in
from antiphon.recording.upcast import UPCASTERS, Upcast
from antiphon.replay.rewriting import rewritten
from antiphon.replay.verify import verify
from tests.antiphon.recording.changed import bound, unbound
from tests.antiphon.recording.recorded import end, events

GOLDEN = Path(__file__).parent / "golden"
Fields = dict[str, Any]


def from_at(fields: Fields) -> Fields:
    """Upcast an event whose field `entry` was called `at`."""
    if fields["line"] != "event":
        return fields
    return {**{name: value for name, value in fields.items() if name != "at"}, "entry": fields["at"]}


def from_letters(fields: Fields) -> Fields:
    """Upcast lines whose kinds were single letters; the header, which names the format, kept its word."""
    return {**fields, "line": WORDS.get(fields["line"]) or {"header": "header"}[fields["line"]]}


WORDS = {"v": "event", "e": "end", "c": "catalogue", "t": "content", "r": "record"}
CHAIN: Mapping[int, Upcaster] = {FORMAT + 1: from_letters, FORMAT + 2: from_at}


def in_format(path: Path, number: int) -> Path:
    """Return the recording as a version of that number, with the formats above, would have written it."""
    lines = [orjson.loads(line) for line in unbound(path.read_bytes())]
    lines[0]["format"] = number
    for fields in lines:
        if fields["line"] == "event" and number < FORMAT + 3:
            fields["at"] = fields.pop("entry")
        if number < FORMAT + 2:
            letters = {word: letter for letter, word in WORDS.items()}
            fields["line"] = letters.get(fields["line"], "header")
    path.write_bytes(bound(map(orjson.dumps, lines)))
    return path


@pytest.mark.parametrize("number", [FORMAT + 1, FORMAT + 2, FORMAT + 3])
def test_a_format_is_carried_over_step_by_step(
    courses_path: Path, courses_lines: list[Line], number: int
) -> None:
    path = in_format(courses_path, number)
    read = list(read_lines(path, Upcast(CHAIN, FORMAT + 3)))
    assert isinstance(read[0], Header)
    assert read[0].format == FORMAT + 3
    assert read[1:] == courses_lines[1:]


def test_an_older_line_keeps_an_integer_beyond_64_bits(courses_path: Path) -> None:
    path = in_format(courses_path, FORMAT + 1)
    large = b'"query":%d' % 10**30
    path.write_bytes(bound(re.sub(rb'"query":"Id[^"]*"', large, raw) for raw in unbound(path.read_bytes())))
    requests = data_in(read_lines(path, Upcast(CHAIN, FORMAT + 3)), ToolsRequested)
    assert 10**30 in [call.arguments.get("query") for data in requests for call in data.calls]


def test_a_newer_format_is_refused_with_the_fix(courses_path: Path) -> None:
    with pytest.raises(UnreadableEvent, match=r"line 1: .*newer Antiphon \(0.1.0\).*Upgrade"):
        list(read_lines(in_format(courses_path, FORMAT + 3)))


@pytest.mark.parametrize("number", [0, -1, "1", True, None, 1.0, [1]])
def test_an_unknown_format_is_refused(courses_path: Path, number: Any) -> None:
    header, *rest = unbound(courses_path.read_bytes())
    courses_path.write_bytes(bound([orjson.dumps({**orjson.loads(header), "format": number}), *rest]))
    with pytest.raises(UnreadableEvent, match="line 1: recordings have no format"):
        list(read_lines(courses_path))


def test_a_line_that_is_not_as_its_format_promised_is_refused(courses_path: Path) -> None:
    path = in_format(courses_path, FORMAT + 1)
    header, *rest = unbound(path.read_bytes())
    content = b"\n".join(rest).replace(b'"line":"v"', b'"line":"x"', 1)
    path.write_bytes(bound([header, *content.splitlines()]))
    with pytest.raises(UnreadableEvent, match=f"cannot be converted from format {FORMAT + 1}"):
        list(read_lines(path, Upcast(CHAIN, FORMAT + 3)))


def test_every_format_before_todays_has_an_upcaster_and_a_recording() -> None:
    assert sorted(UPCASTERS) == list(range(1, FORMAT))
    assert {path.name for path in GOLDEN.glob("*.jsonl")} == {f"format_{n + 1}.jsonl" for n in range(FORMAT)}


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_recording_of_every_format_is_read_and_walked_through(path: Path) -> None:
    """Today's code may decide differently, but it must be able to check the recording."""
    lines = list(read_lines(path))
    assert end(lines).events == len(events(lines)) == 20
    report = verify(path)
    assert (report.events, report.steps["coordinator"]) == (20, 10)


def test_update_converts_a_recording_to_todays_format_and_chain(courses_path: Path) -> None:
    header, *rest = unbound(courses_path.read_bytes())
    before = b"\n".join([header.replace(b'"format":%d' % FORMAT, b'"format":1'), *rest]) + b"\n"
    courses_path.write_bytes(before)
    new = rewritten(courses_path)
    assert new is not None
    assert new.report.is_same
    new.take()
    assert courses_path.read_bytes() == bound([header, *rest])
    assert rewritten(courses_path) is None
