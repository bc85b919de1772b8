"""Every command ends with 2 if a file that it names does not exist, and with 3 if it cannot be read."""

from pathlib import Path

import pytest

from tests.antiphon.conftest import InProcess
from tests.rows import each_row

COMMANDS = (
    "ask Why? --grant @FILE",
    "ask Why? --output-schema FILE",
    "ask Why? --steps FILE.yaml",
    "grants show @FILE",
    "recipes learn FILE.jsonl --dry-run",
    "recording check FILE.jsonl",
    "redis acl --passwords FILE",
    "replay call FILE.jsonl --event 5 --model offline",
    "replay call FILE.jsonl --event 5 --model offline --prompt FILE",
    "replay compare FILE.jsonl --plan single",
    "replay compare --queries FILE --plan single",
    "replay context FILE.jsonl",
    "replay diff FILE.jsonl FILE.jsonl",
    "replay fork FILE.jsonl --from 5 -o fork.jsonl",
    "replay rerun FILE.jsonl",
    "replay update FILE.jsonl",
    "replay verify FILE.jsonl",
    "workflows graph w FILE.yaml",
    "workflows dry-run w FILE.yaml",
    "workflows list FILE.yaml",
    "workflows run w FILE.yaml",
    "workflows validate FILE.yaml",
)


@each_row("command", COMMANDS)
def test_a_missing_file_is_an_error_of_usage_and_an_unreadable_one_is_not(
    command: str, run: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    missing = run(*command.replace("FILE", "missing").split())
    assert missing.exit_code == 2, missing.stderr
    for ending in ("", ".jsonl", ".yaml"):
        Path(f"binary{ending}").write_bytes(b"\xff\xfe\n")
    assert run(*command.replace("FILE", "binary").split()).exit_code == 3
