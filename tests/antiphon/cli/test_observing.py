"""The commands that look at a running pipeline, and those that need none."""

import socket
from pathlib import Path
from typing import get_args

import orjson
import pytest
import redis
from antiphon_shared.events import COMPONENTS, QuerySubmitted
from antiphon_shared.events.base import Component
from antiphon_shared.events.session import Response

from antiphon.replay.verify import verify
from tests.antiphon.conftest import QUESTION, InProcess, until
from tests.redis_server import RedisServer

RECORDINGS = Path(__file__).parents[2] / "recordings"


def test_status_shows_every_component_and_its_workers(run: InProcess, pipeline: dict[str, str]) -> None:
    shown = run.json("status", **pipeline)
    assert [part["component"] for part in shown["components"]] == list(COMPONENTS)
    assert {part["workers_alive"] for part in shown["components"]} == {1}
    table = run("status", **pipeline).stdout
    assert all(component in table for component in COMPONENTS)


def test_status_works_while_everything_is_absent(run: InProcess, empty: dict[str, str]) -> None:
    run("submit", "why?", **empty)
    shown = run.json("status", **empty)
    assert {part["workers_alive"] for part in shown["components"]} == {0}
    assert shown["queue"]["length"] == 1
    assert shown["queue"]["oldest_wait_s"] >= 0
    assert run("status", **empty).exit_code == 0


def test_status_shows_why_the_newest_submission_was_rejected(
    run: InProcess, pipeline: dict[str, str]
) -> None:
    queue = f"{pipeline['ANTIPHON_NAMESPACE']}:queries"
    with redis.Redis.from_url(pipeline["ANTIPHON_REDIS_URL"]) as client:
        submission = {"query": "Which nuts?", "options": '{"max_round": 2}', "session_id": "nuts"}
        entry = client.xadd(queue, submission).decode()
    until(lambda: run.json("status", **pipeline)["rejected"], "the rejection")
    rejection = run.json("status", **pipeline)["newest_rejection"]
    assert (rejection["entry"], rejection["code"]) == (entry, "submission_rejected")
    table = run("status", **pipeline).stdout
    assert f"UTC: {rejection['reason']}" in table
    assert "Did you mean max_rounds?" in table
    shown = run("sessions", "show", "nuts", **pipeline)
    assert f"the query of session nuts was rejected: {rejection['reason']}" in shown.stderr


def test_health_distinguishes_live_components_from_absent_ones(
    run: InProcess, pipeline: dict[str, str], empty: dict[str, str]
) -> None:
    assert run("health", "coordinator", **pipeline).exit_code == 0
    assert run("health", "coordinator", "--here", **pipeline).exit_code == 0
    absent = run("health", "coordinator", "--here", **empty)
    assert absent.exit_code == 1
    assert f"no worker is alive on {socket.gethostname()}" in absent.stderr
    document = run.json("health", "coordinator", **empty)
    assert document == {"component": "coordinator", "is_healthy": False, "workers": []}


def test_a_conversation_continues_and_is_listed(run: InProcess, pipeline: dict[str, str]) -> None:
    follow_up = "And which spices are in it?"
    first = Response.model_validate_json(
        run("ask", QUESTION, "--conversation", "c1", "--json", **pipeline).stdout
    )
    assert first.sources[0].tool == "find_recipe"
    assert run("ask", follow_up, "--conversation", "c1", **pipeline).exit_code == 0

    def listed() -> list[dict[str, str]]:
        return run.json("sessions", "list", "--conversation", "c1", **pipeline)  # type: ignore[no-any-return]  # our own JSON

    until(lambda: len(listed()) == 2, "both turns to be kept")
    turn, second = listed()
    assert (turn["session_id"], turn["question"], turn["status"]) == (first.session_id, QUESTION, "complete")
    assert "[1]" in first.answer
    assert "[1]" not in turn["answer"]
    assert second["question"] == follow_up
    shown = run("sessions", "list", "--conversation", "c1", **pipeline).stdout
    assert first.session_id in shown
    other = run("sessions", "list", "--conversation", "c1", "--tenant", "acme", **pipeline)
    assert (other.stdout, "of tenant acme" in other.stderr) == ("", True)


