"""Recordings as tests, in runs of pytest of their own."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from antiphon.recording.files import write_lines
from antiphon.recording.lines import End, Line, RecordLine
from tests.antiphon.replay.plugin.runs import PLUGIN, hurried, run

pytest_plugins = "pytester"


@pytest.mark.usefixtures("folder")
def test_each_recording_is_a_test(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--antiphon-recordings", "recordings", "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*recordings/courses.jsonl::verify PASSED*"])


def test_a_diverging_recording_fails_and_shows_the_position(
    pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]
) -> None:
    write_lines(folder / "hurried.jsonl", hurried(courses_lines))
    result = run(pytester, "--antiphon-recordings", "recordings")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*hurried.jsonl: diverged at event*coordinator*notice*", '*- "Hurry."*', '*+ ""*', "*replay update*"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_an_uncheckable_recording_fails_unless_a_reason_allows_it(
    pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]
) -> None:
    bare = [line for line in courses_lines[:-1] if not isinstance(line, RecordLine)]
    write_lines(folder / "bare.jsonl", [*bare, End(events=20, records=0)])
    result = run(pytester, "--antiphon-recordings", "recordings")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*bare.jsonl: not checked whole, 20 events, 0 steps checked (none), 19 not (coordinator 10*",
            "*Unchecked steps do not count*--antiphon-allow-unchecked*",
            "recorded steps checked: coordinator 10, reasoning_engine 3*; not checked: coordinator 10, *",
        ]
    )
    options = ("--antiphon-recordings", "recordings", "--antiphon-allow-unchecked", "made by hand")
    allowed = run(pytester, *options, "--junitxml", "report.xml")
    allowed.assert_outcomes(passed=2)
    allowed.stdout.fnmatch_lines(["unchecked steps are allowed: made by hand"])
    counted = ElementTree.parse(pytester.path / "report.xml").iterfind(".//property")
    assert ("antiphon.unchecked.coordinator", "10") in {
        (one.get("name"), one.get("value")) for one in counted
    }


def test_a_test_may_allow_unchecked_steps_with_a_reason(
    pytester: pytest.Pytester, folder: Path, courses_lines: list[Line]
) -> None:
    bare = [line for line in courses_lines[:-1] if not isinstance(line, RecordLine)]
    write_lines(folder / "bare.jsonl", [*bare, End(events=20, records=0)])
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.recording("bare.jsonl", allow_unchecked="made by hand")
        def test_marked(recording):
            assert recording.verify().result == "unchecked"

        @pytest.mark.recording("bare.jsonl")
        def test_in_the_call(recording):
            assert recording.verify(allow_unchecked="made by hand").unchecked_steps["coordinator"] == 10

        @pytest.mark.recording("bare.jsonl")
        def test_strict(recording):
            recording.verify()
        """
    )
    result = run(pytester, "--antiphon-recordings", "recordings", "-k", "not verify")
    result.assert_outcomes(passed=2, failed=1, deselected=2)


def test_an_unreadable_recording_fails_with_a_message(pytester: pytest.Pytester, folder: Path) -> None:
    (folder / "torn.jsonl").write_bytes((folder / "courses.jsonl").read_bytes()[:5_000])
    (folder / "empty.jsonl").touch()
    (folder / "notes.txt").write_text("no recording")
    result = run(pytester, "--antiphon-recordings", "recordings")
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*empty.jsonl: it is empty*", "*torn.jsonl, line*"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.usefixtures("folder")
def test_naming_tests_runs_those_without_the_recordings_of_an_ini_file(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    pytester.makeini("[pytest]\naddopts = --antiphon-recordings recordings")
    named = "test_naming_tests_runs_those_without_the_recordings_of_an_ini_file.py"
    run(pytester, named).assert_outcomes(passed=1)
    run(pytester).assert_outcomes(passed=2)
    run(pytester, named, "--antiphon-recordings", "recordings").assert_outcomes(passed=2)


@pytest.mark.usefixtures("folder")
def test_workers_of_xdist_share_the_recordings(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # each process loads what it needs, no more
    pytester.makepyfile("def test_one(): pass")
    result = pytester.runpytest_subprocess(
        *PLUGIN, "-p", "xdist", "-n", "1", "--antiphon-recordings", "recordings"
    )
    result.assert_outcomes(passed=2)


def test_a_missing_folder_is_an_error(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--antiphon-recordings", "nowhere")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*nowhere is not a folder*--antiphon-record=once*"])


def test_a_folder_without_recordings_is_a_mistake(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    pytester.mkdir("empty").joinpath("notes.txt").write_text("None yet.")
    result = run(pytester, "--antiphon-recordings", "empty")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*empty contains no recordings. Name a folder with recordings*--antiphon-record=once*"]
    )
    result = run(pytester, "--antiphon-recordings", "empty", "--antiphon-record", "once")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["antiphon: no recordings: *empty contains no recordings*"])
