"""The rest of a damaged recording: the trusted and untrusted events, and a recording of the trusted ones."""

from pathlib import Path

import orjson
import pytest
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import EventLine, Line
from antiphon.recording.repair import CHANGED, CUT_OFF, LOST, ONLY_HASH, all_lines, examine
from antiphon.replay.verify import verify
from tests.antiphon.conftest import InProcess

Lines = list[bytes]


@pytest.fixture
def raws(courses_path: Path) -> Lines:
    return courses_path.read_bytes().splitlines()


def at_event(raws: Lines, n: int) -> int:
    return next(place for place, raw in enumerate(raws) if raw.startswith(b'{"line":"event","n":%d,' % n))


def flipped(raws: Lines, place: int, then: bytes, now: bytes) -> Lines:
    assert then in raws[place]
    return [*raws[:place], raws[place].replace(then, now, 1), *raws[place + 1 :]]


def test_all_of_a_whole_recording_is_trusted(raws: Lines, courses_lines: list[Line]) -> None:
    examined = examine(raws)
    assert (examined.damages, examined.missing, examined.behind) == ((), (), ())
    assert list(examined.trusted) == courses_lines


def test_the_steps_completed_before_the_damage_are_trusted(
    raws: Lines, courses_lines: list[Line], tmp_path: Path
) -> None:
    place = at_event(raws, 9)
    examined = examine(flipped(raws, place, b"antiphon", b"antiphoN"))
    [damage] = examined.damages
    assert (damage.line, damage.description) == (place + 1, CHANGED)
    assert 0 < examined.events < 9
    assert examined.missing == tuple(n for n in range(examined.events + 1, 10) if n not in examined.behind)
    assert examined.behind[-1] == 20
    write_lines(tmp_path / "trusted.jsonl", examined.trusted)
    assert verify(tmp_path / "trusted.jsonl").divergences == ()
    assert list(read_lines(tmp_path / "trusted.jsonl"))[:-1] == courses_lines[: len(examined.trusted) - 1]


def test_a_missing_line_is_detected_by_the_next_one(raws: Lines) -> None:
    place = at_event(raws, 9)
    examined = examine([*raws[:place], *raws[place + 1 :]])
    assert [(one.line, one.description) for one in examined.damages] == [(place + 1, LOST)]
    assert 9 in examined.missing


@pytest.mark.parametrize(("then", "now"), [(b'"check":"', b'"chfck":"'), (b'"previous":"', b'"previous" "')])
def test_a_line_with_only_a_damaged_hash_is_trusted(
    raws: Lines, courses_lines: list[Line], then: bytes, now: bytes
) -> None:
    examined = examine(flipped(raws, at_event(raws, 9), then, now))
    if then == b'"check":"':
        assert [one.description for one in examined.damages] == [ONLY_HASH]
        assert list(examined.trusted) == courses_lines
    else:
        assert [one.description for one in examined.damages] == [CHANGED]


@pytest.mark.parametrize("field", [b'"previous":"', b'"check":"'])
def test_a_changed_hash_is_distinguished_from_a_changed_line(
    raws: Lines, courses_lines: list[Line], field: bytes
) -> None:
    place = at_event(raws, 9)
    raw = raws[place]
    at = raw.rindex(field) + len(field)
    digit = b"0" if raw[at : at + 1] != b"0" else b"1"
    examined = examine([*raws[:place], raw[:at] + digit + raw[at + 1 :], *raws[place + 1 :]])
    assert [one.description for one in examined.damages] == [ONLY_HASH]
    assert list(examined.trusted) == courses_lines


def test_the_steps_before_the_cut_of_a_truncated_recording_are_trusted(raws: Lines, tmp_path: Path) -> None:
    examined = examine([*raws[:20], raws[20][:30]])
    assert [one.description for one in examined.damages] == [CHANGED, CUT_OFF]
    write_lines(tmp_path / "trusted.jsonl", examined.trusted)
    assert verify(tmp_path / "trusted.jsonl").events == examined.events


def test_a_recording_without_its_header_has_no_trusted_lines(raws: Lines) -> None:
    assert examine(flipped(raws, 0, b"models", b"modelz")).trusted == ()
    assert examine(raws[1:]).trusted == ()


def test_lines_that_cannot_be_read_are_not_kept(raws: Lines) -> None:
    with pytest.raises(UnreadableEvent, match="line 4: not JSON"):
        list(all_lines([*raws[:3], raws[3].replace(b"{", b"[", 1), *raws[4:]]))


def test_check_names_the_damage_and_repair_writes_the_trusted_lines(
    run: InProcess, raws: Lines, courses_path: Path, tmp_path: Path
) -> None:
    place, out = at_event(raws, 9), str(tmp_path / "out.jsonl")
    assert run("recording", "check", str(courses_path)).exit_code == 0
    courses_path.write_bytes(b"\n".join(flipped(raws, place, b"antiphon", b"antiphoN")) + b"\n")
    done = run("recording", "check", str(courses_path), "--repair", out)
    assert done.exit_code == 1
    assert (
        f"line {place + 1} (event 9) {CHANGED}" in done.stdout or f"line {place + 1} {CHANGED}" in done.stdout
    )
    assert "trusted: events 1-" in done.stdout
    assert "changed or lost: event" in done.stdout
    verified = ("replay", "verify", out)
    assert run(*verified).exit_code == 4, "the decisions of its last step are lost"
    assert run(*verified, "--allow-unchecked", "repaired").exit_code == 0
    [document] = orjson.loads(run("recording", "check", str(courses_path), "--json").stdout)
    assert document["damages"][0]["line"] == place + 1
    assert run("recording", "check", str(courses_path), "--repair", out).exit_code == 2  # it is there


def test_a_manual_edit_is_kept_once_an_operator_agrees(
    run: InProcess, raws: Lines, courses_path: Path, tmp_path: Path
) -> None:
    place, out = at_event(raws, 1), tmp_path / "out.jsonl"
    courses_path.write_bytes(b"\n".join(flipped(raws, place, b"Find a course", b"Find the course")) + b"\n")
    asked = ("recording", "check", str(courses_path), "--repair", str(out), "--keep-changed")
    assert run(*asked).exit_code == 1
    assert not out.exists()
    assert run(*asked, "--yes").exit_code == 1
    events = [line for line in read_lines(out) if isinstance(line, EventLine)]
    assert "Find the course" in events[0].event.model_dump_json()


def test_a_file_without_a_line_of_a_recording_is_unreadable_and_not_damaged(
    run: InProcess, tmp_path: Path
) -> None:
    (tmp_path / "notes.jsonl").write_text('{"hello": 1}\nmy notes\n')
    done = run("recording", "check", str(tmp_path))
    assert (done.exit_code, done.stdout) == (3, "")
    assert "notes.jsonl: line 1: not a line of a recording" in done.stderr


def test_a_format_without_a_chain_is_only_read(run: InProcess) -> None:
    golden = Path(__file__).parent / "golden" / "format_1.jsonl"
    done = run("recording", "check", str(golden))
    assert (done.exit_code, "has no hash chain" in done.stdout) == (0, True)