def test_an_invalid_conversation_id_is_refused(run: InProcess, pipeline: dict[str, str]) -> None:
    for arguments in (("ask", "Why?"), ("submit", "Why?"), ("sessions", "list")):
        assert "conversation" in run.refused(*arguments, "--conversation", "no spaces", **pipeline)


def test_a_pipeline_for_one_question_refuses_a_conversation_it_would_forget(run: InProcess) -> None:
    assert "ANTIPHON_REDIS_URL" in run.refused(
        "ask", QUESTION, "--conversation", "c1", "--model", "offline", ANTIPHON_TOOLS="recipes"
    )


def test_sessions_are_listed_shown_and_cancelled(run: InProcess, pipeline: dict[str, str]) -> None:
    session_id = run("submit", QUESTION, **pipeline).stdout.strip()
    assert run("sessions", "watch", session_id, **pipeline).exit_code == 0

    listed = run.json("sessions", "list", **pipeline)
    mine = next(row for row in listed if row["session_id"] == session_id)
    assert (mine["status"], mine["query"]) == ("complete", QUESTION)
    assert session_id in run("sessions", "list", **pipeline).stdout

    readable = run("sessions", "show", session_id, **pipeline).stdout
    assert "response.ready" in readable
    events = run("sessions", "show", session_id, "--json", **pipeline).stdout.splitlines()
    assert orjson.loads(events[0])["type"] == QuerySubmitted.type
    assert orjson.loads(events[-1])["data"]["session_id"] == session_id

    ended = run("sessions", "cancel", session_id, "--json", **pipeline)
    assert orjson.loads(ended.stdout) == {"session_id": session_id, "cancelling": False}


def test_a_session_of_a_pipeline_is_exported_and_looked_at_elsewhere(
    run: InProcess, folder: Path, pipeline: dict[str, str], empty: dict[str, str]
) -> None:
    asked = run.json("ask", QUESTION, **pipeline)
    exported = run("recording", "export", asked["session_id"], "-o", "here", "--gz", **pipeline)
    assert (exported.exit_code, exported.stdout) == (0, f"here/{asked['session_id']}.jsonl.gz\n")
    assert "1 recording" in exported.stderr
    assert verify(folder / exported.stdout.strip()).answer == "same"

    assert run("recording", "import", "here", **empty).stdout == f"{asked['session_id']}\n"
    listed = run.json("sessions", "list", **empty)
    assert [(one["session_id"], one["status"], one["query"]) for one in listed] == [
        (asked["session_id"], "complete", QUESTION)
    ]
    shown = run("sessions", "show", asked["session_id"], "--json", **empty).stdout
    assert shown == run("sessions", "show", asked["session_id"], "--json", **pipeline).stdout
    watched = run("sessions", "watch", asked["session_id"], "--json", **empty)
    assert orjson.loads(watched.stdout.splitlines()[-1])["data"]["answer"] == asked["answer"]


def test_a_session_that_ended_early_shows_why(run: InProcess, empty: dict[str, str]) -> None:
    name = "tokens_are_gone_before_the_model_can_conclude.jsonl"
    session_id = run("recording", "import", str(RECORDINGS / name), **empty).stdout.strip()
    shown = run("sessions", "show", session_id, **empty)
    assert "partial: token_budget_exhausted" in shown.stdout
    assert "Uncertainty\n  caution: The token budget ran out" in shown.stdout


def test_a_watched_session_can_be_read_by_programs(run: InProcess, pipeline: dict[str, str]) -> None:
    session_id = run("submit", QUESTION, **pipeline).stdout.strip()
    lines = run("sessions", "watch", session_id, "--json", **pipeline).stdout.splitlines()
    assert orjson.loads(lines[-1])["type"] == "antiphon.response.ready.v1"


