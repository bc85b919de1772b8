"""The output and the exit codes of `antiphon replay verify`."""

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from antiphon.cli.replay.verify_options import exit_code_of
from antiphon.recording.lines import End, EventLine, Header, Line, RecordLine
from tests.antiphon.conftest import LIMIT_S, InProcess, clean_environment
from tests.antiphon.recording.changed import with_words, written


@pytest.fixture
def recordings(courses_lines: list[Line], folder: Path) -> Path:
    """Return a folder with one recording of each kind, each also reachable by itself."""
    inside = folder / "recordings"
    inside.mkdir()
    written(courses_lines, inside / "a.jsonl.gz")
    written(with_words(courses_lines, '"notice":""', '"notice":"Hurry."'), inside / "b.jsonl")
    written(courses_lines[:-1], inside / "c.jsonl")
    return inside


def test_recordings_that_are_the_same_take_a_line_each_and_exit_with_0(
    run: InProcess, recordings: Path
) -> None:
    done = run("replay", "verify", "recordings/a.jsonl.gz")
    assert done.exit_code == 0
    assert done.stdout.startswith("recordings/a.jsonl.gz: same, 20 events, 19 steps")
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr.startswith("1 recording: 1 same; 19 steps of 20 events")


def test_a_divergence_is_shown_and_exits_with_1(run: InProcess, recordings: Path) -> None:
    done = run("replay", "verify", "recordings/a.jsonl.gz", "recordings/b.jsonl")
    assert done.exit_code == 1
    assert "recordings/b.jsonl: diverged at event 4 (antiphon.briefing.ready.v1)" in done.stdout
    assert '    - "Hurry."\n    + ""\n' in done.stdout


def test_an_unreadable_recording_is_reported_despite_a_divergence(run: InProcess, recordings: Path) -> None:
    done = run("replay", "verify", "recordings")
    assert done.exit_code == 3
    assert (
        "recordings/c.jsonl: unreadable: line 43: the end line is missing: the file is incomplete."
        in done.stdout
    )
    assert done.stderr.startswith("3 recordings: 1 diverged, 1 same, 1 unreadable")


@pytest.mark.parametrize(
    ("result", "allowed", "code"),
    [
        ("same", "", 0),
        ("unchecked", "an early release", 0),
        ("unchecked", "", 4),
        ("unreadable", "an early release", 3),
        *((result, "an early release", 1) for result in ("diverged", "changed", "differs")),
    ],
)
def test_every_form_of_verify_exits_by_the_worst_result(result: str, allowed: str, code: int) -> None:
    assert exit_code_of(result, allowed) == code


@pytest.fixture
def unrecorded(courses_lines: list[Line], folder: Path) -> Path:
    """Return a session of which no step was recorded: its events alone."""
    bare = [one for one in courses_lines[:-1] if not isinstance(one, RecordLine)]
    return written([*bare, End(events=20, records=0)], folder / "bare.jsonl")


@pytest.mark.usefixtures("unrecorded")
def test_unchecked_steps_exit_with_4_and_with_0_given_a_reason(run: InProcess) -> None:
    done = run("replay", "verify", "bare.jsonl")
    assert done.exit_code == 4
    assert done.stdout.startswith("bare.jsonl: not checked whole, 20 events, 0 steps checked (none), 19 not")
    assert "steps checked: none; not checked: coordinator 10, reasoning_engine 3" in done.stderr
    allowed = run("replay", "verify", "bare.jsonl", "--allow-unchecked", "recorded by hand")
    assert allowed.exit_code == 0
    assert "(allowed: recorded by hand)" in allowed.stdout
    assert "unchecked steps are allowed: recorded by hand" in allowed.stderr


@pytest.mark.usefixtures("unrecorded", "recordings")
def test_a_divergence_determines_the_exit_code_despite_unchecked_recordings(run: InProcess) -> None:
    assert run("replay", "verify", "bare.jsonl", "recordings/b.jsonl").exit_code == 1
    assert run("replay", "verify", "bare.jsonl", "recordings/a.jsonl.gz").exit_code == 4
    assert run("replay", "verify", "bare.jsonl", "recordings/c.jsonl").exit_code == 3
    allowed = ("--allow-unchecked", "recorded by hand")
    assert run("replay", "verify", "bare.jsonl", "recordings/b.jsonl", *allowed).exit_code == 1
    assert (
        run("replay", "verify", "bare.jsonl", "--fail-fast", "recordings/b.jsonl").stdout.count("jsonl:") == 1
    )


@pytest.mark.usefixtures("unrecorded")
def test_a_component_without_any_step_was_not_checked(
    run: InProcess, courses_lines: list[Line], folder: Path
) -> None:
    nothing = [
        one for one in courses_lines if isinstance(one, Header) or (isinstance(one, EventLine) and one.n == 1)
    ]
    written([*nothing, End(events=1, records=0)], folder / "begun.jsonl")
    assert run("replay", "verify", "begun.jsonl").exit_code == 4
    assert run("replay", "verify", "begun.jsonl", "--only", "tool_dispatcher").exit_code == 4


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nowhere.jsonl",),
        ("empty",),
        ("recordings", "--json", "--github"),
        ("recordings", "--jobs", "0"),
        ("recordings", "--allow-unchecked", " "),
    ],
)
def test_a_command_that_cannot_be_meant_exits_with_2(
    run: InProcess, recordings: Path, folder: Path, arguments: tuple[str, ...]
) -> None:
    (folder / "empty").mkdir()
    assert run("replay", "verify", *arguments).exit_code == 2


def test_quiet_reports_only_differences(run: InProcess, recordings: Path) -> None:
    done = run("replay", "verify", "recordings", "-q")
    assert done.stderr == ""
    assert "a.jsonl.gz" not in done.stdout
    assert "b.jsonl: diverged" in done.stdout
    assert "c.jsonl: unreadable" in done.stdout


def test_fail_fast_stops_at_the_first_that_is_not_the_same(run: InProcess, recordings: Path) -> None:
    done = run("replay", "verify", "recordings", "--fail-fast")
    assert done.exit_code == 1
    assert "c.jsonl" not in done.stdout


def test_json_is_one_document_on_stdout(run: InProcess, recordings: Path) -> None:
    done = run("replay", "verify", "recordings", "--json")
    document = orjson.loads(done.stdout)
    assert done.exit_code == 3
    assert document["result"] == "unreadable"
    assert [one["result"] for one in document["recordings"]] == ["same", "diverged", "unreadable"]


def test_github_gets_nothing_but_annotations(run: InProcess, recordings: Path) -> None:
    lines = run("replay", "verify", "recordings", "--github").stdout.splitlines()
    assert lines
    assert all(line.startswith("::error file=recordings/") for line in lines[:-1])
    assert lines[-1].startswith(
        "::notice title=replay verify::3 recordings: 1 diverged, 1 same, 1 unreadable"
    )


_WITHOUT_NETWORK = """
import socket, sys

def refuse(*_, **__):
    raise AssertionError("a socket was opened")

socket.socket.__init__ = socket.socketpair = socket.create_connection = socket.getaddrinfo = refuse
from antiphon.cli import app
app(["replay", "verify", *sys.argv[1:]])
"""


def test_no_socket_is_opened(recordings: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_NETWORK, str(recordings / "a.jsonl.gz")],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    assert "same" in done.stdout
