"""The output and the errors of `antiphon recording`."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
import redis
from antiphon_shared.events import AssemblyRequested

from antiphon.cli.output import UsageError
from antiphon.cli.recording import moment
from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import End, Line
from tests.antiphon.conftest import InProcess
from tests.antiphon.recording.changed import with_event
from tests.redis_server import RedisServer
from tests.rows import each_row

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def session_id(run: InProcess, folder: Path, courses_lines: list[Line], empty: dict[str, str]) -> str:
    """Return the id of an imported session."""
    write_lines(folder / "given.jsonl", courses_lines)
    result = run("recording", "import", "given.jsonl", **empty)
    assert result.exit_code == 0, result.stderr
    return result.stdout.strip()


def test_all_and_those_since_are_exported(
    run: InProcess, folder: Path, session_id: str, empty: dict[str, str]
) -> None:
    for chosen in (("--all",), ("--since", "1h"), ("--since", "2026-01-01"), (session_id, session_id)):
        exported = run("recording", "export", *chosen, "-o", "here", **empty)
        assert (exported.exit_code, exported.stdout) == (0, f"here/{session_id}.jsonl\n")
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    exported = run("recording", "export", "--since", later, "-o", "here", "--json", **empty)
    assert (exported.exit_code, orjson.loads(exported.stdout)) == (0, [])
    document = run.json("recording", "export", "--all", "-o", "here", **empty)
    path = folder / "here" / f"{session_id}.jsonl"
    assert document == [
        {
            "session_id": session_id,
            "path": str(path.relative_to(folder)),
            "events": 20,
            "records": 19,
            "redactions": 0,
            "bytes": path.stat().st_size,
            "is_answered": True,
            "diverges": "",
        }
    ]


def test_an_export_warns_of_a_redacted_session_that_does_not_verify(
    run: InProcess, folder: Path, session_id: str, empty: dict[str, str], courses_lines: list[Line]
) -> None:
    changed = with_event(
        courses_lines, AssemblyRequested, lambda data: data.model_copy(update={"status": "partial"})
    )
    write_lines(folder / "other.jsonl", changed)
    empty = {**empty, "ANTIPHON_NAMESPACE": "another-one", "ANTIPHON_RECORDING_PATTERNS": '["[a-z]{6}"]'}
    assert run("recording", "import", "other.jsonl", **empty).exit_code == 0
    exported = run("recording", "export", session_id, "-o", "here", **empty)
    assert exported.exit_code == 0
    assert f"Session {session_id} does not verify: diverged at event" in exported.stderr
    assert "antiphon.assembly.requested.v1 status" in exported.stderr


def test_exporting_an_unanswered_session_prints_a_notice(
    run: InProcess, folder: Path, empty: dict[str, str], courses_lines: list[Line]
) -> None:
    write_lines(folder / "open.jsonl", [*courses_lines[:3], End(events=1, records=0)])
    run("recording", "import", "open.jsonl", **empty)
    exported = run("recording", "export", "--all", "-o", "here", **empty)
    assert exported.exit_code == 0
    assert "its recording ends at its latest event" in exported.stderr


def test_a_missing_session_does_not_stop_the_export_of_the_others(
    run: InProcess, folder: Path, session_id: str, empty: dict[str, str]
) -> None:
    result = run("recording", "export", "unheard-of", session_id, "-o", "here", **empty)
    assert (result.exit_code, result.stdout) == (2, f"here/{session_id}.jsonl\n")
    assert "session unheard-of does not exist" in result.stderr
    assert [path.name for path in (folder / "here").iterdir()] == [f"{session_id}.jsonl"]


def test_exporting_all_skips_expired_sessions(
    run: InProcess, session_id: str, empty: dict[str, str], redis_server: RedisServer
) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.zadd(f"{empty['ANTIPHON_NAMESPACE']}:{{0}}:sessions", {"expired": 1})
    result = run("recording", "export", "--all", "-o", "here", **empty)
    assert (result.exit_code, result.stdout) == (0, f"here/{session_id}.jsonl\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "session ids, --all or --since, and only one of them"),
        (("s1", "--all", "-o", "here"), "only one of them"),
        (("--all", "--since", "2h", "-o", "here"), "only one of them"),
        (("--all",), "-o recordings"),
        (("--since", "yesterday", "-o", "here"), "is not a time"),
        (("no spaces", "-o", "here"), "is not a valid id"),
        (("--all", "-o", "a file"), "a file"),
        (("--all", "-o", "a file/\udcff"), "a file"),
    ],
)
def test_an_export_that_cannot_be_written_is_refused(
    run: InProcess,
    folder: Path,
    session_id: str,
    empty: dict[str, str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    (folder / "a file").write_text("mine")
    assert message in run.refused("recording", "export", *arguments, **empty)


def test_an_existing_file_is_not_overwritten(
    run: InProcess, folder: Path, session_id: str, empty: dict[str, str]
) -> None:
    (folder / f"{session_id}.jsonl").write_text("mine")
    result = run("recording", "export", session_id, "-o", ".", **empty)
    assert (result.exit_code, (folder / f"{session_id}.jsonl").read_text()) == (2, "mine")


def test_two_files_of_one_session_are_imported_as_one(
    run: InProcess, folder: Path, courses_lines: list[Line], empty: dict[str, str]
) -> None:
    for name in ("one.jsonl", "one.jsonl.gz"):
        write_lines(folder / name, courses_lines)
    result = run("recording", "import", ".", **empty)
    assert (result.exit_code, len(set(result.stdout.splitlines()))) == (0, 1), result.stderr


def test_a_recording_that_cannot_be_imported_is_refused(
    run: InProcess, folder: Path, session_id: str, empty: dict[str, str]
) -> None:
    (folder / "bad.jsonl").write_bytes((folder / "given.jsonl").read_bytes()[:-80])
    (folder / "none").mkdir()
    read = list(read_lines(folder / "given.jsonl"))
    shorter = [*read[:-2], read[-1].model_copy(update={"records": 18})]  # type: ignore[union-attr]  # the end
    write_lines(folder / "shorter.jsonl", shorter)
    for paths, code, message in (
        (("bad.jsonl", "given.jsonl"), 3, "bad.jsonl"),
        (("missing.jsonl",), 2, "does not exist"),
        (("none",), 2, "contains no recordings"),
        (("shorter.jsonl",), 2, "already exists"),
    ):
        result = run("recording", "import", *paths, **empty)
        assert result.exit_code == code
        assert message in result.stderr
        assert result.stdout == (f"{session_id}\n" if "given.jsonl" in paths else "")
    document = run.json("recording", "import", "given.jsonl", **empty)
    assert document == [{"session_id": session_id, "path": "given.jsonl"}]


def test_an_unavailable_redis_is_reported(run: InProcess) -> None:
    result = run("recording", "export", "--all", "-o", "here", ANTIPHON_REDIS_URL="redis://127.0.0.1:1/0")
    assert result.exit_code == 3
    assert "Redis" in result.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", NOW - timedelta(seconds=90)),
        ("2h", NOW - timedelta(hours=2)),
        ("7d", NOW - timedelta(days=7)),
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T10:00:00+02:00", datetime(2026, 11, 20, 8, tzinfo=UTC)),
    ],
)
def test_a_moment_is_so_long_ago_or_a_time(text: str, expected: datetime) -> None:
    assert moment(text, NOW) == expected


@each_row("text", ["", "2", "h", "-2h", "2w", "999999999d", "now", "2026-13-01"])
def test_an_invalid_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a time"):
        moment(text, NOW)
