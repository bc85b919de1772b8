"""A schema that the Messages API refuses: five real processes, the real SDK over a real socket."""

import asyncio
import json
from pathlib import Path
from urllib.request import urlopen

from antiphon import Antiphon
from antiphon.replay.rerun import rerun
from antiphon.replay.verify import verify
from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.test_shaped_answers import BOTH
from tests.messages_server import Scripted, Use
from tests.recordings.scenarios.outputs import PLAN, SCHEMA

REFUSED = "output_config.format.schema: Invalid schema: The compiled grammar is too large."
SCRIPT = [
    Scripted(when='"output_config"', status=400, error="invalid_request_error", text=REFUSED, repeat=True),
    Scripted(when="Round 1 of", uses=BOTH, repeat=True),
    Scripted(uses=(Use(name="final_answer", input={**PLAN}),), repeat=True),
]


async def exported(five: Pipeline, session_ids: list[str], folder: Path) -> list[Path]:
    async with Antiphon(five.redis.url) as client:
        return [await client.export(id, folder) for id in session_ids]


def test_after_a_refused_schema_the_session_uses_the_tool_and_never_sends_the_schema_again(
    tmp_path: Path,
) -> None:
    options = {"output_schema": SCHEMA, "validation_tools": ["validate_minimal", "validate_full"]}
    with pipeline(scripted=SCRIPT, ANTIPHON_TOOLS="tests.flows.validating_tools") as five:
        for id in ("s1", "s2"):
            five.submit("Which harbour?", session_id=id, options=json.dumps(options))
            response = five.response_to(id)
            assert (response.status, response.result) == ("complete", PLAN)
        with urlopen(f"{five.model.url}/requests", timeout=60) as reply:
            requests = [one["body"] for one in json.loads(reply.read())]
        assert ["output_config" in one for one in requests] == [True, False, False, False, False]
        assert "schema_refused" in five.logs(100)
        five.wait_until_idle()
        paths = asyncio.run(exported(five, ["s1", "s2"], tmp_path))
    for path in paths:
        report = verify(path)
        assert report.is_same, report.first
        assert not report.unchecked, report.unchecked
    for again in asyncio.run(rerun(paths)):
        assert again.is_same, again
        assert again.first is None, again.first
