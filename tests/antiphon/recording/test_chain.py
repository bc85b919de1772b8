"""Each line of a recording is bound to the one before, so accidental damage to a file is found and named."""

import gzip
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.chain import FIRST, link_of
from antiphon.recording.files import read_lines
from antiphon.recording.lines import Line, encode_line
from antiphon.replay.verify import verify
from antiphon.replay.verify_all import outcome
from tests.antiphon.recording.changed import bound, unbound

Lines = list[bytes]
RECORDINGS = sorted((Path(__file__).parents[2] / "recordings").glob("*.jsonl"))
TAMPERED, REMADE = 300, 100


def test_each_line_holds_its_own_hash_and_that_of_the_line_before(
    courses_path: Path, courses_lines: list[Line]
) -> None:
    previous = FIRST
    for raw, line in zip(courses_path.read_bytes().splitlines(), courses_lines, strict=True):
        link = link_of(raw)
        assert link is not None
        assert (link.is_intact, link.previous, link.line) == (True, previous, encode_line(line))
        previous = link.check


def test_a_line_that_changes_changes_the_chain_in_itself_and_in_the_next_line_alone(
    courses_path: Path,
) -> None:
    before = courses_path.read_bytes().splitlines()
    lines = unbound(courses_path.read_bytes())
    lines[6] = lines[6].replace(b"antiphon", b"antiphoN", 1)
    after = bound(lines).splitlines()
    assert [n for n, (old, new) in enumerate(zip(before, after, strict=True)) if old != new] == [6, 7]


CHANGED, LOST, NO_CHECK = "was changed", "does not follow the previous line", "does not end with a"
ACCIDENTS: dict[str, tuple[Callable[[Lines], Lines], int, str]] = {
    "a letter": (lambda lines: [*lines[:4], lines[4].replace(b"a", b"b", 1), *lines[5:]], 5, CHANGED),
    "a letter of the header": (
        lambda lines: [lines[0].replace(b"models", b"modelz"), *lines[1:]],
        1,
        CHANGED,
    ),
    "the format": (lambda lines: [lines[0].replace(b'"format":2', b'"format":1'), *lines[1:]], 1, CHANGED),
    "white space": (lambda lines: [*lines[:4], lines[4].replace(b":", b": ", 1), *lines[5:]], 5, CHANGED),
    "a line lost": (lambda lines: [*lines[:4], *lines[5:]], 5, LOST),
    "the first line lost": (lambda lines: lines[1:], 1, LOST),
    "a line twice": (lambda lines: [*lines[:5], *lines[4:]], 6, LOST),
    "two lines changed places": (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], 5, LOST),
    "a line of another file": (lambda lines: [*lines[:4], b'{"line":"end"}', *lines[4:]], 5, NO_CHECK),
    "cut off within a line": (lambda lines: [*lines[:4], lines[4][:-9]], 5, NO_CHECK),
    "two lines in one": (lambda lines: [*lines[:4], lines[4] + lines[5], *lines[6:]], 5, CHANGED),
    "no check in the header": (lambda lines: [*unbound(lines[0]), *lines[1:]], 1, NO_CHECK),
    "the hash of the line before": (
        lambda lines: [
            *lines[:4],
            lines[4].replace(b'"previous":"', b'"previous":"0')[:-3] + b'"}',
            *lines[5:],
        ],
        5,
        NO_CHECK,
    ),
}


@pytest.mark.parametrize("accident", ACCIDENTS)
@pytest.mark.parametrize("is_compressed", [False, True])
def test_a_broken_chain_is_named_by_file_and_line(
    courses_path: Path, tmp_path: Path, accident: str, is_compressed: bool
) -> None:
    change, number, message = ACCIDENTS[accident]
    content = b"\n".join(change(courses_path.read_bytes().splitlines())) + b"\n"
    path = tmp_path / "a.jsonl"
    path.write_bytes(gzip.compress(content) if is_compressed else content)
    with pytest.raises(UnreadableEvent) as caught:
        list(read_lines(path))
    assert str(caught.value).startswith(f"{path}, line {number}: the chain is broken: this line {message}")
    assert "antiphon recording check" in str(caught.value)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r\r\n"])
def test_line_ends_are_no_part_of_the_chain(
    courses_path: Path, courses_lines: list[Line], line_end: bytes
) -> None:
    content = courses_path.read_bytes()
    courses_path.write_bytes(content.replace(b"\n", line_end))
    assert list(read_lines(courses_path)) == courses_lines
    courses_path.write_bytes(content.replace(b"\n", line_end).removesuffix(line_end))
    assert list(read_lines(courses_path)) == courses_lines


def test_a_chain_in_a_format_that_has_none_is_refused(courses_path: Path) -> None:
    header, *rest = unbound(courses_path.read_bytes())
    courses_path.write_bytes(bound([header.replace(b'"format":2', b'"format":1'), *rest]))
    with pytest.raises(UnreadableEvent, match="line 1: it has a chain"):
        list(read_lines(courses_path))


def next_draw() -> tuple[int, random.Random]:
    """Return a new seed for each run, which a failing test prints, and its random numbers."""
    seed = random.SystemRandom().randrange(10**6)
    return seed, random.Random(seed)


@cache
def encoded(source: Path) -> list[bytes]:
    """Return the lines of a recording, without their chain."""
    return [encode_line(line) for line in read_lines(source)]


def is_read(path: Path) -> bool:
    try:
        return bool(list(read_lines(path)))
    except UnreadableEvent:
        return False


def test_every_byte_that_changes_by_accident_is_noticed(tmp_path: Path) -> None:
    seed, drawn = next_draw()
    path, unnoticed = tmp_path / "tampered.jsonl", []
    for _ in range(TAMPERED):
        source = drawn.choice(RECORDINGS)
        content = bytearray(bound(encoded(source)))
        place = drawn.randrange(len(content) - 1)  # the end of the last line is not part of the chain
        content[place] ^= drawn.randrange(1, 256)
        path.write_bytes(content)
        if is_read(path):
            unnoticed.append((source.name, place))
    assert not unnoticed, f"seed {seed}"


def test_most_changed_bytes_are_noticed_by_verify_even_with_a_recomputed_chain(tmp_path: Path) -> None:
    """Only changes of irrelevant bytes go unnoticed: texts of tools that were not offered, digits of durations."""
    seed, drawn = next_draw()
    path, unnoticed = tmp_path / "tampered.jsonl", []
    for _ in range(REMADE):
        source = drawn.choice(RECORDINGS)
        lines = list(encoded(source))
        n = drawn.choices(range(len(lines)), [len(line) for line in lines])[0]
        at = drawn.randrange(len(lines[n]))
        lines[n] = lines[n][:at] + bytes([lines[n][at] ^ drawn.randrange(1, 256)]) + lines[n][at + 1 :]
        path.write_bytes(bound(lines))
        report = outcome(path).report
        if report is not None and report.is_same and report.unchecked == verify(source).unchecked:
            unnoticed.append((source.name, n + 1, at))
    assert len(unnoticed) <= REMADE // 10, f"seed {seed}: {unnoticed}"
