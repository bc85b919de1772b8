"""`antiphon workflows run` in a pipeline of its own: what it prints, its params, its exit codes, and a person at it."""

import json
import signal
from pathlib import Path

import pytest

from tests.antiphon.cli.processes import launched, read_until, the_rest
from tests.antiphon.cli.terminal import Terminal
from tests.antiphon.cli.workflows.soups import write_soups
from tests.antiphon.conftest import InProcess, antiphon

RUN = ("workflows", "run")
SOUPS = ("soups.yaml", "--tools", "soups")


@pytest.fixture(autouse=True)
def _soups(folder: Path) -> None:
    write_soups(folder)


def test_a_run_prints_its_result_as_json_on_stdout_and_its_nodes_on_stderr(folder: Path) -> None:
    given = ("--param", "grams=3", "--param", "note=@@home")
    done = antiphon(*RUN, "weigh_all", *SOUPS, *given, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"grams": 3, "note": "@home", "weighed": 19}
    lines = done.stderr.splitlines()
    assert lines[-5:-1] == [
        "  one: calls weigh(grams=3)",
        "  one: ok, 1 result",
        "  each/7: failed: internal_error: ValueError: seven grams are too few",
        "  each: 20 items, 19 done, 1 failed, done",
    ]
    assert lines[-1].startswith("completed, 21 tool calls, ")


def test_files_of_the_environment_are_run_and_params_come_from_a_file(folder: Path) -> None:
    (folder / "given.yaml").write_text("grams: 3\nnote: from the file\n")
    given = ("--params", "given.yaml", "--param", "grams=4", "--json")
    settings = {"ANTIPHON_WORKFLOWS": "soups.yaml", "ANTIPHON_TOOLS": "soups"}
    done = antiphon(*RUN, "weigh_all", *given, cwd=folder, **settings)
    assert json.loads(done.stdout)["result"]["note"] == "from the file"
    assert json.loads(done.stdout)["result"]["grams"] == 4


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            ["grams=3.0", "node=x"],
            "param 'grams': 3.0 is float, but int is required; param 'node' does not exist.",
        ),
        (["note=x"], "param 'grams' is required."),
        (["grams=three"], "param 'grams': \"three\" is not int in JSON, such as 3."),
        (["grams"], "--param 'grams' has no value; use NAME=VALUE; param 'grams' is required."),
        (["grams=@abc.n"], "param 'grams': @abc: a private pipeline has no earlier runs"),
        (["grams=@"], "param 'grams': \"@\" does not name a run"),
    ],
)
def test_params_that_do_not_fit_are_all_named_before_anything_runs(
    run: InProcess, typed: list[str], message: str
) -> None:
    done = run.refused(*RUN, "weigh_all", *SOUPS, *(part for one in typed for part in ("--param", one)))
    assert message in done
    assert "Runs on" not in done


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("none", *SOUPS), 2, "workflow 'none'"),
        (("give_up",), 2, "no workflows are available. Name a file"),
        (("give_up", "no.yaml"), 2, "it does not exist"),
        (("weigh_all", *SOUPS, "--params", "no.json"), 2, "--params: no.json does not exist"),
        (("give_up", *SOUPS, "--detach"), 2, "--detach: a private pipeline ends with this command"),
        (("give_up", *SOUPS, "--run-id", "a b"), 2, "--run-id"),
    ],
)
def test_a_run_that_cannot_start_reports_the_reason(
    run: InProcess, arguments: tuple[str, ...], code: int, message: str
) -> None:
    done = run(*RUN, *arguments)
    assert done.exit_code == code, done.stderr
    assert message in done.stderr


def test_a_failed_run_prints_its_reason_and_exits_1(folder: Path) -> None:
    done = antiphon(*RUN, "give_up", *SOUPS, cwd=folder)
    assert done.returncode == 1
    assert "There is no soup." in done.stdout
    assert "failed, 0 tool calls" in done.stderr
    assert "can be resumed" not in done.stderr, "its pipeline has ended"


def test_ctrl_c_cancels_a_run_of_an_embedded_pipeline(folder: Path) -> None:
    process = launched(*RUN, "ask_first", *SOUPS, cwd=folder)
    read_until(process, "to answer:")
    process.send_signal(signal.SIGINT)
    stdout, stderr = the_rest(process)
    assert process.returncode == 130
    assert "was cancelled" in stdout
    assert "Cancelling" in stderr


def test_a_person_at_a_terminal_is_asked_again_until_the_values_fit(folder: Path) -> None:
    with Terminal(*RUN, "ask_first", *SOUPS, folder=folder) as terminal:
        terminal.until("grams (int, required)> ")
        terminal.type("some\n")
        terminal.until('"some" is not int in JSON')
        terminal.until("grams (int, required)> ")
        terminal.type("250\n")
        terminal.until("lentil)> ")
        terminal.type("onion\n")
        terminal.until("is none of")
        terminal.until("lentil)> ")
        terminal.type("pea\n")
        assert terminal.end() == 0
    assert '"grams": 250' in terminal.model_view
