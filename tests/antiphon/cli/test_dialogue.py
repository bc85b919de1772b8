"""`antiphon ask --interactive`: the person at the terminal answers, as real processes on pipes and on a terminal."""

import subprocess
from pathlib import Path

import orjson
import pytest
from antiphon_shared.events.session import Response

from tests.antiphon.cli.terminal import Terminal
from tests.antiphon.conftest import InProcess, antiphon
from tests.flows.pipeline import scripted_model
from tests.messages_server import Scripted, Use

WHICH = Use(name="ask_user", input={"question": "Which soup?", "choices": ["lentil", "pea"]})
WHEN = Use(name="ask_user", input={"question": "For when?"})
LOOK = Use(name="find_recipe", input={"query": "pea soup"})
SCRIPT = [
    Scripted(when="cook two things", uses=(WHICH, WHEN)),
    Scripted(when="Round 1 of", uses=(WHICH,)),
    Scripted(when="For when", text="Pea soup for Friday [F1]."),
    Scripted(when="the user has not answered", text="I assumed lentil."),
    Scripted(when="stew", text="Stew then [F1]."),
    Scripted(when="pea", text="Pea soup [F1]."),
]
APPROVAL = [
    Scripted(when="Round 1 of", uses=(LOOK,)),
    Scripted(when="denied it", text="Then not."),
    Scripted(when="Lentils, carrots", text="It takes 40 minutes [F1]."),
]


ASK = ("ask", "--tools", "recipes", "--interactive")
"""The command line of an interactive question."""


def ask(
    folder: Path, stdin: str, *arguments: str, script: list[Scripted] = SCRIPT, **variables: str
) -> "subprocess.CompletedProcess[str]":
    with scripted_model(script) as model:
        here = {"ANTHROPIC_BASE_URL": model.url, "TERM": "dumb", **variables}
        return antiphon(*ASK, *(arguments or ("Cook.",)), cwd=folder, stdin=stdin, **here)


@pytest.mark.parametrize(
    ("stdin", "answer"),
    [("x" * 20_001 + "\n \n2\n", "Pea soup"), ("stew, rather", "Stew then")],
    ids=["too much, nothing, and then a number", "words, at the end of the input"],
)
def test_the_answer_is_read_from_standard_input(folder: Path, stdin: str, answer: str) -> None:
    done = ask(folder, stdin)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(answer), done.stderr
    assert "  asks: Which soup? [toolu_1]\n    1. lentil\n    2. pea\n" in done.stderr
    assert done.stderr.count("asks: Which soup?") == 1
    assert "sessions answer" not in done.stderr, "the user needs no other terminal"


def test_several_questions_are_asked_one_after_the_other(folder: Path) -> None:
    done = ask(folder, "pea\nFriday\n", "cook two things")
    assert done.stdout.startswith("Pea soup for Friday"), done.stderr
    output = done.stderr
    assert output.index("asks: Which") < output.index("asks: For when") < output.rindex("> ")


def test_the_session_continues_without_an_answer_after_standard_input_ends(folder: Path) -> None:
    done = ask(folder, "", ANTIPHON_COORDINATOR_PERSON_WAIT_S="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("I assumed lentil.")
    assert (
        "standard input has ended; the session continues without an answer after the time limit"
        in done.stderr
    )
    assert "caution: The user was asked “Which soup?” and did not answer in time." in done.stderr


@pytest.mark.parametrize(("stdin", "answer"), [("maybe\ny\n", "It takes 40"), ("n\n", "Then not.")])
def test_calls_are_approved_there_too(folder: Path, stdin: str, answer: str) -> None:
    done = ask(folder, stdin, script=APPROVAL, ANTIPHON_TOOL_DISPATCHER_APPROVAL="find_recipe")
    assert done.stdout.startswith(answer), done.stderr
    assert 'waits for approval: find_recipe(query="pea soup") [toolu_1]' in done.stderr


def test_json_output_is_one_response_on_stdout_in_a_dialogue(folder: Path) -> None:
    done = ask(folder, "2\n", "Cook.", "--json")
    response = Response.model_validate(orjson.loads(done.stdout))
    assert response.answer.startswith("Pea soup")


def test_a_question_from_standard_input_leaves_none_for_answers(run: InProcess) -> None:
    assert "--interactive: the question is read from standard input" in run.refused(
        "ask", "-", "--interactive"
    )


def test_a_person_at_a_terminal_is_asked_and_answers(folder: Path) -> None:
    with (
        scripted_model(SCRIPT) as model,
        Terminal(*ASK, "Cook.", folder=folder, ANTHROPIC_BASE_URL=model.url) as terminal,
    ):
        terminal.until("a number, or your own text> ")
        terminal.type("2\n")
        assert terminal.end() == 0
    assert "Pea soup" in terminal.model_view


def test_an_absent_person_does_not_keep_the_program_from_ending(folder: Path) -> None:
    """Standard input stays open, and the program ends although a read of it still waits."""
    with scripted_model(SCRIPT) as model:
        settings = {"ANTHROPIC_BASE_URL": model.url, "ANTIPHON_COORDINATOR_PERSON_WAIT_S": "1"}
        with Terminal(*ASK, "Cook.", folder=folder, **settings) as terminal:
            assert terminal.end() == 0
    assert "a number, or your own text> " in terminal.model_view
    assert "no person replied in time; continues without" in terminal.model_view
    assert "I assumed lentil." in terminal.model_view
