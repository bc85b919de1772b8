"""Real recordings, verified by today's code and by a source that differs from it."""

import shutil
import sys
from pathlib import Path

import orjson
import pytest
from antiphon_shared.events import COMPONENTS

from antiphon.cli.replay import against
from antiphon.recording.files import read_lines
from antiphon.replay.against.other_code import OtherCode
from antiphon.replay.against.trees import ROOT, import_path
from tests.antiphon.conftest import InProcess
from tests.antiphon.recording.changed import with_words, written

RECORDINGS = ROOT / "tests" / "recordings"
THREE_ROUNDS = str(RECORDINGS / "two_rounds_of_nothing_but_failures.jsonl")
ONE_ROUND = str(RECORDINGS / "a_single_round.jsonl")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> OtherCode:
    """Return code that ends sessions after two rounds, and has another system prompt."""
    tree = tmp_path_factory.mktemp("tree")
    for package in (*COMPONENTS, "antiphon", "shared"):
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__pycache__"))
    rounds = "if session.round >= session.limits.max_rounds:\n        return end("
    replace(tree / "coordinator" / "batches.py", rounds, rounds.replace("session.limits.max_rounds", "2"))
    replace(tree / "reasoning_engine" / "prompt.py", "You answer a question", "You answer some question")
    return OtherCode("then", "then (1a2b3c4)", tree, sys.executable, import_path(tree), "1a2b3c4d")


def replace(file: Path, then: str, now: str) -> None:
    source = file.read_text()
    assert then in source
    file.write_text(source.replace(then, now))


def test_changes_are_summed_up_by_decision_without_those_shared_by_both_codes(
    run: InProcess, other: OtherCode, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(against, "other_code", lambda name: other)
    altered = tmp_path / "altered.jsonl"
    written(with_words(read_lines(Path(ONE_ROUND)), '"notice":""', '"notice":"Hurry."'), altered)
    done = run(
        *("replay", "verify", "--against", "then", "--json"),
        THREE_ROUNDS,
        str(altered),
    )
    assert done.exit_code == 1
    found = orjson.loads(done.stdout)
    assert [one["words"] for one in found["decisions"]] == [
        "1 session now ends in round 3 instead of 2, with all_tools_failed instead of max_rounds_reached, because "
        "coordinator/batches.py: next_round differs",
        "2 sessions now send the model another system prompt, because reasoning_engine/prompt.py: SYSTEM differs",
    ]
    first = found["decisions"][0]["first"]
    assert (first["path"], first["type"]) == (THREE_ROUNDS, "antiphon.tools.completed.v1")
    assert found["counts"] == {"same": 0, "changed": 2, "unchecked": 0, "unreadable": 0}
    assert found["recordings"][1]["alike"] == 2, "neither code hurries"
    assert "2 recordings against then (1a2b3c4): 2 changed; 2 divergences from the record" in done.stderr


def test_no_code_other_than_the_requested_one_is_run(
    run: InProcess, other: OtherCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = OtherCode(other.name, other.label, other.root, other.python, import_path(ROOT))
    monkeypatch.setattr(against, "other_code", lambda name: ours)
    done = run("replay", "verify", "--against", "then", ONE_ROUND)
    assert done.exit_code == 2
    assert "would run in place of" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--against", "HEAD", "--inject", "deadline@3"), "--against cannot be combined with --inject"),
        (("--against", "HEAD", "--github", "--fail-fast"), "--github, --fail-fast"),
    ],
)
def test_options_that_do_not_go_with_a_comparison_are_refused(
    run: InProcess, arguments: tuple[str, ...], message: str
) -> None:
    done = run("replay", "verify", *arguments, ONE_ROUND)
    assert done.exit_code == 2
    assert message in done.stderr
