"""Questions come from recordings and from files, with expectations for their answers."""

from pathlib import Path

import pytest
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.replay.compare.matchers import Expected, Numeric
from antiphon.replay.compare.questions import expecting, of_file, of_recording
from tests.antiphon.recording.recorded import COURSES_QUERY


def test_a_recording_is_asked_again_and_knows_its_answer_and_its_tools(courses_path: Path) -> None:
    question = of_recording(courses_path)
    assert (question.id, question.query) == ("courses", COURSES_QUERY)
    assert question.recorded is not None
    assert question.recorded.status == "complete"
    assert question.served is not None
    assert question.served.tools


def test_lines_are_plain_queries_or_objects(tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text(
        'How long?\n\n{"query": "How much?", "id": "price", "expected": {"numeric": 3, "contains": "CHF"}, '
        '"options": {"max_rounds": 2}}\n'
    )
    plain, whole = of_file(file)
    assert (plain.id, plain.query, plain.expected) == ("q1", "How long?", None)
    assert (whole.id, whole.query, whole.options) == ("price", "How much?", {"max_rounds": 2})
    assert whole.expected == Expected(numeric=Numeric(value=3), contains=("CHF",))


@pytest.mark.parametrize("name", ["courses", "session", "query"])
def test_an_expectation_finds_its_question_by_id_session_or_query(
    name: str, courses_path: Path, tmp_path: Path
) -> None:
    question = of_recording(courses_path)
    assert question.recorded is not None
    named = {"courses": '"id": "courses"', "session": f'"id": "{question.recorded.session_id}"'}
    key = named.get(name, '"query": ' + '"' + COURSES_QUERY.replace('"', '\\"') + '"')
    file = tmp_path / "expected.jsonl"
    file.write_text("{" + key + ', "expected": {"sources": 1}}\n{"id": "other", "expected": {"sources": 9}}')
    (expected,) = expecting([question], file)
    assert expected.expected == Expected(sources=1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"query": ""}', "line 1: `query` is missing"),
        ("ok\n{", "line 2: not JSON"),
        ('{"query": "x", "expected": {"number": 3}}', "line 1: .*number"),
        ('{"query": "x", "options": {"max_rounds": 0}}', "line 1: .*max_rounds"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "queries"
    file.write_text(text)
    with pytest.raises(UnreadableEvent, match=message):
        of_file(file)


def test_a_file_that_is_missing_or_holds_no_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableEvent, match=r"gone\.jsonl: No such file"):
        of_recording(tmp_path / "gone.jsonl")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(UnreadableEvent, match="it is empty"):
        of_recording(tmp_path / "empty.jsonl")
    (tmp_path / "bytes").write_bytes(b"\xff")
    with pytest.raises(UnreadableEvent, match="not UTF-8"):
        of_file(tmp_path / "bytes")
