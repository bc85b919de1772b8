"""A tool that fails for one dispatcher is left alone by another, and a person decides for both."""

import os
from pathlib import Path
from typing import Any

import orjson
from antiphon_shared.events import COMPONENTS

from tests.flows.pipeline import ANSWER, FORMS, Pipeline, pipeline
from tests.messages_server import Scripted, Use

CALLS = 11
"""The calls of one session: one more than open the breaker."""
SCRIPT = [
    Scripted(
        when="Round 1 of",
        uses=tuple(Use(name="measure", input={"n": n}) for n in range(CALLS)),
        repeat=True,
    ),
    Scripted(when="of", text=ANSWER, repeat=True),
]


def breakers(five: Pipeline, *arguments: str) -> Any:
    """Return the JSON output of `antiphon breakers`."""
    done = five.antiphon("breakers", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return orjson.loads(done.stdout)


def errors_of(five: Pipeline, session_id: str) -> list[str]:
    """Return how the calls of a session ended: an error's type, or ok."""
    five.submit("How long is it?", session_id=session_id)
    five.response_to(session_id)
    return [(result.get("error") or {}).get("error_type", "ok") for result in five.results(session_id)]


@FORMS
def test_a_tool_whose_circuit_opened_in_one_process_is_not_run_by_the_next_until_closed(
    tmp_path: Path, processes: int
) -> None:
    runs = tmp_path / "runs"
    with pipeline(
        is_started=False,
        processes=processes,
        scripted=SCRIPT,
        ANTIPHON_TOOLS="tests.flows.failing_tools,tests.flows.archive_tools",
        UNWELL_FOLDER=str(tmp_path),
    ) as five:
        five.start(*COMPONENTS)
        five.wait_until_ready()
        assert "api_failure" in errors_of(five, "one")
        five.until(
            lambda: any(one["phase"] != "closed" for one in breakers(five, "list")), "the breaker to open"
        )

        five.terminate("tool_dispatcher", 60)
        five.start("tool_dispatcher-2")
        five.wait_until_ready("tool_dispatcher-2")
        before = runs.read_bytes().count(b"\n")
        # There is at most one probe, regardless of the time this took.
        assert errors_of(five, "two").count("circuit_open") >= CALLS - 1
        assert runs.read_bytes().count(b"\n") <= before + 1

        (tmp_path / "is-well").touch()
        breakers(five, "open", "tool:measure", "--because", "It is looked after.")
        before = runs.read_bytes().count(b"\n")
        five.until(
            lambda: set(errors_of(five, f"held-{os.urandom(4).hex()}")) == {"circuit_open"}, "refusals"
        )
        runs_before = runs.read_bytes().count(b"\n")
        assert set(errors_of(five, "three")) == {"circuit_open"}
        assert runs.read_bytes().count(b"\n") == runs_before

        breakers(five, "close", "tool:measure")
        five.until(lambda: set(errors_of(five, f"well-{os.urandom(4).hex()}")) == {"ok"}, "results")
        five.until(lambda: breakers(five, "list") == [], "nothing to be left")
