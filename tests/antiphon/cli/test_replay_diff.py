"""`antiphon replay diff`: the differences between two recordings."""

from pathlib import Path

import pytest

from antiphon.recording.lines import Line
from tests.antiphon.conftest import InProcess
from tests.antiphon.recording.changed import with_words, written


@pytest.fixture
def pair(courses_lines: list[Line], folder: Path) -> tuple[str, str]:
    written(courses_lines, folder / "a.jsonl")
    written(with_words(courses_lines, "Payments Engineering", "Baking"), folder / "b.jsonl.gz")
    return "a.jsonl", "b.jsonl.gz"


def test_diff_prints_the_first_difference_first_and_exits_1(run: InProcess, pair: tuple[str, str]) -> None:
    done = run("replay", "diff", *pair)
    assert done.exit_code == 1
    first, _, *table = done.stdout.splitlines()
    assert first == (
        "a.jsonl and b.jsonl.gz: 4 places differ, first at event 14: antiphon.tools.completed.v1 of round 2"
    )
    assert table[0].split() == ["A", "B"]
    assert '    - "Payments Engineering"\n    + "Baking"\n' in done.stdout


def test_a_recording_is_the_same_as_itself(run: InProcess, pair: tuple[str, str]) -> None:
    done = run("replay", "diff", "a.jsonl", "a.jsonl")
    assert done.exit_code == 0
    assert done.stdout == "a.jsonl and a.jsonl: same, except for ids and times\n"


def test_json_lists_all_differences(run: InProcess, pair: tuple[str, str]) -> None:
    document = run.json("replay", "diff", *pair)
    assert document["is_same"] is False
    assert document["a"]["rounds"] == 3
    assert [place["a"] for place in document["places"]] == [14, 18, 17, 20]


def test_a_missing_file_exits_2_and_an_unreadable_one_3(
    run: InProcess, pair: tuple[str, str], folder: Path
) -> None:
    (folder / "no.jsonl").write_text("{}\n")
    assert run("replay", "diff", "a.jsonl", "none.jsonl").exit_code == 2
    assert run("replay", "diff", "a.jsonl", "no.jsonl").exit_code == 3