def test_tools_are_those_of_the_pipeline_or_of_modules(
    run: InProcess, pipeline: dict[str, str], empty: dict[str, str]
) -> None:
    published = run.json("tools", "list", **pipeline)
    here = run.json("tools", "list", "--tools", "recipes")
    built_in = {"_plan", "ask_user", "find_tools", "read_result", "recall", "repeat_call"}
    assert built_in < {tool["name"] for tool in published}
    assert [tool for tool in published if tool["name"] not in built_in] == here
    assert "find_recipe (read)" in run("tools", "show", "find_recipe", **pipeline).stdout
    assert "There are: find_recipe" in run.refused("tools", "show", "nothing", "--tools", "recipes")
    assert "No dispatcher" in run("tools", "list", **empty).stderr


def test_dead_letters_are_listed_shown_requeued_and_dropped(
    run: InProcess, pipeline: dict[str, str], redis_server: RedisServer
) -> None:
    inbox = f"{pipeline['ANTIPHON_NAMESPACE']}:{{0}}:inbox:coordinator"
    with redis.Redis(port=redis_server.port) as server:
        server.xadd(inbox, {"event": "no event at all", "log": "1-1"})
    letters: list[dict[str, str]] = []
    while not letters:
        letters = run.json("dead", "list", **pipeline)
    letter_id = letters[0]["id"]
    assert letter_id in run("dead", "list", **pipeline).stdout
    assert "no event at all" in run("dead", "show", letter_id, **pipeline).stdout
    assert run.json("dead", "show", letter_id, **pipeline)["id"] == letter_id
    assert run("dead", "requeue", letter_id, **pipeline).exit_code == 2, "it is no readable event"
    assert run("dead", "drop", letter_id, **pipeline).exit_code == 0
    assert run.json("dead", "list", **pipeline) == []


def test_every_event_and_every_setting_can_be_printed(run: InProcess) -> None:
    assert orjson.loads(run("events", "schema").stdout)["asyncapi"] == "3.0.0"
    rows = run.json("settings")
    assert "ANTIPHON_REDIS_URL" in [row["variable"] for row in rows]
    assert "ANTIPHON_BUS_LEASE_S" in run("settings").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["health", "nobody"], "nobody"),
        (["run", "nobody"], "nobody"),
        (["sessions", "show", "no spaces"], "session_id"),
        (["sessions", "show", "unknown"], "sessions list"),
        (["sessions", "watch", "unknown"], "sessions list"),
        (["sessions", "cancel", "unknown"], "sessions list"),
        (["sessions", "approve", "unknown"], "sessions list"),
        (["sessions", "deny", "unknown", "--call", "c1"], "sessions list"),
        (["sessions", "approve", "no spaces"], "session_id"),
        (["sessions", "list", "--limit", "0"], "--limit"),
        (["dead", "show", "nonsense"], "nonsense"),
        (["dead", "show", "0/1-1"], "dead list"),
        (["dead", "drop", "0/1-1"], "dead list"),
        (["dead", "requeue", "9/1-1"], "9/1-1"),
        (["tools", "list", "--tools", "no_such_module"], "no_such_module"),
        (["up", "--replicas", "nobody=1"], "nobody"),
        (["up", "--replicas", "coordinator=many"], "many"),
        (["up", "--replicas", "coordinator"], "coordinator=2"),
        (["up", "--replicas", "coordinator=99999999999"], "999"),
        (["submit", " "], "query"),
        (["submit", "x", "--session-id", "no spaces"], "session_id"),
    ],
)
def test_invalid_arguments_are_refused_with_a_hint(
    run: InProcess, empty: dict[str, str], arguments: list[str], message: str
) -> None:
    assert message in run.refused(*arguments, **empty)


def test_observers_report_an_unavailable_redis_and_exit_3(run: InProcess) -> None:
    for command in (["status"], ["dead", "list"]):
        done = run(*command, ANTIPHON_REDIS_URL="redis://127.0.0.1:1/0")
        assert done.exit_code == 3
        assert "Cannot connect to Redis at redis://" in done.stderr


@pytest.mark.parametrize("command", [[], ["sessions"], ["dead"], ["tools"], ["events"]])
def test_a_group_alone_teaches_its_commands(run: InProcess, command: list[str], folder: Path) -> None:
    result = run(*command)
    assert "Commands" in result.output


def test_the_component_names_of_the_command_line_match_those_of_the_bus() -> None:
    assert get_args(Component) == COMPONENTS
