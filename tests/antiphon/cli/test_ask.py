"""`antiphon ask` and `antiphon submit`, as real processes with a pipeline of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
import redis
from antiphon_shared.events import QuerySubmitted, decode
from antiphon_shared.events.session import Response

from tests.antiphon.cli.processes import launched_python, read_until, the_rest
from tests.antiphon.conftest import (
    LIMIT_S,
    QUESTION,
    TOOLS,
    InProcess,
    antiphon,
    clean_environment,
    is_alive,
    until,
)
from tests.grants import a_grant
from tests.redis_server import RedisServer

OFFLINE = ("--model", "offline")


def test_the_answer_is_on_stdout_and_the_rounds_are_on_stderr(folder: Path) -> None:
    done = antiphon("ask", QUESTION, "--tools", "recipes", *OFFLINE, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "40 minutes" in done.stdout
    assert "round" not in done.stdout.splitlines()[0]
    lines = done.stderr.splitlines()
    assert "redis-server" in lines[0]
    assert lines[1] == "round 1"
    assert lines[2].startswith('  calls find_recipe(query="')
    assert lines[3] == "  -> ok, 1 result"
    assert "**Sources**" in done.stdout
    assert "Sources" not in done.stderr
    assert lines[-1].startswith("complete (natural_completion), 2 rounds, 1 tool call, ")


def test_json_is_one_response_on_stdout(run: InProcess) -> None:
    done = run("ask", QUESTION, "--json", "--max-rounds", "3", ANTIPHON_TOOLS="recipes")
    response = Response.model_validate_json(done.stdout)
    assert response.status == "complete"
    assert done.stdout.count("\n") == 1


def test_without_redis_server_it_runs_on_fakeredis_with_a_warning(folder: Path) -> None:
    done = antiphon("ask", QUESTION, "--tools", "recipes", *OFFLINE, cwd=folder, PATH=os.devnull)
    assert done.returncode == 0, done.stderr
    assert "fakeredis inside this process" in done.stderr
    assert "keeps nothing" in done.stderr


def test_a_question_may_come_from_standard_input(folder: Path) -> None:
    done = antiphon("ask", "-", "--tools", "recipes", *OFFLINE, cwd=folder, stdin=QUESTION)
    assert "40 minutes" in done.stdout


@pytest.mark.parametrize(("closed", "shown"), [("<&-", True), (">&-", False), ("2>&-", True)])
def test_a_program_without_a_standard_stream_still_answers(folder: Path, closed: str, shown: bool) -> None:
    done = from_a_shell(folder, f'"$@" {closed}', QUESTION)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert ("40 minutes" in done.stdout) is shown


def test_a_question_from_a_closed_standard_input_has_no_words(folder: Path) -> None:
    done = from_a_shell(folder, '"$@" <&-', "-")
    assert (done.returncode, "contains no words" in done.stderr) == (2, True)


def test_the_output_of_a_tool_does_not_mix_with_the_answer(folder: Path) -> None:
    talks = """
    print('Lentils found.')
    sys.stdout.buffer.write(b'Carrots found.')
    subprocess.run(['echo', 'Cumin found.'], stdout=sys.stdout)
    return"""
    begin = "import subprocess, sys\nsys.stdout.reconfigure(line_buffering=True)\n"
    (folder / "talks.py").write_text(begin + TOOLS.replace("\n    return", talks))
    done = antiphon("ask", QUESTION, "--tools", "talks", "--json", cwd=folder)
    assert orjson.loads(done.stdout)["status"] == "complete"
    assert [name for name in ("Lentils", "Carrots", "Cumin") if f"{name} found." not in done.stderr] == []


def test_ctrl_c_cancels_the_session_and_exits_130(folder: Path) -> None:
    process = an_ask_that_takes_long(folder)
    process.send_signal(signal.SIGINT)
    stdout, stderr = the_rest(process)
    assert process.returncode == 130
    assert "Cancelling session" in stderr
    assert "cancelled" in stdout


@pytest.mark.parametrize("is_pressed_again", [False, True])
def test_a_second_ctrl_c_leaves_at_once(
    folder: Path, redis_server: RedisServer, namespace: str, is_pressed_again: bool
) -> None:
    """Wait a while for the answer after the first one and report that none came; no component runs here."""
    pipeline = {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": namespace}
    process = an_ask(folder, "", after_cancel_s=LIMIT_S if is_pressed_again else 0.5, **pipeline)
    with redis.Redis(port=redis_server.port) as server:
        until(lambda: server.xlen(f"{namespace}:queries"), "the question to be submitted")
    process.send_signal(signal.SIGINT)
    read_until(process, "Cancelling session")
    if is_pressed_again:
        process.send_signal(signal.SIGINT)
    stdout, stderr = the_rest(process)
    assert (process.returncode, stdout) == (130, "")
    assert ("is cancelled and will not run" in stderr) is not is_pressed_again
    with redis.Redis(port=redis_server.port) as server:
        assert len(list(server.scan_iter(f"{namespace}:*:session:~cancelled:*"))) == 1
    assert "Traceback" not in stderr


def test_the_cancellation_of_a_query_in_the_queue_does_not_wait(
    folder: Path, redis_server: RedisServer, namespace: str
) -> None:
    """No component runs here, so the query is not opened."""
    pipeline = {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": namespace}
    session_id = antiphon("submit", QUESTION, cwd=folder, **pipeline).stdout.strip()
    done = antiphon("sessions", "cancel", session_id, cwd=folder, **pipeline)
    assert (done.returncode, done.stdout) == (0, f"Cancelling {session_id}.\n")
    assert "is cancelled and will not run" in done.stderr
    listed = antiphon("sessions", "list", "--json", cwd=folder, **pipeline)
    assert '"queued"' in listed.stdout
    unknown = antiphon("sessions", "cancel", "another", cwd=folder, **pipeline)
    assert (unknown.returncode, "another does not exist" in unknown.stderr) == (2, True)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks children up under /proc")
def test_kill_9_takes_the_private_redis_along(folder: Path) -> None:
    process = an_ask_that_takes_long(folder)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    redis = [int(pid) for pid in children if "redis-server" in Path(f"/proc/{pid}/cmdline").read_text()]
    process.kill()
    process.communicate()
    assert redis
    until(lambda: not any(map(is_alive, redis)), "the private redis-server to end")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "QUERY"),
        (["--no-such-option", "x"], 2, "--no-such-option"),
        ([""], 2, "query: contains no words"),
        (["x", "--max-rounds", "0"], 2, "max_rounds"),
        (["x", "--max-rounds", "three"], 2, "--max-rounds"),
        (["x", "--max-tokens", "1"], 2, "max_tokens"),
        (["x", "--deadline", "nan"], 2, "deadline_s"),
        (["x", "--deadline", "-1"], 2, "deadline_s"),
        (["x", "--model", "gpt"], 2, "--model"),
        (["x", "--tools", "no_such_module"], 2, "no_such_module"),
        (["x", "--tools", "not a module"], 2, "not a module"),
        (["x", "--tools", "recipes:nothing"], 2, "nothing"),
    ],
)
def test_invalid_arguments_are_refused_with_a_hint(
    run: InProcess, arguments: list[str], code: int, message: str
) -> None:
    done = run("ask", *arguments)
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr


@pytest.mark.parametrize("command", ["ask", "submit"])
@pytest.mark.parametrize(
    ("grant", "code", "message"),
    [
        ("nonsense", 2, "grant: it is not a signed JSON Web Token"),
        ("@no-such-file", 2, "--grant: no-such-file does not exist"),
        ("@.", 3, "--grant: . cannot be read: Is a directory"),
        ("@recipes.py", 2, "grant: it is not a signed JSON Web Token"),
        ("@bytes", 3, "--grant: bytes is not UTF-8 text"),
        (a_grant(["read"], session="other"), 2, "grant: valid only for session other"),
    ],
)
def test_an_invalid_grant_is_refused_before_anything_is_sent(
    run: InProcess, folder: Path, command: str, grant: str, code: int, message: str
) -> None:
    (folder / "bytes").write_bytes(b"\xff\xfe")
    done = run(command, "x", "--grant", grant, ANTIPHON_REDIS_URL="redis://127.0.0.1:1/0")
    assert (done.exit_code, done.stdout) == (code, "")
    assert message in done.stderr


def test_a_grant_is_sent_with_the_question(
    run: InProcess, folder: Path, redis_server: RedisServer, namespace: str
) -> None:
    grant = a_grant(["read"])
    (folder / "grant").write_text(f"{grant}\n")
    pipeline = {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": namespace}
    for given in (grant, "@grant"):
        assert run("submit", "why?", "--grant", given, **pipeline).exit_code == 0
    with redis.Redis(port=redis_server.port) as server:
        queued = [decode(fields[b"event"]) for _, fields in server.xrange(f"{namespace}:queries")]
    assert [event.data.grant for event in queued if isinstance(event.data, QuerySubmitted)] == [grant, grant]


def test_input_that_is_not_text_is_unreadable(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "antiphon", "ask", "-"],
        env=clean_environment(),
        cwd=folder,
        input=b"\xff\xfe",
        capture_output=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 3
    assert b"not UTF-8" in done.stderr


@pytest.mark.parametrize(
    ("variables", "code", "message"),
    [
        ({"ANTIPHON_REDIS_URL": "http://x"}, 2, "ANTIPHON_REDIS_URL"),
        (
            {"ANTIPHON_REDIS_URL": "redis://u:pass@127.0.0.1:1/0"},
            3,
            "at redis://127.0.0.1:1/0: connection refused.",
        ),
        ({"ANTIPHON_NAMESPACE": "two words"}, 2, "ANTIPHON_NAMESPACE"),
        ({"ANTIPHON_COORDINATOR_MAX_ROUNDS": "many"}, 2, "ANTIPHON_COORDINATOR_MAX_ROUNDS"),
        ({"ANTIPHON_TYPO": "1"}, 2, "ANTIPHON_TYPO"),
    ],
)
def test_a_setting_that_is_wrong_is_named(
    run: InProcess, variables: dict[str, str], code: int, message: str
) -> None:
    done = run("ask", "x", **variables)
    assert done.exit_code == code
    assert message in done.stderr


def test_options_for_tools_and_model_are_refused_for_a_running_pipeline(run: InProcess) -> None:
    for option in (("--tools", "recipes"), OFFLINE):
        done = run("ask", "x", *option, ANTIPHON_REDIS_URL="redis://127.0.0.1:1/0")
        assert done.exit_code == 2
        assert f"{option[0]}: cannot be used while ANTIPHON_REDIS_URL is set" in done.stderr


def test_a_running_pipeline_answers(pipeline_under_up: dict[str, str], tmp_path: Path) -> None:
    done = antiphon("ask", QUESTION, cwd=tmp_path, **pipeline_under_up)
    assert done.returncode == 0, done.stderr
    assert "40 minutes" in done.stdout
    assert done.stderr.startswith("round 1\n"), "nothing precedes the first round if there are no warnings"


def test_submitting_prints_the_id_that_the_session_is_followed_by(
    pipeline: dict[str, str], tmp_path: Path
) -> None:
    submitted = antiphon("submit", QUESTION, "--session-id", "followed", "--json", cwd=tmp_path, **pipeline)
    assert orjson.loads(submitted.stdout) == {"session_id": "followed"}
    watched = antiphon("sessions", "watch", "followed", cwd=tmp_path, **pipeline)
    assert "40 minutes" in watched.stdout
    assert "  -> ok, 1 result" in watched.stderr


def test_a_wait_for_approval_names_the_command_that_another_terminal_can_type(folder: Path) -> None:
    process = an_ask(folder, "recipes", ANTIPHON_TOOL_DISPATCHER_APPROVAL="find_recipe")
    output = read_until(process, "to approve: ")
    assert any("waits for approval: find_recipe(query=" in line for line in output)
    variable, program, *arguments = output[-1].partition("to approve: ")[2].split()
    name, _, url = variable.partition("=")
    assert (name, program) == ("ANTIPHON_REDIS_URL", "antiphon")
    assert antiphon(*arguments, cwd=folder, **{name: url}).returncode == 0
    stdout, stderr = the_rest(process)
    assert process.returncode == 0, stderr
    assert "  -> ok, 1 result" in stderr
    assert "40 minutes" in stdout


def from_a_shell(folder: Path, how: str, question: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "antiphon", "ask", question, "--tools", "recipes", *OFFLINE]
    return subprocess.run(
        ["/bin/sh", "-c", how, "sh", *words],
        env=clean_environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )


def an_ask_that_takes_long(folder: Path) -> "subprocess.Popen[str]":
    """Start an `antiphon ask` that is in the middle of a tool call."""
    process = an_ask(folder, "slow_recipes")
    read_until(process, "calls find_recipe")
    return process


def an_ask(
    folder: Path, tools: str, after_cancel_s: float = LIMIT_S, **variables: str
) -> "subprocess.Popen[str]":
    program = f"from antiphon.cli import app, pipelines; pipelines._AFTER_CANCEL_S = {after_cancel_s}; app()"
    own = ["--tools", tools, *OFFLINE] if tools else []
    return launched_python("-c", program, "ask", QUESTION, *own, cwd=folder, **variables)


def test_a_wrong_option_is_the_only_report(folder: Path) -> None:
    done = antiphon("ask", QUESTION, "--max-rounds", "0", cwd=folder)
    assert done.returncode == 2
    assert "No tools" not in done.stderr
