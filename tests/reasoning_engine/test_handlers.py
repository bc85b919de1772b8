"""What one reasoning.requested changes."""

from datetime import UTC, datetime
from typing import Any

import pytest
from anthropic.types import Message

from reasoning_engine.handlers import ReasoningEngine
from reasoning_engine.model import OnText
from reasoning_engine.prompt import Prompt
from shared.bus.handling import Delivery, Outcome
from shared.errors import UnreadableEvent
from shared.events import ReasoningCompleted, ReasoningFailed
from shared.tools import Catalogue
from tests.envelopes import an_event
from tests.fakes import FakeSession
from tests.reasoning_engine.builders import BRIEFING, OUTLINE, SEARCH, a_request, the_settings


class StubModel:
    """Says "Yes." and keeps what it was asked."""

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    async def reply(self, prompt: Prompt, on_text: OnText) -> Message:
        self.prompts.append(prompt)
        on_text("Yes.")
        return Message.model_validate(
            {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": prompt["model"],
                "content": [{"type": "text", "text": "Yes."}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 1_000_000, "output_tokens": 0},
            }
        )


class Room:
    """An engine with a stub for its model, a session to work on, and a count of catalogues loaded."""

    def __init__(self, *tools: Any, **settings: Any) -> None:
        self.model, self.loaded = StubModel(), 0
        self.tools = tools or (SEARCH, OUTLINE)
        self.engine = ReasoningEngine(self.model, the_settings(**settings), "default-model", self.catalogue)
        self.session = FakeSession(documents={"briefing": (1, BRIEFING.text.encode())})

    async def catalogue(self, content_hash: str) -> Catalogue:
        assert content_hash == "c0ffee"
        self.loaded += 1
        return Catalogue(tools=self.tools)

    async def handle(self, **fields: Any) -> Outcome:
        delivery = Delivery(an_event(a_request(**fields)), "6-0")
        return await self.engine.on_reasoning_requested(delivery, self.session)


async def test_the_reply_is_committed_and_streamed() -> None:
    room = Room()
    outcome = await room.handle(round=2)
    (reply,) = outcome.events
    assert isinstance(reply, ReasoningCompleted)
    assert (reply.round, reply.text, reply.model) == (2, "Yes.", "default-model")
    assert outcome.writes == ()
    assert room.session.text == ["Yes."]


async def test_only_the_tools_named_are_offered_in_the_catalogues_order() -> None:
    room = Room()
    await room.handle(tools=("outline", "search", "gone"))
    await room.handle(tools=("outline",))
    offered = [[tool["name"] for tool in prompt["tools"]] for prompt in room.model.prompts]
    assert offered == [["search", "outline"], ["outline"]]


async def test_an_offer_is_rendered_once() -> None:
    room = Room()
    for _ in range(3):
        await room.handle()
    assert room.loaded == 1
    first, second, _ = room.model.prompts
    assert first["tools"] is second["tools"]


async def test_a_catalogue_that_is_gone_leaves_the_model_to_the_facts_and_is_asked_for_again() -> None:
    room = Room()
    room.tools = ()
    await room.handle()
    room.tools = (SEARCH,)
    await room.handle()
    first, second = room.model.prompts
    assert "tools" not in first
    assert "The tools are out of reach" in str(first["messages"])
    assert len(second["tools"]) == 1


async def test_without_tools_no_catalogue_is_loaded() -> None:
    room = Room()
    await room.handle(tools=(), last_round_because="The limit of 4 rounds is reached.")
    assert room.loaded == 0


async def test_the_requests_own_model_is_asked_and_has_no_price() -> None:
    room = Room(input_usd=3.0)
    (default,) = (await room.handle()).events
    (other,) = (await room.handle(model="other")).events
    assert isinstance(default, ReasoningCompleted)
    assert isinstance(other, ReasoningCompleted)
    assert (default.usage.cost_usd, other.usage.cost_usd) == (3.0, None)
    assert [prompt["model"] for prompt in room.model.prompts] == ["default-model", "other"]


async def test_a_deadline_long_past_is_a_failure_and_no_call() -> None:
    room = Room()
    (failed,) = (await room.handle(deadline=datetime(2020, 1, 1, tzinfo=UTC))).events
    assert isinstance(failed, ReasoningFailed)
    assert (failed.error.code, room.model.prompts) == ("timeout", [])


@pytest.mark.parametrize("documents", [{}, {"briefing": (2, b"# Question\nAnother round's")}])
async def test_a_briefing_that_is_not_the_one_requested_is_refused(documents: dict[str, Any]) -> None:
    room = Room()
    room.session.documents = documents
    with pytest.raises(UnreadableEvent, match="round 1 of session s1"):
        await room.handle()
