"""`antiphon replay fork|call|context` and `verify --inject`, on the command line."""

import re
import sys
from pathlib import Path

import orjson
import pytest

from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line
from antiphon.replay.verify import verify
from tests.antiphon.conftest import InProcess
from tests.antiphon.recording.changed import bound, unbound

RECORDINGS = Path(__file__).parents[2] / "recordings"
TOOLS = ("--tools", "examples.courses", "--model", "offline")


@pytest.fixture
def path(courses_lines: list[Line], tmp_path: Path) -> str:
    path = tmp_path / "courses.jsonl"
    write_lines(path, courses_lines)
    return str(path)


def test_fork_writes_a_recording_that_is_verified(run: InProcess, path: str, tmp_path: Path) -> None:
    into = tmp_path / "fork.jsonl.gz"
    done = run("replay", "fork", path, "--from", "reasoning.requested@2", *TOOLS, "-o", str(into))
    assert done.exit_code == 0, done.stderr
    assert "Payments Engineering" in done.stdout
    assert "then live" in done.stderr
    assert "the same answer as recorded" in done.stderr
    assert verify(into).is_same


def test_fork_in_json_contains_the_response(run: InProcess, path: str, tmp_path: Path) -> None:
    into = str(tmp_path / "fork.jsonl")
    done = run("replay", "fork", path, "--from", "11", *TOOLS, "--set", "max_rounds=2", "-o", into, "--json")
    document = orjson.loads(done.stdout)
    assert (document["output"], document["is_same_answer"]) == (into, False)
    assert document["response"]["termination_reason"] == "max_rounds_reached"


def test_fork_reports_a_single_round_in_the_singular(run: InProcess, path: str, tmp_path: Path) -> None:
    into = str(tmp_path / "fork.jsonl")
    done = run("replay", "fork", path, "--from", "5", *TOOLS, "--set", "max_rounds=1", "-o", into)
    assert "partial (max_rounds_reached), 1 round; " in done.stderr


def test_fork_lists_results_that_cannot_be_read_further(run: InProcess, tmp_path: Path) -> None:
    path = RECORDINGS / "a_long_result_is_shown_in_part_and_read_on.jsonl"
    done = run(
        "replay", "fork", str(path), "--from", "assembly.requested", "-o", str(tmp_path / "fork.jsonl")
    )
    assert done.exit_code == 0, done.stderr
    assert "so that read_result cannot return the rest: r1c0 of " in done.stderr


