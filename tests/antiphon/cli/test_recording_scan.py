"""The exit codes and the output of `antiphon recording scan`."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from antiphon.cli.recording_scan import scan

app = typer.Typer()
app.command("scan")(scan)
SECRET = "sk-ant-" + "a1B2" * 10


@pytest.fixture
def leaky(tmp_path: Path) -> Path:
    (tmp_path / "clean.jsonl").write_text('{"a":1}\n')
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "leaky.jsonl").write_text(f'{{"a":"{SECRET}"}}\n')
    return tmp_path


def test_a_folder_without_findings_is_clean(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")
    assert CliRunner().invoke(app, [str(tmp_path)]).exit_code == 0


@pytest.mark.parametrize("option", [[], ["--json"], ["--github"]])
def test_findings_fail_and_are_masked(leaky: Path, option: list[str]) -> None:
    result = CliRunner().invoke(app, [str(leaky), *option])
    assert result.exit_code == 1
    assert "leaky.jsonl" in result.stdout
    assert SECRET[:20] not in result.output
    assert ("::error file=" in result.stdout) == (option == ["--github"])


def test_an_allowed_finding_passes(leaky: Path) -> None:
    [finding] = json.loads(CliRunner().invoke(app, [str(leaky), "--json"]).stdout)
    allow = leaky / "allowed.txt"
    allow.write_text(f"{finding['fingerprint']} of the documentation\n")
    assert CliRunner().invoke(app, [str(leaky), "--allow", str(allow)]).exit_code == 0


def test_usage_and_unreadable_files_have_their_own_codes(leaky: Path) -> None:
    assert CliRunner().invoke(app, [str(leaky), "--allow", str(leaky / "none")]).exit_code == 2
    assert CliRunner().invoke(app, [str(leaky / "none.jsonl")]).exit_code == 2
    (leaky / "broken.jsonl.gz").write_bytes(b"\x1f\x8b broken")
    result = CliRunner().invoke(app, [str(leaky)])
    assert result.exit_code == 3
    assert "leaky.jsonl" in result.stdout, "the others are scanned all the same"
