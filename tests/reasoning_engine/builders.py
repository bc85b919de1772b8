"""Requests to reason about, and the real SDK pointed at a scripted server."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from antiphon_shared.events import ReasoningCompleted, ReasoningFailed, ReasoningRequested
from antiphon_shared.memory.briefing import digest_of
from antiphon_shared.redaction.redactor import WELL_KNOWN, Redactor
from antiphon_shared.tools.calls import ToolDefinition

from reasoning_engine.access import Access
from reasoning_engine.call_guard import CallGuard
from reasoning_engine.choice import choose_model
from reasoning_engine.engine import UNGUARDED, discard, reason
from reasoning_engine.exchange_record import OnCall
from reasoning_engine.offer import Offer
from reasoning_engine.settings import EngineSettings
from tests.messages_server import Received, Scripted, serving

CONNECTION_S = 1_000.0
"""The library's timeout for a reply: longer than the tested ones."""
SECONDS_LEFT = 20.0
CLAUDE, CHAT = "claude-sonnet-5-5", "openai:gpt-x"
"""A model that is asked by the Messages API, and one by chat completions."""
BRIEFING = "# Question\nWhy?\n\n# Now\nRound 1 of at most 4."
SEARCH = ToolDefinition(
    name="search",
    description="Searches.",
    input_schema={
        "type": "object",
        "properties": {"q": {"type": "string"}},
        "x-orchestration": {"mode": "parallel-safe"},
    },
    effect="read",
)
OUTLINE = SEARCH.model_copy(update={"name": "outline", "description": "Outlines."})


def a_request(**fields: Any) -> ReasoningRequested:
    known: dict[str, Any] = {
        "round": 1,
        "briefing": digest_of(BRIEFING),
        "catalogue": "c0ffee",
        "tools": ("search", "outline"),
        "tokens_left": 100_000,
        "deadline": datetime(2100, 1, 1, tzinfo=UTC),
    }
    return ReasoningRequested(**known | fields)


def the_settings(**fields: Any) -> EngineSettings:
    """Return patient but quick settings."""
    known: dict[str, Any] = {"backoff_initial_s": 0.001, "backoff_max_s": 0.002, "retry_after_max_s": 0.01}
    return EngineSettings(**known | fields)


@dataclass
class Asked:
    """The outcome of one request, and its cost."""

    outcome: ReasoningCompleted | ReasoningFailed
    requests: list[Received]
    events: list[str] = field(default_factory=list)

    @property
    def completed(self) -> ReasoningCompleted:
        assert isinstance(self.outcome, ReasoningCompleted), self.outcome
        return self.outcome

    @property
    def failed(self) -> ReasoningFailed:
        assert isinstance(self.outcome, ReasoningFailed), self.outcome
        return self.outcome


async def ask(
    *script: Scripted,
    seconds_left: float = SECONDS_LEFT,
    request: ReasoningRequested | None = None,
    guard: CallGuard = UNGUARDED,
    schema: dict[str, Any] | None = None,
    model_id: str = CLAUDE,
    on_call: OnCall = discard,
    redactor: Redactor = WELL_KNOWN,
    **settings: Any,
) -> Asked:
    """Reason once, through the SDK and a socket, with a server that follows the script."""
    async with serving(*script) as server:
        return await ask_at(
            server.url,
            server.requests,
            seconds_left,
            request,
            guard,
            schema=schema,
            model_id=model_id,
            on_call=on_call,
            redactor=redactor,
            **settings,
        )


async def ask_at(
    url: str,
    requests: list[Received],
    seconds_left: float = SECONDS_LEFT,
    request: ReasoningRequested | None = None,
    guard: CallGuard = UNGUARDED,
    events: list[str] | None = None,
    schema: dict[str, Any] | None = None,
    model_id: str = CLAUDE,
    on_call: OnCall = discard,
    redactor: Redactor = WELL_KNOWN,
    **settings: Any,
) -> Asked:
    """Ask at any address and listen there, for the length of the call."""
    access = Access(base_url=url, openai_base_url=f"{url}/v1")
    model = choose_model("auto", access, CONNECTION_S, {"ANTIPHON_MODEL": (model_id,)})
    events = [] if events is None else events
    try:
        outcome = await reason(
            request or a_request(),
            BRIEFING,
            Offer.of([SEARCH, OUTLINE]),
            model,
            events.append,
            the_settings(**settings),
            model_id=model_id,
            seconds_left=seconds_left,
            guard=guard,
            schema=schema,
            on_call=on_call,
            redactor=redactor,
        )
    finally:
        await model.close()
    return Asked(outcome, requests, events)
