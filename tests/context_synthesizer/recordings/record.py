"""Records sessions of a real pipeline: `python -m tests.context_synthesizer.recordings.record`.

A server replies in place of the model by the scripts of scripts.py; everything else is the real pipeline, with the
tools of examples/. Another session uses the offline model. Each becomes a file here, of the events from which a memory
is made.
"""

import asyncio
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events.codec import encode
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.text.tokens import estimate_tokens

from antiphon import Antiphon
from antiphon.observe import session_log
from tests.context_synthesizer.recordings.scripts import SCRIPTS
from tests.messages_server import MessagesServer, Received, Scripted, Use

BRIEFING_TOKENS = 800
FOLDER = Path(__file__).parent
OFFLINE_QUESTION = "Which courses discuss vector clocks, and which discuss idempotency keys?"
_KEPT = {"query.submitted", "briefing.requested", "reasoning.completed", "tools.completed", "response.ready"}
_TOOLS = ["examples.courses", "examples.documents"]
_PLACE = re.compile(r"\{([^{}]+)\}")


class CitingServer(MessagesServer):
    """Replies with the scripted text, with the ids of the facts that its prompt shows."""

    def _take(self, received: Received) -> Scripted:
        scripted = super()._take(received)
        prompt = _text_of(received.body)
        text = _PLACE.sub(lambda place: _id_of(place[1], prompt), scripted.text)
        usage = {
            "input_tokens": estimate_tokens(json.dumps(received.body)),
            "output_tokens": estimate_tokens(text),
        }
        return scripted.model_copy(update={"text": text, "usage": usage})


def _text_of(body: Any) -> str:
    """Return the prompt in one piece, joined from the parts made for the cache."""
    contents = [message["content"] for message in body["messages"]]
    blocks = [content if isinstance(content, list) else [{"text": content}] for content in contents]
    return "".join(block.get("text", "") for content in blocks for block in content)


def _id_of(words: str, prompt: str) -> str:
    found = re.search(rf"^(F\d+) .*{re.escape(words)}", prompt, re.MULTILINE)
    if found is None:
        raise LookupError(f"the briefing shows no fact that says: {words}")
    return found[1]


async def record(name: str, question: str, script: Sequence[Scripted]) -> None:
    """Record one session as a file."""
    async with CitingServer(script).listening() as server:
        if script:
            os.environ |= {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "none"}
        async with Antiphon.embedded(tools=_TOOLS, model="anthropic" if script else "offline") as antiphon:
            response = await antiphon.ask(question, session_id=name, max_rounds=12, timeout_s=60)
            bus = Bus(Connections(antiphon.address), Keys(), BusSettings())
            await bus.open(5.0)
            log = await session_log(bus, name)
            await bus.close()
    lines = [
        json.dumps({"log_entry": entry, "event": json.loads(encode(event))}, ensure_ascii=False)
        for entry, event in log
        if event.type.removeprefix("antiphon.").removesuffix(".v1") in _KEPT
    ]
    (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    assert response.status == "complete", f"{name} ended as {response.status}: {response.answer}"


async def main() -> None:
    os.environ |= {
        "ANTIPHON_CONTEXT_SYNTHESIZER_BRIEFING_TOKENS": str(BRIEFING_TOKENS),
        "ANTIPHON_COORDINATOR_SUMMARIES_MAX": "0",  # one would take the reply of a round
    }
    await record("offline", OFFLINE_QUESTION, [])
    for name, script in SCRIPTS.items():
        replies = [
            Scripted(
                text=step.text,
                uses=tuple(
                    Use(name=tool, input=arguments, id=f"toolu_{number}_{place}")
                    for place, (tool, arguments) in enumerate(step.uses)
                ),
            )
            for number, step in enumerate(script.steps, 1)
        ]
        await record(name, script.question, replies)


if __name__ == "__main__":
    asyncio.run(main())
