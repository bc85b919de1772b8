"""A data set is read leniently, and an unreadable entry is named by its line."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.memory.form import Question, UnreadableData, read, write
from benchmarks.memory.prose import DATA

PASSAGE = {"title": "Ulm", "text": "Ulm is a town. It lies on the Danube."}


def a_question(**changes: Any) -> dict[str, Any]:
    rounds = [{"calls": [{"tool": "search", "query": "Ulm river", "results": [PASSAGE]}]}]
    gold = ["It lies on the Danube."]
    return {
        "id": "q",
        "kind": "two-hop",
        "question": "Which river?",
        "rounds": rounds,
        "gold": gold,
    } | changes


def a_file(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def one(tmp_path: Path, **changes: Any) -> Question:
    (question,) = read(a_file(tmp_path, a_question(**changes)))
    return question


def test_a_written_set_is_read_back_unchanged(tmp_path: Path) -> None:
    questions = read(a_file(tmp_path, a_question(), "", a_question(id="r")))
    again = tmp_path / "again.jsonl"
    again.write_text("".join(write(questions)))
    assert read(again) == questions
    assert [question.id for question in questions] == ["q", "r"]


def test_a_round_may_be_one_search(tmp_path: Path) -> None:
    question = one(tmp_path, rounds=[{"query": "Ulm river", "results": [PASSAGE]}])
    (call,) = question.rounds[0].calls
    assert (call.tool, call.query, call.arguments) == ("search", "Ulm river", {"query": "Ulm river"})
    assert question == one(tmp_path)


@pytest.mark.parametrize(
    "passage",
    [
        PASSAGE,
        {"title": "Ulm", "sentences": ["Ulm is a town.", " It lies on the Danube."]},
        ["Ulm", ["Ulm is a town.", " It lies on the Danube."]],
        {"title": "Ulm", "paragraph_text": "Ulm is a town. It lies on the Danube."},
    ],
)
@pytest.mark.parametrize(
    "gold",
    [
        "It lies on the Danube.",
        ["It lies on the Danube."],
        [{"text": "It lies on the Danube."}],
        [{"title": "Ulm", "sentence": "It lies on the Danube."}],
        [{"passage": "Ulm", "sentence": 1}],
        [["Ulm", 1]],
    ],
)
def test_passages_and_gold_have_short_forms(tmp_path: Path, passage: Any, gold: Any) -> None:
    question = one(tmp_path, rounds=[{"query": "Ulm", "results": [passage]}], gold=gold)
    assert question.passages[0].text == PASSAGE["text"]
    assert question.gold == ("It lies on the Danube.",)
    assert question.unreachable == ()


@pytest.mark.parametrize(
    ("sentences", "more", "text"),
    [
        (["Ann: Hello.", "Bob: Hi."], {}, "Ann: Hello.\nBob: Hi."),
        (["One.", "Two: three."], {}, "One. Two: three."),
        (["One.", "Two."], {"joined_by": "\n"}, "One.\nTwo."),
    ],
)
def test_each_turn_of_a_passage_has_its_own_line(
    tmp_path: Path, sentences: list[str], more: dict[str, str], text: str
) -> None:
    passage = {"title": "t", "sentences": sentences, **more}
    assert one(tmp_path, rounds=[{"query": "x", "results": [passage]}]).passages[0].text == text


def test_turns_of_several_sentences_are_written_unchanged(tmp_path: Path) -> None:
    passage = {"title": "t", "sentences": ["Ann: Hello. It rains.", "Bob: Hi."]}
    rounds = [{"calls": [{"query": "x", "results": [passage]}]}]
    (question,) = read(a_file(tmp_path, *write([one(tmp_path, rounds=rounds)])))
    assert question.passages[0].sentences == ("Ann: Hello. It rains.", "Bob: Hi.")


@pytest.mark.parametrize(
    ("given", "answers"),
    [({}, ()), ({"answer": "Danube"}, ("Danube",)), ({"answers": ["Danube", "Iller"]}, ("Danube", "Iller"))],
)
def test_the_answer_may_be_given(tmp_path: Path, given: dict[str, Any], answers: tuple[str, ...]) -> None:
    question = one(tmp_path, **given)
    assert question.answers == answers
    assert read(a_file(tmp_path, *write([question]))) == [question]


def test_gold_that_is_in_no_result_is_known(tmp_path: Path) -> None:
    question = one(tmp_path, gold=["It lies  on\nthe Danube.", "Elsewhere."])
    assert question.unreachable == ("Elsewhere.",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[1]", "dictionary"),
        (a_question(rounds=[]), "`rounds`"),
        (a_question(rounds=[{"query": "x", "results": [{"title": "t"}]}]), "results.0.text"),
        (a_question(gold=[]), "`gold"),
        (a_question(gold=[""]), "entry of gold is empty"),
        (a_question(gold=[["Ulm", 7]]), "sentence 7 of 'Ulm'"),
        (a_question(question=None), "`question`"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(tmp_path: Path, line: object, message: str) -> None:
    with pytest.raises(UnreadableData) as raised:
        read(a_file(tmp_path, a_question(), "", line))
    assert "line 3" in str(raised.value)
    assert message in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe"])
def test_a_file_without_questions_is_unreadable(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "set.jsonl").write_bytes(content)
    with pytest.raises(UnreadableData, match=r"set\.jsonl"):
        read(tmp_path / "set.jsonl")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(["id", "kind", "question", "rounds", "gold", "sub_questions"]), JSON)
def test_any_field_value_is_read_or_named_in_the_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: Any
) -> None:
    path = a_file(tmp_path_factory.mktemp("data"), a_question(**{name: value}))
    message, questions = "", []
    try:
        questions = read(path)
    except UnreadableData as error:
        message = str(error)
    assert "line 1" in message or all(question.rounds and question.gold for question in questions)


def test_the_sample_is_of_this_form() -> None:
    questions = read(DATA / "sample.jsonl")
    assert {question.kind for question in questions} == {"two-hop", "four-hop", "update", "conversation"}
    assert not any(question.unreachable for question in questions)
