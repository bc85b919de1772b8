"""Runs in a running pipeline of five processes: published, begun, answered, settled, resumed, and looked at."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from antiphon_shared.events import COMPONENTS

from tests.antiphon.cli.processes import launched, read_until, the_rest
from tests.antiphon.cli.workflows.soups import WORKFLOWS, write_soups
from tests.antiphon.conftest import LIMIT_S, antiphon, clean_environment, until
from tests.flows.starting import started
from tests.redis_server import RedisServer


class Soups:
    """A pipeline with the tools and workflows of soups."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.folder, self.settings = folder, settings

    def __call__(self, *arguments: str, code: int = 0) -> "subprocess.CompletedProcess[str]":
        """Run `antiphon workflows ARGUMENTS`, which is to exit with a code."""
        done = antiphon("workflows", *arguments, cwd=self.folder, **self.settings)
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done

    def begun(self, *arguments: str) -> str:
        """Return the id of a run that was begun and left alone."""
        return self("run", *arguments, "--detach").stdout.strip()

    def view(self, run_id: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(self("runs", "show", run_id, "--json").stdout)
        return found

    def until(self, run_id: str, status: str) -> None:
        until(lambda: self.view(run_id)["status"] == status, f"the run to be {status}")


@pytest.fixture(scope="module")
def soups(redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Soups]:
    """Start a pipeline whose coordinator publishes the file before it accepts a query."""
    folder = tmp_path_factory.mktemp("soups")
    write_soups(folder)
    settings = {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": f"t{uuid4().hex[:12]}"}
    variables = clean_environment(
        **settings,
        ANTIPHON_TOOLS="soups",
        ANTIPHON_WORKFLOWS=str(folder / "soups.yaml"),
        ANTIPHON_REASONING_ENGINE_PROVIDER="offline",
        ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES="read,write",
    )
    variables["PYTHONPATH"] += f":{folder}"
    log = folder / "log"
    five = [started(component, variables, log, is_forked=True) for component in COMPONENTS]
    try:
        until(lambda: log.read_text().count('"event":"ready"') == len(COMPONENTS), "five to be ready")
        yield Soups(folder, settings)
    finally:
        for process in five:
            process.terminate()
        for process in five:
            process.wait(timeout=LIMIT_S)


def test_workflows_loaded_by_a_coordinator_are_shown_without_files(soups: Soups) -> None:
    assert {one["name"] for one in json.loads(soups("list", "--json").stdout)} == {*WORKFLOWS["workflows"]}
    assert "Ask a person." in soups("show", "ask_first").stdout
    assert "sale" in soups("graph", "sell_one").stdout
    assert "each" in soups("dry-run", "weigh_all", "--param", "grams=1").stdout


def test_a_value_of_one_run_is_the_param_of_another(soups: Soups) -> None:
    first = soups.begun("weigh_all", "--param", "grams=5", "--run-id", "first.run")
    assert first == "first.run"
    soups.until(first, "completed")
    done = soups("run", "weigh_all", "--param", "grams=@{first.run}.weighed")
    assert json.loads(done.stdout)["grams"] == 19
    done = soups("run", "weigh_all", "--param", "grams=@{first.run}.eaten", code=2)
    assert "@first.run has no 'eaten': it is an object with grams, note, weighed. Defined:" in done.stderr
    done = soups("run", "weigh_all", "--param", "grams=@nobody.n", code=2)
    assert "no finished run has this id" in done.stderr


def test_an_answer_is_refused_with_the_reason_or_accepted(soups: Soups) -> None:
    run_id = soups.begun("ask_first")
    soups.until(run_id, "waiting")
    shown = soups("runs", "show", run_id)
    assert f"antiphon workflows runs answer {run_id} grams=... soup=... --node cook" in shown.stderr
    assert run_id in soups("runs", "list").stdout
    refused = soups("runs", "answer", run_id, "grams=1", "soup=onion", code=1)
    assert 'cook refused it: param \'soup\': "onion" is none of "pea", "lentil"' in refused.stderr
    assert "value 'x' was not requested" in soups("runs", "answer", run_id, "x=1", "grams=1", code=2).stderr
    soups("runs", "answer", run_id, "grams=1", "soup=pea", "--token", "wrong", code=1)
    token = soups("runs", "show", run_id, "--token", "cook").stdout.strip()
    soups("runs", "answer", run_id, "grams=1", "soup=pea", "--token", token, "--by", "ann")
    assert json.loads(soups("runs", "watch", run_id).stdout) == {"grams": 1, "soup": "pea"}
    soups("runs", "answer", run_id, "grams=1", code=1)


def test_a_write_of_unknown_outcome_is_settled_and_the_run_resumed(soups: Soups) -> None:
    done = soups("run", "sell_one", "--run-id", "sale", code=1)
    assert "It can be resumed: antiphon workflows runs resume sale" in done.stderr
    view = soups.view("sale")
    assert (view["status"], view["unknown"], view["is_resumable"]) == ("needs_review", ["sale"], True)
    assert "the outcome is missing" in soups("runs", "settle", "sale", "sale", code=2).stderr
    soups("runs", "settle", "sale", "first", "--happened", code=1)
    early = soups("runs", "resume", "sale", code=1).stderr
    assert "the outcome of sale is unknown" in early
    assert "antiphon workflows runs settle sale sale --happened (or --did-not-happen)" in early
    soups("runs", "settle", "sale", "sale", "--happened", "--result", '{"sold": "bean"}', "--by", "ann")
    soups("runs", "resume", "sale")
    assert json.loads(soups("runs", "watch", "sale").stdout) == {"sold": "bean"}
    view = soups.view("sale")
    assert (view["status"], view["standing"], view["unknown"]) == ("completed", ["sale"], [])
    assert "run sale cannot be resumed" in soups("runs", "resume", "sale", code=1).stderr
    assert "run nowhere does not exist" in soups("runs", "resume", "nowhere", code=2).stderr


def test_ctrl_c_leaves_a_run_going_which_can_then_be_cancelled(soups: Soups) -> None:
    words = ("workflows", "run", "ask_first", "--run-id", "left")
    process = launched(*words, cwd=soups.folder, **soups.settings)
    read_until(process, "to answer:")
    process.send_signal(signal.SIGINT)
    _, stderr = the_rest(process)
    assert process.returncode == 130
    assert "antiphon workflows runs watch left" in stderr
    assert soups.view("left")["status"] == "waiting"
    soups("runs", "cancel", "left", "--reason", "dinner is over")
    assert "dinner is over" in soups("runs", "watch", "left", code=1).stdout


def test_session_commands_also_show_runs(soups: Soups) -> None:
    run_id = soups.begun("weigh_all", "--param", "grams=2")
    soups.until(run_id, "completed")
    for words in (("list",), ("show", run_id), ("watch", run_id)):
        done = antiphon("sessions", *words, cwd=soups.folder, **soups.settings)
        assert done.returncode == 0, done.stderr


def test_publishing_names_every_error_and_publishes_nothing(soups: Soups) -> None:
    call = {"description": "D", "graph": {"a": {"call": "wiegh"}}}
    file = {"domain": "others", "version": "1", "workflows": {"other": call, "sell_one": call}}
    (soups.folder / "others.yaml").write_text(json.dumps(file))
    done = soups("publish", "others.yaml", "soups.yaml", code=1)
    assert "there is no tool wiegh. Did you mean weigh?" in done.stderr
    assert "others.yaml has a workflow sell_one too" in done.stderr
    assert "other" not in soups("list").stdout.split()


def test_a_domain_is_published_and_withdrawn(soups: Soups) -> None:
    flow = {"description": "D", "graph": {"a": {"call": "weigh", "args": {"grams": 1}}}}
    file = {"domain": "more", "version": "1", "workflows": {"more_soup": flow}}
    (soups.folder / "more.json").write_text(json.dumps(file))
    (published,) = json.loads(soups("publish", "more.json", "--json").stdout)
    assert published["workflows"] == ["more_soup"]
    soups("run", "more_soup")
    clash = {**file, "domain": "clash"}
    (soups.folder / "clash.json").write_text(json.dumps(clash))
    done = soups("publish", "clash.json", code=2)
    assert "Two domains have a workflow 'more_soup': more and clash." in done.stderr
    soups("withdraw", "more")
    assert "workflow 'more_soup'" in soups("run", "more_soup", code=2).stderr
    assert "Did you mean soups?" in soups("withdraw", "soup", code=2).stderr


def test_a_coordinator_with_an_invalid_file_exits_and_names_every_error(soups: Soups, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(json.dumps({"domain": "Bad", "workflows": {}}))
    (tmp_path / "empty").mkdir()
    paths = f"{tmp_path / 'bad.yaml'},{tmp_path / 'empty'}"
    environment = clean_environment(**soups.settings, ANTIPHON_WORKFLOWS=paths)
    command = [sys.executable, "-m", "coordinator"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 2
    for message in (
        "ANTIPHON_WORKFLOWS",
        "version is missing",
        "'Bad' is not a valid name",
        "the folder holds no file",
    ):
        assert message in done.stderr, done.stderr
