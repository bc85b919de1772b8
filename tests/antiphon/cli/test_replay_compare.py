"""`antiphon replay compare` asks, shows, writes, and fails where a score is too low."""

import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.antiphon.conftest import InProcess

QUERIES = '{"id": "soup", "query": "How long does lentil soup take to cook?", "expected": {"numeric": 40}}\n'
RUBRICS = """
def is_polite(answer): return 'please' in answer
def is_out_of_order(answer): raise SystemExit(3)
"""
ASK = ("replay", "compare", "--queries", "queries.jsonl", "--tools", "recipes", "--model", "offline")


@pytest.fixture
def comparing(run: InProcess, folder: Path) -> Iterator[InProcess]:
    (folder / "queries.jsonl").write_text(QUERIES)
    (folder / "rubrics_of_mine.py").write_text(RUBRICS)
    yield run
    sys.modules.pop("rubrics_of_mine", None)


def test_the_table_is_on_stdout_and_the_page_in_its_file(comparing: InProcess, folder: Path) -> None:
    done = comparing(*ASK, "--html", "compared.html")
    assert done.exit_code == 0, done.stderr
    heading, *rows = done.stdout.splitlines()
    assert heading.split() == [
        "question",
        "plan",
        "status",
        "score",
        "rounds",
        "calls",
        "tokens",
        "cost",
        "latency",
    ]
    assert [row.split()[:4] for row in rows] == [
        ["soup", "single", "complete", "0.00"],
        ["soup", "linear", "complete", "1.00"],
        ["soup", "rounds", "complete", "1.00"],
    ]
    assert done.stderr.splitlines()[0] == "1/3 single soup: complete"
    assert "cooked for 40 minutes" in (folder / "compared.html").read_text()


def test_json_holds_every_answer_and_every_score(comparing: InProcess) -> None:
    done = comparing(*ASK, "--plan", "linear", "--json", "--rubric", "rubrics_of_mine:is_polite")
    found = orjson.loads(done.stdout)
    cell = found["questions"][0]["cells"]["linear"]
    assert cell["runs"][0]["response"]["status"] == "complete"
    assert cell["runs"][0]["scores"] == [
        {"name": "numeric", "score": 1.0, "note": ""},
        {"name": "is_polite", "score": 0.0, "note": ""},
    ]
    assert cell["score"] == found["totals"]["linear"]["sums"]["score"] == 0.5


def test_a_score_that_is_too_low_fails_and_one_that_is_not_does_not(comparing: InProcess) -> None:
    assert comparing(*ASK, "--plan", "linear", "--fail-under", "0.9").exit_code == 0
    both = comparing(*ASK, "--plan", "linear", "--plan", "single", "--fail-under", "linear=0.9")
    assert both.exit_code == 0
    low = comparing(*ASK, "--fail-under", "0.9")
    assert low.exit_code == 1
    assert "single scores 0.00; the required score is 0.9." in low.stderr


def test_a_rubric_that_fails_is_reported_and_passes_no_threshold(comparing: InProcess) -> None:
    broken = ("--plan", "linear", "--rubric", "rubrics_of_mine:is_out_of_order")
    assert comparing(*ASK, *broken).exit_code == 0
    done = comparing(*ASK, *broken, "--fail-under", "0.9")
    assert done.exit_code == 1
    assert "is_out_of_order: The rubric failed: SystemExit: 3" in done.stderr
    assert "1 of 1 answers of linear could not be scored" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "no questions were given"),
        (("--queries", "queries.jsonl", "--plan", "circular"), 2, "'circular' does not exist"),
        (("--queries", "queries.jsonl", "--fail-under", "high"), 2, "'high' is not a score"),
        (("--queries", "queries.jsonl", "--rubric", "nowhere:at_all"), 2, "cannot be used"),
        (("--queries", "queries.jsonl", "--tools", "nowhere"), 2, "cannot be imported"),
        (("--queries", "gone.jsonl"), 2, "gone.jsonl does not exist"),
        (("gone.jsonl",), 2, "gone.jsonl does not exist"),
        ((".",), 3, "queries.jsonl, line 1"),
    ],
)
def test_an_impossible_comparison_is_refused_before_any_query(
    arguments: tuple[str, ...], code: int, message: str, comparing: InProcess
) -> None:
    done = comparing("replay", "compare", *arguments)
    assert done.exit_code == code, done.output
    assert message in done.stderr