def test_fork_writes_no_secret_of_its_process(run: InProcess, path: str, tmp_path: Path) -> None:
    """The secret is in the parent too, whose exporter may not have known it."""
    into, secret = tmp_path / "fork.jsonl", "Pagination That Survives Change"
    assert secret in Path(path).read_text()
    done = run("replay", "fork", path, "--from", "11", *TOOLS, "-o", str(into), ANTHROPIC_API_KEY=secret)
    assert done.exit_code == 0, done.stderr
    assert secret not in into.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--from", "20", *TOOLS), 2, "Use one of these events"),
        (("--from", "11"), 2, "--tools"),
        (("--from", "11", "--set", "x=1", *TOOLS), 2, "no limit"),
        (("--from", "11", "--prompt", "no-such-file", *TOOLS), 2, "no-such-file"),
        (("--from", "11", "--model", "another", "--tools", "examples.courses"), 2, "no API key"),
    ],
)
def test_fork_refuses_invalid_arguments(
    run: InProcess, path: str, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    into = tmp_path / "fork.jsonl"
    done = run("replay", "fork", path, *arguments, "-o", str(into))
    assert (done.exit_code, message in done.stderr) == (code, True), done.stderr
    assert not into.exists()


def test_fork_reports_an_unwritable_file_before_any_call(run: InProcess, path: str) -> None:
    assert "then live" not in run.refused(
        "replay", "fork", path, "--from", "11", *TOOLS, "-o", "no/such/folder/x.jsonl"
    )
    done = run("replay", "fork", path, "--from", "11", *TOOLS, "-o", str(Path(path).parent))
    assert (done.exit_code, "is a folder" in done.stderr, "then live" in done.stderr) == (2, True, False)
    if sys.platform == "linux":  # a folder in which nobody can create a file
        done = run("replay", "fork", path, "--from", "11", *TOOLS, "-o", "/proc/x.jsonl")
        assert done.exit_code == 2
        assert "/proc/x.jsonl cannot be written" in done.stderr
        assert "then live" not in done.stderr


def test_a_file_that_is_not_a_recording_is_unreadable(run: InProcess, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text("hello\n")
    for verb in (("context",), ("call", "--event", "5", "--model", "offline")):
        assert run("replay", verb[0], str(other), *verb[1:]).exit_code == 3


def test_inject_shows_the_chain(run: InProcess, path: str) -> None:
    done = run("replay", "verify", path, "--inject", "tool_timeout@8")
    assert done.exit_code == 0
    assert "tools_failed" in done.stdout
    assert "The next step is a model call." in done.stdout
    done = run("replay", "verify", path, "--inject", "deadline@8", "--json")
    (document,) = orjson.loads(done.stdout)
    assert document["path"] == path
    assert document["answer"]["termination_reason"] == "deadline_exceeded"
    assert [one["component"] for one in document["steps"]] == [
        "coordinator",
        "response_assembler",
        "coordinator",
    ]


def test_a_fault_that_does_not_fit_is_reported_per_recording_and_an_invalid_one_once(
    run: InProcess, path: str, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(Path(path).read_bytes())
    done = run.refused("replay", "verify", path, str(other), "--inject", "tool_timeout@6")
    assert f"{path}: tool_timeout cannot replace event 6" in done
    assert f"{other}: tool_timeout cannot replace event 6" in done
    done = run.refused("replay", "verify", path, str(other), "--inject", "rain@6")
    assert done.count("Fault 'rain' does not exist") == 1


def test_context_is_a_table_or_json(run: InProcess, path: str) -> None:
    done = run("replay", "context", path, "--facts")
    assert done.exit_code == 0
    assert "Idempotency Keys for Safe Requests" in done.stdout
    (document,) = run.json("replay", "context", path)
    assert document["path"] == path
    assert [one["round"] for one in document["briefings"]] == [1, 2, 3]
    assert {one["shown"] for one in document["sources"]} == {"whole"}


def test_context_reports_each_readable_recording(run: InProcess, path: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("hello\n")
    (tmp_path / "b.jsonl").write_bytes(Path(path).read_bytes())
    done = run("replay", "context", str(tmp_path))
    assert done.exit_code == 3
    assert "a.jsonl" in done.stderr
    assert "b.jsonl: session" in done.stdout


@pytest.mark.parametrize("verb", [("context",), ("verify", "--inject", "tool_timeout@8")])
def test_a_recording_whose_lines_do_not_follow_from_each_other_is_named(
    run: InProcess, path: str, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    lines = unbound(Path(path).read_bytes())
    place = next(n for n, line in enumerate(lines) if b'"kind":"briefing"' in line)
    lines[place] = re.sub(rb'"of":"\w{8}', b'"of":"00000000', lines[place])
    (tmp_path / "torn.jsonl").write_bytes(bound(lines))
    done = run("replay", *verb, str(tmp_path))
    assert done.exit_code == 3
    assert "torn.jsonl: " in done.stderr


def test_call_shows_models_side_by_side(run: InProcess, path: str) -> None:
    done = run("replay", "call", path, "--event", "11", "--model", "offline", "--times", "2")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.count("search_course_content") >= 3
    done = run("replay", "call", path, "--event", "11", "--model", "offline", "--json")
    recorded, offline = orjson.loads(done.stdout)
    assert (recorded["model"], offline["model"]) == ("recorded", "offline")
    assert recorded["tool_calls"][0]["arguments"] == offline["tool_calls"][0]["arguments"]
