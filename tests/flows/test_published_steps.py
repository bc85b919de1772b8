"""Steps by the name that the operator has published them under: five real processes."""

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest
from antiphon_shared.events import ReasoningRequested
from antiphon_shared.events.session import Response

from antiphon import Antiphon
from antiphon.errors import SubmissionRejected
from antiphon.replay.rerun import rerun
from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.test_shaped_answers import of_cheat
from tests.flows.test_steps import BOOK, BOOKED, COUNT, DONE, FOUND, STEPS, begun, has_come_to
from tests.messages_server import Scripted

OTHERS = [{"name": "other", "instructions": "Do something else.", "tools": ["count_berths"]}]
QUESTION = "Book a harbour. (by name)"
TEXTS = [COUNT, FOUND, BOOK, BOOKED]


async def ask(
    five: Pipeline, name: str, session_id: str | None = None, folder: Path | None = None
) -> Response:
    async with Antiphon(five.redis.url) as client:
        response = await client.ask(QUESTION, steps=name, session_id=session_id)
        if folder is not None and session_id is not None:
            await client.export(session_id, folder)
        return response


def rejection(five: Pipeline, steps: object) -> str:
    """Return why the intake refuses a query with such steps."""
    before = len(five.entries(five.keys.rejected()))
    five.submit(QUESTION, options=json.dumps({"steps": steps}))
    five.until(lambda: len(five.entries(five.keys.rejected())) > before, "the rejection")
    _, fields = five.entries(five.keys.rejected())[-1]
    return fields[b"reason"].decode()


def test_a_session_keeps_the_steps_that_its_name_referred_to(tmp_path: Path) -> None:
    file, recordings = tmp_path / "harbour.yaml", tmp_path / "recordings"
    file.write_text(json.dumps({"steps": [STEPS[0], STEPS[2]]}))
    scripted: list[Scripted] = of_cheat("(by name)", tuple(TEXTS))
    tools = "tests.flows.validating_tools,tests.flows.ledger_tools"
    with pipeline(scripted=scripted, ANTIPHON_TOOLS=tools, ANTIPHON_COORDINATOR_STEPS=str(file)) as five:
        five.hold("reasoning_engine")
        five.submit(QUESTION, session_id="s1", options=json.dumps({"steps": "harbour"}))
        five.until(partial(has_come_to, five, ReasoningRequested, 1), "the first round")
        five.kill("coordinator")
        file.write_text(json.dumps({"steps": OTHERS}))
        five.start("coordinator")
        five.let_go("reasoning_engine")
        assert five.response_to("s1").result == DONE
        assert begun(five, "s1") == [("discovery", 1), ("booking", 1)]
        again = asyncio.run(ask(five, "harbour", "s1", recordings))
        assert again == five.response_to("s1"), "the same name is the same session"
        five.wait_until_idle()
        assert (
            "no published steps are named 'harbor'. Did you mean harbour? There are: harbour."
            in rejection(five, "harbor")
        )
        with pytest.raises(SubmissionRejected, match="no published steps are named 'harbor'"):
            asyncio.run(ask(five, "harbor"))
    (report,) = asyncio.run(rerun([recordings / "s1.jsonl"]))
    assert report.is_same, report


def test_a_fault_in_a_list_is_named_without_inner_names() -> None:
    with pipeline(scripted=of_cheat("(by name)", tuple(TEXTS))) as five:
        assert rejection(five, [{"name": 1}]).startswith(
            "options.steps.0.name: Input should be a valid string"
        )
        assert rejection(five, 3).startswith("options.steps: Input should be a valid array")
        assert rejection(five, "a b").startswith("options.steps: String should match pattern")
        assert "No steps are published: set ANTIPHON_COORDINATOR_STEPS." in rejection(five, "any")
