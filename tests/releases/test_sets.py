"""One set of recordings for each format and state that was ever written: read, and comparable with today's code."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from antiphon_shared import formats

from antiphon.recording import lines
from antiphon.replay.verify import verify
from tests.rows import each_row

_FOLDER = Path(__file__).parent / "recordings"
SETS = {
    (1, 1): _FOLDER,
    (1, 2): _FOLDER / "of_state_2",
    (2, 2): _FOLDER / "of_state_2_chained",
    (2, 3): _FOLDER / "of_state_3",
    (2, 4): _FOLDER / "of_state_4",
    (2, 5): _FOLDER / "of_state_5",
}
"""Folders by the formats of recordings (antiphon/recording/lines.py) and of sessions (antiphon_shared/formats.py).

A change that raises a format adds a set of a few recordings, made by the commit before it: 56c0a8b, then 0c54630,
then 4dfe47e, then fca46c4, then a906ccf, then af87664.
"""
_BYTES_MAX = 300_000


def _read(path: Path) -> Iterator[dict[str, object]]:
    return map(orjson.loads, path.read_bytes().splitlines())


def test_every_format_and_every_state_before_todays_has_a_set() -> None:
    assert {of for of, _ in SETS} | {lines.FORMAT} == set(range(1, lines.FORMAT + 1))
    assert {state for _, state in SETS} | {formats.FORMAT} == set(range(1, formats.FORMAT + 1))


@pytest.mark.parametrize(("of", "state"), SETS)
def test_a_set_is_small_and_of_one_format_and_state(of: int, state: int) -> None:
    paths = sorted(SETS[of, state].glob("*.jsonl"))
    assert 3 <= len(paths) <= 10
    assert sum(path.stat().st_size for path in paths) < _BYTES_MAX
    for path in paths:
        header, *rest = _read(path)
        assert header["format"] == of
        events = [line["event"] for line in rest if line["line"] == "event"]
        assert {event.get("format", 1) for event in events if isinstance(event, dict)} == {state}


LATER = [path for key, folder in SETS.items() if key != (1, 1) for path in sorted(folder.glob("*.jsonl"))]
"""The recordings of the first format are in test_recordings.py, with their differences."""


@each_row("path", LATER, ids=lambda path: path.stem)
def test_each_is_decided_the_same_today(path: Path) -> None:
    report = verify(path)
    assert (report.is_same, report.answer) == (True, "same"), report.first
