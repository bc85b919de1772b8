"""The changes of one reasoning.requested."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from anthropic.types import Message
from antiphon_shared.bus.handling import BRIEFING as BRIEFING_NAME
from antiphon_shared.bus.handling import TO_SUMMARIZE, Delivery, Outcome
from antiphon_shared.events import ReasoningCompleted, ReasoningFailed, SummaryCompleted, SummaryFailed
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.text.tokens import estimate_tokens
from antiphon_shared.tools.calls import Catalogue
from pydantic_core import to_json

from reasoning_engine.handlers import ReasoningEngine
from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prices import Prices
from reasoning_engine.prompt import Prompt
from tests.envelopes import an_event
from tests.fakes import FakeSession
from tests.reasoning_engine.builders import BRIEFING, OUTLINE, SEARCH, a_request, the_settings
from tests.reasoning_engine.test_summarize import SOURCE, SUMMARY
from tests.reasoning_engine.test_summarize import a_request as a_summary_request


class StubModel:
    """Replies with a fixed text and keeps its prompts."""

    def __init__(self, text: str = "Yes.") -> None:
        self.text = text
        self.was_asked, self.may_reply = asyncio.Event(), asyncio.Event()
        self.prompts: list[Prompt] = []
        self.may_reply.set()

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        self.prompts.append(prompt)
        self.was_asked.set()
        await self.may_reply.wait()
        on_text(self.text)
        return Message.model_validate(
            {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": prompt["model"],
                "content": [{"type": "text", "text": self.text}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 1_000_000, "output_tokens": 0},
            }
        )


class EngineCase:
    """An engine with a stub for its model, a session to work on, and a count of catalogues loaded."""

    def __init__(self, *tools: Any, **settings: Any) -> None:
        self.model, self.loaded = StubModel(), 0
        self.tools = tools or (SEARCH, OUTLINE)
        is_offline = settings.pop("is_offline", False)
        self.engine = ReasoningEngine(
            self.model,
            the_settings(**settings),
            "default-model",
            load_catalogue=self.catalogue,
            is_offline=is_offline,
            record_bytes_max=4_000_000,
        )
        self.session = FakeSession(
            documents={BRIEFING_NAME: (1, BRIEFING.encode()), TO_SUMMARIZE: (1, SOURCE.encode())}
        )

    async def catalogue(self, content_hash: str) -> Catalogue:
        assert content_hash == "c0ffee"
        self.loaded += 1
        return Catalogue(tools=self.tools)

    async def handle(self, **fields: Any) -> Outcome:
        delivery = Delivery(an_event(a_request(**fields)), "6-0")
        return await self.engine.on_reasoning_requested(delivery, self.session)

    async def summary(self, **fields: Any) -> SummaryCompleted | SummaryFailed:
        delivery = Delivery(an_event(a_summary_request(**fields)), "6-1")
        outcome = await self.engine.on_summary_requested(delivery, self.session)
        (event,) = outcome.events
        assert isinstance(event, SummaryCompleted | SummaryFailed)
        assert outcome.writes == ()
        return event


async def test_the_reply_is_committed_and_streamed() -> None:
    case = EngineCase()
    outcome = await case.handle(round=2)
    (reply,) = outcome.events
    assert isinstance(reply, ReasoningCompleted)
    assert (reply.round, reply.text, reply.model) == (2, "Yes.", "default-model")
    assert outcome.writes == ()
    assert case.session.text == ["Yes."]


async def test_only_the_tools_named_are_offered_in_the_catalogues_order() -> None:
    case = EngineCase()
    await case.handle(tools=("outline", "search", "gone"))
    await case.handle(tools=("outline",))
    offered = [[tool["name"] for tool in prompt["tools"]] for prompt in case.model.prompts]
    assert offered == [["search", "outline"], ["outline"]]


async def test_an_offer_is_rendered_once() -> None:
    case = EngineCase()
    for _ in range(3):
        await case.handle()
    assert case.loaded == 1
    first, second, _ = case.model.prompts
    assert first["tools"] is second["tools"]


async def test_without_a_catalogue_the_model_answers_from_facts_and_it_is_fetched_again() -> None:
    case = EngineCase()
    case.tools = ()
    await case.handle()
    case.tools = (SEARCH,)
    await case.handle()
    first, second = case.model.prompts
    assert "tools" not in first
    assert "The tools are unavailable" in str(first["messages"])
    assert len(second["tools"]) == 1


async def test_without_tools_no_catalogue_is_loaded() -> None:
    case = EngineCase()
    await case.handle(tools=(), last_round_because="The limit of 4 rounds is reached.")
    assert case.loaded == 0


async def test_the_requests_own_model_is_asked_and_has_no_price() -> None:
    case = EngineCase(input_usd=3.0)
    (default,) = (await case.handle()).events
    (other,) = (await case.handle(model="other")).events
    assert isinstance(default, ReasoningCompleted)
    assert isinstance(other, ReasoningCompleted)
    assert (default.usage.cost_usd, other.usage.cost_usd) == (3.0, None)
    assert [prompt["model"] for prompt in case.model.prompts] == ["default-model", "other"]


async def test_a_fallback_model_has_its_own_price() -> None:
    case = EngineCase(input_usd=3.0, prices={"other": Prices(input_usd=1.0)})
    (other,) = (await case.handle(model="other")).events
    assert isinstance(other, ReasoningCompleted)
    assert other.usage.cost_usd == 1.0


async def test_a_deadline_long_past_is_a_failure_and_no_call() -> None:
    case = EngineCase()
    (failed,) = (await case.handle(deadline=datetime(2020, 1, 1, tzinfo=UTC))).events
    assert isinstance(failed, ReasoningFailed)
    assert (failed.error.code, case.model.prompts) == ("timeout", [])


@pytest.mark.parametrize("documents", [{}, {"briefing": (2, b"# Question\nAnother round's")}])
async def test_a_briefing_that_is_not_the_one_requested_is_refused(documents: dict[str, Any]) -> None:
    case = EngineCase()
    case.session.documents = documents
    with pytest.raises(UnreadableEvent, match="round 1 of session s1"):
        await case.handle()


class TestThePromptsEstimate:
    """The estimated tokens of one call, which the coordinator compares with the model's count."""

    async def estimated(self, case: EngineCase, **fields: Any) -> int:
        (reply,) = (await case.handle(**fields)).events
        assert isinstance(reply, ReasoningCompleted)
        return reply.prompt_tokens_estimated

    async def test_the_estimate_covers_system_prompt_tools_and_briefing(self) -> None:
        case = EngineCase()
        without = await self.estimated(case, tools=())
        texts = [block["text"] for block in case.model.prompts[0]["system"]]
        texts.append(str(case.model.prompts[0]["messages"][0]["content"]))
        assert without == sum(map(estimate_tokens, texts))
        case = EngineCase()
        for _ in range(2):
            estimated = await self.estimated(case)
            (prompt,) = case.model.prompts
            tools = estimate_tokens(to_json(prompt["tools"]).decode())
            assert estimated == tools + estimate_tokens(prompt["system"][0]["text"]) + estimate_tokens(
                BRIEFING
            )
            case.model.prompts.clear()

    async def test_tools_in_the_prompt_count_with_its_text(self) -> None:
        case = EngineCase(tool_style="prompted")
        estimated = await self.estimated(case)
        (prompt,) = case.model.prompts
        assert "tools" not in prompt
        texts = [*(block["text"] for block in prompt["system"]), str(prompt["messages"][0]["content"])]
        assert estimated == sum(map(estimate_tokens, texts))

    async def test_the_offline_model_gets_tools_in_its_own_style(self) -> None:
        case = EngineCase(tool_style="prompted", is_offline=True)
        await self.estimated(case)
        assert "tools" in case.model.prompts[0]

    async def test_the_offline_models_count_is_an_estimate_itself(self) -> None:
        assert await self.estimated(EngineCase(is_offline=True)) == 0


