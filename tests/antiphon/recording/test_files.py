"""Files that were written by us, by older and newer versions, by others, or by accident."""

import contextlib
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from antiphon_shared.process.errors import UnreadableEvent
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.recording import files
from antiphon.recording.files import header_of, read_lines, write_lines
from antiphon.recording.lines import Line
from tests.antiphon.recording.changed import bound, unbound
from tests.antiphon.recording.recorded import events

Raw = list[bytes]


@pytest.fixture
def raw(courses_path: Path) -> Raw:
    """Return the lines without their chain, which would report every fault first."""
    return [line + b"\n" for line in unbound(courses_path.read_bytes())]


def changed(line: bytes, **fields: Any) -> bytes:
    return orjson.dumps({**orjson.loads(line), **fields}) + b"\n"


def swapped(lines: Raw) -> Raw:
    at = [n for n, line in enumerate(lines) if line.startswith(b'{"line":"event"')][3:5]
    lines[at[0]], lines[at[1]] = lines[at[1]], lines[at[0]]
    return lines


DEEP = b'{"line":"event","entry":"1-1","n":1,"event":' + b"[" * 600 + b"]" * 600 + b"}\n"
FAULTS: dict[str, tuple[Callable[[Raw], Raw], str]] = {
    "empty": (lambda lines: [], "it is empty"),
    "not JSON": (lambda lines: [*lines[:4], b"my notes\n", *lines[4:]], "line 5: not JSON.* at column 1"),
    "first line not JSON": (lambda lines: [b"my notes\n", *lines], "line 1: not JSON"),
    "JSON of another kind": (lambda lines: [b"[1]\n", *lines], "line 1: not "),
    "no header": (lambda lines: lines[1:], "line 1: the header is missing"),
    "two headers": (lambda lines: [lines[0], *lines], "line 2: a second header"),
    "header not first": (lambda lines: [lines[1], lines[0], *lines[2:]], "line 1: the header is missing"),
    "cut off between lines": (lambda lines: lines[:-1], "the file is incomplete"),
    "cut off within a line": (lambda lines: [*lines[:8], lines[8][:40]], "line 9: "),
    "events in another order": (swapped, "log ids increase"),
    "an event twice": (lambda lines: [*lines[:3], lines[2], *lines[3:]], "log ids increase"),
    "an event missing": (lambda lines: [*lines[:4], *lines[5:]], "numbers increase by one"),
    "a place beyond all logs": (
        lambda lines: [*lines[:2], changed(lines[2], entry=f"{2**64}-0"), *lines[3:]],
        "log ids increase",
    ),
    "more events than there are": (
        lambda lines: [*lines[:-1], changed(lines[-1], events=10**6)],
        "lines were lost or added",
    ),
    "lines behind the end": (lambda lines: [*lines, lines[3]], "follows the end"),
    "another's JSON": (lambda lines: [b'{"a": 1}\n', *lines[1:]], "line 1: not a line of a recording"),
    "a line of tomorrow": (
        lambda lines: [*lines[:3], b'{"line": "dream"}\n', *lines[3:]],
        "line 4: not a line of a recording",
    ),
    "an empty line": (lambda lines: [*lines, b"  \n"], "not JSON"),
    "a NUL byte": (lambda lines: [*lines[:3], b"\0" + lines[3], *lines[4:]], "line 4: not JSON"),
    "Latin-1": (lambda lines: [*lines[:3], b'{"line":"\xe9"}\n', *lines[3:]], "line 4: not JSON"),
    "UTF-16": (lambda lines: [b"".join(lines).decode().encode("utf-16")], "line 1: not JSON"),
    "a line of no known kind": (lambda lines: [lines[0], b'{"line":"poem"}\n', *lines[1:]], "line 2: "),
    "a lone surrogate": (
        lambda lines: [lines[0], b'{"line":"content","hash":"\\ud800","content":1}\n', *lines[1:]],
        "line 2: not JSON",
    ),
    "no number": (
        lambda lines: [lines[0], b'{"line":"content","hash":"1","content":NaN}\n', *lines[1:]],
        "line 2: not JSON",
    ),
    "an event of great depth": (lambda lines: [lines[0], DEEP, *lines[1:]], "line 2: "),
    "an event that is true": (
        lambda lines: [lines[0], b'{"line":"event","n":true,"entry":"1-1","event":{}}\n', *lines[1:]],
        "line 2: ",
    ),
    "a step of which came more than there is": (
        lambda lines: [
            lines[0],
            b'{"line":"record","record":{"kind":"briefing","outputs":999999999,'
            b'"of":"01a2006c-f502-70d3-a2f2-a38fbe97d84c","briefing_tokens":1,"memory_bytes_max":1}}\n',
            *lines[1:],
        ],
        "more than the recording contains",
    ),
}


