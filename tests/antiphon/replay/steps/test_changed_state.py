"""A field of the coordinator's document gets another name: what then cannot be checked is not green by accident.

Each tree is a copy of the coordinator with the change made, and runs in a process of its own.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.antiphon.conftest import clean_environment
from tests.flows.processes import ROOT

NAME = "the_last_round_has_no_tools.jsonl"
_HANGS_S = 300.0
"""Three commands and their imports take seconds; on a crowded machine a minute."""
_DRIVER = """
import json, sys
from typer.testing import CliRunner
from antiphon.cli import app
done = [CliRunner().invoke(app, arguments) for arguments in json.loads(sys.argv[1])]
print(json.dumps([[one.exit_code, one.stdout + one.stderr] for one in done]))
"""
Run = Callable[..., list[tuple[int, str]]]


def renamed(tree: Path) -> None:
    """Rename an internal field of the document everywhere in the coordinator."""
    for path in (tree / "coordinator").rglob("*.py"):
        path.write_text(path.read_text().replace("built_ins", "own_tools"))


def upcast(tree: Path) -> None:
    """Add an upcaster that knows the field's name in version 1."""
    _edit(
        tree / "coordinator" / "document.py",
        '"own_tools": "tools.own_tools"',
        '"built_ins": "tools.own_tools"',
    )


def wrong_reason(tree: Path) -> None:
    """Give a session whose rounds are used up the wrong reason: too many tool calls."""
    _edit(
        tree / "coordinator" / "limits.py", 'return "max_rounds_reached"', 'return "max_tool_calls_reached"'
    )


def _edit(path: Path, then: str, now: str) -> None:
    text = path.read_text()
    assert text.count(then) == 1, then
    path.write_text(text.replace(then, now))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run commands on a recording by a changed tree; return the exit code and the output of each."""
    recording = tmp_path / NAME
    shutil.copy(ROOT / "tests" / "releases" / "recordings" / "of_state_2_chained" / NAME, recording)

    def run(changes: list[Callable[[Path], None]], *commands: list[str]) -> list[tuple[int, str]]:
        tree = tmp_path / "tree"  # not where it runs: the command line looks there last
        shutil.copytree(ROOT / "coordinator", tree / "coordinator")
        for change in changes:
            change(tree)
        arguments = [["replay", verb, str(recording), *options] for verb, *options in commands]
        done = subprocess.run(
            [sys.executable, "-P", "-c", _DRIVER, json.dumps(arguments)],
            env=clean_environment(PYTHONPATH=str(tree)),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=_HANGS_S,
        )
        assert done.returncode == 0, done.stderr
        return [(code, document) for code, document in json.loads(done.stdout.splitlines()[-1])]

    return run


def test_a_renamed_field_without_an_upcaster_is_reported_as_unchecked(run: Run, tmp_path: Path) -> None:
    before = (tmp_path / NAME).read_bytes()
    verified, quiet, updated = run([renamed], ["verify"], ["verify", "--json", "-q"], ["update", "--yes"])
    code, message = verified
    assert code == 4
    assert "built_ins: Unexpected keyword argument" in message
    assert "for want of an upcaster" in message
    document = json.loads(quiet[1])
    assert (document["result"], document["unchecked_steps"]) == ("unchecked", {"coordinator": 7})
    assert "coordinator" not in document["checked_steps"]
    assert updated[0] == 4
    assert "cannot be compared" in updated[1]
    assert (tmp_path / NAME).read_bytes() == before


def test_a_wrong_decision_is_found_despite_a_renamed_field(run: Run, tmp_path: Path) -> None:
    before = (tmp_path / NAME).read_bytes()
    verified, updated = run([renamed, wrong_reason], ["verify", "--json", "-q"], ["update", "--yes"])
    assert verified[0] == 1
    (document,) = json.loads(verified[1])["recordings"]
    assert document["divergences"][0]["component"] == "coordinator"
    assert "max_tool_calls_reached" in {one["got"] for one in document["divergences"]}, document
    assert updated[0] != 0
    assert (tmp_path / NAME).read_bytes() == before


def test_a_field_renamed_by_an_upcaster_is_checked_and_rewritten_under_its_new_name(run: Run) -> None:
    verified, updated, again = run([renamed, upcast], ["verify"], ["update", "--yes"], ["verify"])
    assert verified[0] == 0
    assert "steps checked: coordinator 7," in verified[1]
    assert updated[0] == 0
    assert again[0] == 0


def test_a_wrong_decision_is_named_after_upcasting(run: Run) -> None:
    ((code, message),) = run([renamed, upcast, wrong_reason], ["verify"])
    assert code == 1
    assert '+ "max_tool_calls_reached"' in message