class TestSummaries:
    def case(self, **settings: Any) -> EngineCase:
        case = EngineCase(**settings)
        case.model.text = SUMMARY
        return case

    async def test_the_summary_is_committed_and_not_streamed(self) -> None:
        case = self.case()
        completed = await case.summary()
        assert isinstance(completed, SummaryCompleted)
        assert (completed.text, completed.model) == (SUMMARY, "claude-haiku-5-5")
        assert SOURCE in str(case.model.prompts[0]["messages"][0]["content"])
        assert case.session.text == []

    @pytest.mark.parametrize(
        ("settings", "fields", "code"),
        [({"is_offline": True}, {}, "not_supported"), ({}, {"source": "another"}, "stale")],
    )
    async def test_no_model_is_called_for_an_impossible_summary(
        self, settings: dict[str, Any], fields: dict[str, Any], code: str
    ) -> None:
        case = self.case(**settings)
        failed = await case.summary(**fields)
        assert isinstance(failed, SummaryFailed)
        assert (failed.error.code, failed.round, case.model.prompts) == (code, 2, [])
        assert failed.usage.cost_usd == 0, "the session's cost stays known"

    async def test_a_summary_of_a_missing_text_is_stale(self) -> None:
        case = self.case()
        case.session.documents.clear()
        failed = await case.summary()
        assert isinstance(failed, SummaryFailed)
        assert failed.error.code == "stale"

    async def test_a_call_beyond_the_concurrency_limit_fails_without_waiting(self) -> None:
        case = self.case(summary_concurrency=1)
        case.model.may_reply.clear()
        first = asyncio.ensure_future(case.summary())
        await case.model.was_asked.wait()
        failed = await case.summary()
        assert isinstance(failed, SummaryFailed)
        assert (failed.error.code, failed.error.retryable) == ("overloaded", True)
        case.model.may_reply.set()
        assert isinstance(await first, SummaryCompleted)
        assert isinstance(await case.summary(), SummaryCompleted), "there is room again"