@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize("fault", FAULTS)
def test_an_invalid_recording_is_refused_with_its_file_and_line(
    raw: Raw, tmp_path: Path, fault: str, is_compressed: bool
) -> None:
    change, message = FAULTS[fault]
    content = bound(line.removesuffix(b"\n") for line in change(list(raw)))
    path = tmp_path / "a.jsonl"
    path.write_bytes(gzip.compress(content) if is_compressed else content)
    with pytest.raises(UnreadableEvent, match=message) as caught:
        list(read_lines(path))
    assert str(caught.value).startswith(str(path))


def test_every_line_before_a_fault_is_read(
    courses_path: Path, courses_lines: list[Line], tmp_path: Path
) -> None:
    path, read = tmp_path / "a.jsonl", list[Line]()
    *others, _ = courses_path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(others))
    with pytest.raises(UnreadableEvent, match="the file is incomplete"):
        read.extend(read_lines(path))

    assert read == courses_lines[:-1]


def test_a_truncated_or_corrupt_compressed_file_is_refused(courses_path: Path, tmp_path: Path) -> None:
    packed = gzip.compress(courses_path.read_bytes())
    path = tmp_path / "a.jsonl.gz"
    spoilt = packed[:300] + bytes(50) + packed[350:]
    for content in (packed[:-4], packed[: len(packed) // 2], packed[:5], packed + b"more", spoilt):
        path.write_bytes(content)
        with pytest.raises(UnreadableEvent, match="line"):
            list(read_lines(path))


def test_a_file_with_any_bytes_changed_is_refused_or_reads_the_same(
    courses_path: Path, courses_lines: list[Line], tmp_path: Path
) -> None:
    """Any content raises only UnreadableEvent."""
    good, path = courses_path.read_bytes(), tmp_path / "spoilt.jsonl"

    @settings(max_examples=150)
    @given(
        st.lists(st.tuples(st.integers(0, len(good)), st.integers(0, 3), st.binary(max_size=3)), min_size=1)
    )
    def check(changes: list[tuple[int, int, bytes]]) -> None:
        content = bytearray(good)
        for at, length, new in changes:
            content[at : at + length] = new
        path.write_bytes(content)
        with contextlib.suppress(UnreadableEvent):
            assert list(read_lines(path)) == courses_lines

    check()


def test_a_line_without_end_is_not_read_whole(
    tmp_path: Path, raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LINE_BYTES_MAX", 10_000)
    path = tmp_path / "a.jsonl"
    path.write_bytes(bound([raw[0].strip()]) + b'"' + b"x" * 10_000)
    with pytest.raises(UnreadableEvent, match="line 2: longer than 10000 bytes"):
        list(read_lines(path))


def test_a_path_that_is_not_a_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.jsonl", tmp_path / "line\nbreak"):
        with pytest.raises(UnreadableEvent, match=str(path)):
            list(read_lines(path))


def test_windows_line_ends_and_a_misleading_file_name_are_accepted(
    courses_path: Path, courses_lines: list[Line], tmp_path: Path
) -> None:
    path = tmp_path / "packed.jsonl"
    path.write_bytes(gzip.compress(courses_path.read_bytes().replace(b"\n", b"\r\n")))
    assert list(read_lines(path)) == courses_lines
    assert header_of(path) == courses_lines[0]


def test_the_same_lines_are_the_same_bytes_compressed_too(courses_lines: list[Line], tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl.gz", tmp_path / "other.jsonl.gz"
    for path in (one, other):
        write_lines(path, courses_lines)
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes()[3:8] == bytes(5), "gzip's header names neither a file nor a time (RFC 1952)"
    assert list(read_lines(one)) == courses_lines


def test_a_recording_may_be_rewritten_while_it_is_read(courses_path: Path, courses_lines: list[Line]) -> None:
    courses_path.chmod(0o640)
    write_lines(courses_path, read_lines(courses_path))
    assert list(read_lines(courses_path)) == courses_lines
    assert courses_path.stat().st_mode & 0o777 == 0o640


def test_a_failed_write_keeps_the_existing_file(courses_path: Path, courses_lines: list[Line]) -> None:
    def torn() -> Iterator[Line]:
        yield events(courses_lines)[0]
        raise UnreadableEvent("torn")

    with pytest.raises(UnreadableEvent):
        write_lines(courses_path, torn())
    assert list(read_lines(courses_path)) == courses_lines
    assert [one.name for one in courses_path.parent.iterdir()] == [courses_path.name]
