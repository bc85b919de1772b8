"""The loop: call the model, run the tools, append their results, and call the model again.

The coordinator's `decide` gets the events that the components of a pipeline would send, so that limits, last rounds,
refused calls and the ending are those of the pipeline. Only a model that keeps failing ends the rounds at once.
"""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from antiphon_shared.bus.replies import reply
from antiphon_shared.events import (
    AnyEvent,
    ApprovalRequested,
    AssemblyRequested,
    BriefingReady,
    DeadlineReached,
    EventData,
    PersonOverdue,
    QuestionAsked,
    ReasoningCompleted,
    ReasoningRequested,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.memory.briefing import Outline
from antiphon_shared.memory.filing import file_round
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.process.clock import milliseconds, monotonic_s, utc_now
from antiphon_shared.text.tokens import estimate_tokens
from antiphon_shared.tools.calls import Catalogue, ToolCall

from antiphon.linear.history import linear_prompt, message_tokens, reply_message, results_message
from antiphon.linear.states import RoundState, round_state
from antiphon.linear.tools import LinearTools
from coordinator import fallbacks, limits, offer, repetitions
from coordinator.decide import decide
from coordinator.decision import Decision, Inputs
from coordinator.endings import end
from coordinator.session import Session, new_uncertainty
from coordinator.session_parts import replace
from reasoning_engine.engine import UNGUARDED, discard
from reasoning_engine.exchange import Exchange
from reasoning_engine.failure import Failed
from reasoning_engine.offer import Offer
from reasoning_engine.port import OwnedModel
from reasoning_engine.settings import EngineSettings

if TYPE_CHECKING:
    from anthropic.types import MessageParam

NO_ENTRY = "0-0"
"""The log entry of every event, because this plan has no log."""
_CLOSING_S = 0.1
"""The time before the deadline at which retries and tools stop, as it is too short for a model."""


@dataclass
class LinearSession:
    """The state of a linear session."""

    session: Session
    """Its round, limits, calls, usage and beginning, in the coordinator's form."""
    request: AnyEvent
    """The coordinator's newest request."""
    messages: "list[MessageParam]"
    """All messages, oldest first."""
    memory: Memory
    """The results of the tools, filed."""
    tokens: int
    """The estimated tokens of the messages."""
    reply: ReasoningCompleted | None = None
    """The newest reply."""
    calls: dict[str, ToolCall] = field(default_factory=dict)
    """All calls of the model, by id."""
    completed: ToolsCompleted | None = None
    """The batch of the round, once it has run."""
    rounds: list[RoundState] = field(default_factory=list)
    """The rounds that are over."""

    def add(self, message: "MessageParam") -> None:
        """Append one message."""
        self.messages.append(message)
        self.tokens += message_tokens(message)

    def take(self, event: AnyEvent, decision: Decision) -> EventData:
        """Continue with a decision; return its request, which is the first of its events."""
        self.session = decision.session
        self.request = reply(event, 0, decision.commands[0], "coordinator", event.time)
        return decision.commands[0]


class Rounds:
    """The loop of one session."""

    def __init__(
        self,
        state: LinearSession,
        catalogue: Catalogue,
        system: str,
        model: OwnedModel,
        default_model_id: str,
        tools: LinearTools,
        *,
        settings: EngineSettings,
    ) -> None:
        self._state, self._catalogue, self._system = state, catalogue, system
        self._model, self._tools = model, tools
        self._model_id = state.session.models.own or default_model_id
        self._settings = settings.priced_for(self._model_id, is_default=self._model_id == default_model_id)
        self._ends_s = monotonic_s() + (state.session.deadline - utc_now()).total_seconds()

    async def run(self) -> AssemblyRequested:
        """Run rounds until the answer is requested; the session's limits bound their number."""
        state = self._state
        while True:
            number, before, began_s = state.session.round, state.session.spent.usage, monotonic_s()
            state.completed = None
            request = await self._round()
            ending = request if isinstance(request, AssemblyRequested) else None
            spent = state.session.spent.usage.total_tokens - before.total_tokens
            reason = ending.termination_reason if ending else None
            took_ms = milliseconds(monotonic_s() - began_s)
            state.rounds.append(round_state(number, state.completed, reason, spent, took_ms))
            if ending is not None:
                return ending

    async def _round(self) -> EventData:
        """Call the model once, and run the requested calls; return the coordinator's request after it."""
        session = self._state.session
        if self._is_over:
            return self._next_request(DeadlineReached())
        names = set(offer.allowed(session, self._catalogue))
        offered = Offer.of(tool for tool in self._catalogue.tools if tool.name in names)
        tokens = self._state.tokens + offered.tokens + estimate_tokens(self._system)
        briefing = Outline(digest="", tokens=tokens)
        request = self._next_request(BriefingReady(round=session.round, briefing=briefing))
        if isinstance(request, ReasoningRequested):
            request = await self._after_reply(request, offered, tokens)
        if isinstance(request, ApprovalRequested | QuestionAsked):  # no person can approve or answer
            request = self._next_request(PersonOverdue(round=session.round))
        if isinstance(request, ToolsRequested):
            request = await self._after_batch(request)
        return request

    @property
    def _is_over(self) -> bool:
        return monotonic_s() >= self._ends_s - _CLOSING_S

    async def _after_reply(self, request: ReasoningRequested, offered: Offer, tokens: int) -> EventData:
        """Call the model with the whole history; return the coordinator's request after the reply."""
        state = self._state
        tokens_left = request.tokens_left - limits.calibrated_tokens(state.session, tokens)
        prompt = linear_prompt(
            self._system,
            offered.tools,
            state.messages,
            request.last_round_because,
            self._model_id,
            max(1, min(self._settings.max_output_tokens, tokens_left)),
        )
        exchange = Exchange(
            self._model,
            discard,
            self._settings,
            self._ends_s,
            tokens,
            guard=UNGUARDED,
            on_call=discard,
            redactor=self._tools.redactor,
        )
        try:
            async with asyncio.timeout(self._ends_s - monotonic_s()):
                received = await exchange.reply_to(prompt)
        except (TimeoutError, Failed) as error:
            state.session = replace(state.session, spent=state.session.spent.plus(exchange.usage))
            if isinstance(error, TimeoutError) or self._is_over:
                return self._next_request(DeadlineReached())
            return self._without_model(error)
        is_estimate_known = exchange.attempts == 1 and not self._model.is_offline
        state.reply = ReasoningCompleted(
            round=state.session.round,
            text=received.text,
            tool_calls=received.tool_calls,
            stop_reason=received.stop_reason,
            model=received.model or self._model_id,
            usage=exchange.usage,
            attempts=max(1, exchange.attempts),
            prompt_tokens_estimated=tokens if is_estimate_known else 0,
        )
        return self._next_request(state.reply)

    def _without_model(self, failed: Failed) -> EventData:
        """End the session after the last failed attempt at the model."""
        session, request = self._state.session, self._state.request
        message = f"The model could not be asked in round {session.round}: {failed}"
        reported = session.with_uncertainties(new_uncertainty("model_failed", message, "model"))
        return self._state.take(request, end(reported, request, "partial", "model_unavailable"))

    async def _after_batch(self, request: ToolsRequested) -> EventData:
        """Run one batch, append its results to the history, and return the coordinator's request after it."""
        state = self._state
        assert state.reply is not None, "a batch follows a reply"
        state.calls |= {call.id: call for call in state.reply.tool_calls}
        state.completed = await self._tools.run(state.session.id, request)
        following, session = self._next_request(state.completed), state.session
        untrusted = session.material.untrusted_calls
        delta = file_round(state.memory, state.reply, state.completed, untrusted=untrusted)
        state.memory = state.memory.plus(delta)
        state.add(reply_message(state.reply.text, state.reply.tool_calls))
        state.add(results_message(state.memory, delta, fallbacks.notice(session, request.allowed)))
        return following

    def _next_request(self, data: EventData) -> EventData:
        """Return the coordinator's next request after an event."""
        state, session = self._state, self._state.session
        event = reply(state.request, 0, data, "linear", utc_now())
        repeated = repetitions.calls_to_repeat(session, data) if isinstance(data, ReasoningCompleted) else {}
        earlier = {id: state.calls[source] for id, (_, source) in repeated.items() if source in state.calls}
        return state.take(event, decide(session, event, NO_ENTRY, Inputs(self._catalogue, earlier=earlier)))
