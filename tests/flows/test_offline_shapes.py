"""Answers with a shape by the offline model: five real processes, tools of the examples, no key and no network."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from antiphon_shared.output.step_file import read_steps

from tests.antiphon.conftest import clean_environment
from tests.flows.pipeline import pipeline
from tests.flows.recorded import assert_recordings_verify
from tests.flows.starting import ROOT

LINE = (
    "Every 10 minutes, read the water gauge of station Skagen. When the limit of 2.5 is passed, write to channel "
    "#harbour. Name the line skagen-high-water and deploy it."
)
PARTS = [
    {"component": "schedule", "settings": {"every_minutes": 10}},
    {"component": "water_gauge", "settings": {"station": "Skagen"}},
    {"component": "threshold", "settings": {"limit": 2.5, "side": "above"}},
    {"component": "chat_message", "settings": {"channel": "#harbour"}},
]
COURSE: dict[str, Any] = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "lessons": {"type": "integer", "minimum": 1}},
    "required": ["title", "lessons"],
    "additionalProperties": False,
}


def lines_deployed(database: Path) -> Sequence[tuple[str, list[dict[str, Any]], str, str | None]]:
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT name, line, checksum, reason FROM deployments").fetchall()
    return [(name, json.loads(line)["parts"], checksum, reason) for name, line, checksum, reason in rows]


def test_a_line_is_found_configured_validated_and_deployed_once_in_three_steps(tmp_path: Path) -> None:
    database = tmp_path / "assembly.sqlite3"
    steps = [
        step.model_dump(mode="json", exclude_none=True)
        for step in read_steps((ROOT / "examples" / "assembly" / "steps.yaml").read_text())
    ]
    with pipeline(
        ANTIPHON_TOOLS="examples.assembly",
        ASSEMBLY_DATABASE=str(database),
        ANTIPHON_REASONING_ENGINE_PROVIDER="offline",
    ) as five:
        five.submit(LINE, session_id="s1", options=json.dumps({"steps": steps}))
        response = five.response_to("s1")
        assert (response.status, response.termination_reason) == ("complete", "natural_completion"), response
        ((name, parts, checksum, reason),) = lines_deployed(database)
        assert (name, parts, reason) == ("skagen-high-water", PARTS, None)
        assert response.result == {"deployment": "D-1001", "checksum": checksum}
        five.wait_until_idle()
        assert_recordings_verify(five, ["s1"])


def test_the_command_of_the_example_ends_with_a_line_that_runs(tmp_path: Path) -> None:
    database = tmp_path / "assembly.sqlite3"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "antiphon", "ask", LINE, "--tools", "examples.assembly", "--json"),
            *("--steps", "examples/assembly/steps.yaml", "--model", "offline", "--scope", "read"),
            *("--scope", "write"),
        ],
        cwd=ROOT,
        env={**clean_environment(), "ASSEMBLY_DATABASE": str(database)},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    response = json.loads(done.stdout)
    ((_, parts, checksum, _),) = lines_deployed(database)
    assert (response["status"], response["result"]["checksum"]) == ("complete", checksum)
    assert parts == PARTS


def test_a_question_about_a_course_is_answered_in_its_shape() -> None:
    with pipeline(ANTIPHON_TOOLS="examples.courses", ANTIPHON_REASONING_ENGINE_PROVIDER="offline") as five:
        asked = {
            "native": {"output_schema": COURSE},
            "by tool": {"output_schema": {**COURSE, "additionalProperties": {"type": "string"}}},
            "not held": {
                "output_schema": {
                    **COURSE,
                    "required": ["title", "lessons", "price_in_euro"],
                    "properties": {**COURSE["properties"], "price_in_euro": {"type": "number"}},
                }
            },
        }
        for session, options in asked.items():
            question = "How many lessons does the course Bread from Scratch have?"
            five.submit(question, session_id=session.replace(" ", "_"), options=json.dumps(options))
        for session in ("native", "by_tool"):
            response = five.response_to(session)
            assert response.status == "complete", response
            assert response.result == {"title": "Bread from Scratch", "lessons": 6}
        refused = five.response_to("not_held")
        assert (refused.status, refused.termination_reason, refused.result) == (
            "partial",
            "output_invalid",
            None,
        )
        five.wait_until_idle()
        assert_recordings_verify(five, [session.replace(" ", "_") for session in asked])
