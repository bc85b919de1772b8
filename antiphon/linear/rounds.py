"""The loop: call the model, run the tools, append their results, and call the model again."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from antiphon_shared.events import ReasoningCompleted, ToolsCompleted, ToolsRequested
from antiphon_shared.events.session import Status, TerminationReason
from antiphon_shared.memory.filing import file_round
from antiphon_shared.memory.layers import Memory
from antiphon_shared.process.clock import milliseconds, monotonic_s, utc_now
from antiphon_shared.text.tokens import estimate_tokens
from antiphon_shared.tools.calls import Catalogue, RequestedCall, ToolCall

from antiphon.linear.history import linear_prompt, message_tokens, returned, said
from antiphon.linear.states import RoundState, round_state
from antiphon.linear.tools import LinearTools
from coordinator import approvals, ladder, limits, offer, repetitions
from coordinator.session import MadeWrite, Session, Spent, doubt, replace
from reasoning_engine.engine import UNGUARDED, to_nobody
from reasoning_engine.exchange import Exchange
from reasoning_engine.failure import Failed
from reasoning_engine.offer import Offer
from reasoning_engine.port import OwnedModel
from reasoning_engine.reply import Reply
from reasoning_engine.settings import EngineSettings

if TYPE_CHECKING:
    from anthropic.types import MessageParam

_NO_LOG = "0-0"
"""The log entry of a reply, as this plan has no log."""
_NEARLY_S = 0.1
"""Retries and tools stop a little before the deadline; the rest is too short for a model."""


@dataclass
class LinearSession:
    """The state of a linear session."""

    session: Session
    """Its round, limits, calls, usage and beginning, in the coordinator's form."""
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

    @property
    def spent(self) -> Spent:
        """Return the usage that counts against the session's limits."""
        return self.session.spent

    @spent.setter
    def spent(self, spent: Spent) -> None:
        self.session = replace(self.session, spent=spent)


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of the rounds."""

    status: Status
    reason: TerminationReason
    reply: ReasoningCompleted | None = None
    """The reply whose text is the answer; without one, the answer quotes the facts."""


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
        settings: EngineSettings,
    ) -> None:
        self._state, self._catalogue, self._system = state, catalogue, system
        self._model, self._tools = model, tools
        self._model_id = state.session.models.own or default_model_id
        self._settings = settings.priced_for(self._model_id, is_default=self._model_id == default_model_id)
        self._ends_s = monotonic_s() + (state.session.deadline - utc_now()).total_seconds()

    async def run(self) -> Ending:
        """Run rounds to the end; the session's limits bound their number."""
        state = self._state
        while True:
            number, before, began_s = state.session.round, state.session.spent.usage, monotonic_s()
            state.completed = None
            ending = await self._round()
            spent = state.session.spent.usage.total_tokens - before.total_tokens
            reason = ending.reason if ending is not None else None
            took_ms = milliseconds(monotonic_s() - began_s)
            state.rounds.append(round_state(number, state.completed, reason, spent, took_ms))
            if ending is not None:
                return ending

    async def _round(self) -> Ending | None:
        """Call the model once; then return how the session ends, or run the requested calls and return None."""
        state = self._state
        names = set(offer.allowed(state.session, self._catalogue))
        offered = Offer.of(tool for tool in self._catalogue.tools if tool.name in names)
        tokens = state.tokens + offered.tokens + estimate_tokens(self._system)
        too_much = self._spent(tokens)
        if too_much is not None:
            return Ending("partial", too_much)
        last = limits.last_round_reason(state.session, tokens)
        room = limits.tokens_left(state.session) - limits.calibrated(state.session, tokens)
        prompt = linear_prompt(
            self._system,
            offered.tools,
            state.messages,
            limits.explain(last, state.session),
            self._model_id,
            max(1, min(self._settings.max_output_tokens, room)),
        )
        exchange = Exchange(
            self._model, to_nobody, self._settings, self._ends_s, tokens, UNGUARDED, to_nobody
        )
        try:
            async with asyncio.timeout(self._ends_s - monotonic_s()):
                reply = await exchange.reply_to(prompt)
        except TimeoutError:
            return Ending("partial", "deadline_exceeded")
        except Failed as failed:
            return self._failed(failed)
        finally:
            state.spent = state.spent.plus(exchange.usage)
        self._hear(reply, exchange, tokens)
        return await self._after(reply, last)

    def _spent(self, tokens: int) -> TerminationReason | None:
        """Return why the model must not be called any more; None when it may."""
        session = self._state.session
        if self._is_over:
            return "deadline_exceeded"
        if limits.tokens_left(session) <= limits.calibrated(session, tokens):
            return "token_budget_exhausted"
        cost_left_usd = limits.cost_left_usd(session)
        return "cost_budget_exhausted" if cost_left_usd is not None and cost_left_usd <= 0 else None

    @property
    def _is_over(self) -> bool:
        return monotonic_s() >= self._ends_s - _NEARLY_S

    def _failed(self, failed: Failed) -> Ending:
        """Return the ending after the last failed attempt at the model."""
        if self._is_over:
            return Ending("partial", "deadline_exceeded")
        message = f"The model could not be asked in round {self._state.session.round}: {failed}"
        told = doubt("model_failed", message, "model")
        self._state.session = self._state.session.doubting(told)
        return Ending("partial", "model_unavailable")

    def _hear(self, reply: Reply, exchange: Exchange, tokens: int) -> None:
        """Record the reply, and its token counts for the calibration of estimates."""
        session, usage = self._state.session, exchange.usage
        counted = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        if counted and exchange.attempts == 1 and not self._model.is_offline:
            self._state.spent = replace(
                self._state.spent,
                tokens_counted=session.spent.tokens_counted + counted,
                tokens_estimated=session.spent.tokens_estimated + tokens,
            )
        self._state.spent = replace(self._state.spent, rounds=session.round)
        self._state.reply = ReasoningCompleted(
            round=session.round,
            text=reply.text,
            tool_calls=reply.tool_calls,
            stop_reason=reply.stop_reason,
            model=reply.model or self._model_id,
            usage=usage,
            attempts=max(1, exchange.attempts),
        )

    async def _after(self, reply: Reply, last: TerminationReason | None) -> Ending | None:
        """Return the ending after a reply, or run its calls, begin the next round and return None."""
        state = self._state
        if reply.stop_reason == "refusal":
            return Ending("failed", "model_refused", state.reply)
        if reply.tool_calls and last is None and state.session.tools.usable:
            if limits.tokens_left(state.session) <= 0:
                return Ending("partial", "token_budget_exhausted", state.reply)
            await self._run_tools(reply)
            return None
        if reply.stop_reason in ("max_tokens", "context_window"):
            return Ending("partial", "reply_truncated", state.reply)
        if last is not None and not (state.reply and limits.is_answer(last, state.reply)):
            return Ending("partial", last, state.reply)
        return Ending("complete", "natural_completion", state.reply)

    async def _run_tools(self, reply: Reply) -> None:
        """Run one batch, and append its results to the history."""
        state, session = self._state, self._state.session
        request = _batch_of(
            session, reply, offer.allowed(session, self._catalogue), self._catalogue, state.calls
        )
        state.calls |= {call.id: call for call in reply.tool_calls}
        made = _handed_out(session, request, self._catalogue)
        completed = state.completed = await self._tools.run(session.id, request)
        untrusted = approvals.untrusted_calls(session, completed, self._catalogue)
        delta = file_round(state.memory, state.reply, completed, untrusted=untrusted)
        state.memory = state.memory.plus(delta)
        ok = [result.tool for result in completed.results if result.status == "ok"]
        kept = replace(session, writes=replace(session.writes, made=made))
        kept = replace(kept, writes=replace(kept.writes, made=repetitions.after_results(kept, completed)))
        after = ladder.after_results(kept, completed)
        notice = ladder.notice(after, request.allowed)
        calls = session.spent.tool_calls + sum(call.refused is None for call in request.calls)
        state.session = replace(
            after,
            round=session.round + 1,
            spent=replace(session.spent, tool_rounds=session.spent.tool_rounds + 1, tool_calls=calls),
            tools=replace(after.tools, succeeded=tuple(dict.fromkeys((*session.tools.succeeded, *ok)))),
            material=replace(
                session.material, has_untrusted=session.material.has_untrusted or bool(untrusted)
            ),
        )
        state.add(said(reply.text, reply.tool_calls))
        state.add(returned(state.memory, delta, notice))


def _handed_out(session: Session, request: ToolsRequested, catalogue: Catalogue) -> tuple[MadeWrite, ...]:
    """Return the writes of the session including those of a batch."""
    tools = catalogue.by_name
    writes = [call for call in request.calls if call.name in tools and tools[call.name].effect == "write"]
    return repetitions.handed_out(
        replace(session, material=replace(session.material, reasoning=_NO_LOG)), writes
    )


def _batch_of(
    session: Session,
    reply: Reply,
    allowed: tuple[str, ...],
    catalogue: Catalogue,
    asked: Mapping[str, ToolCall],
) -> ToolsRequested:
    """Return the calls of a reply as a batch, in which those beyond the session's limit are refused."""
    sources = {write.id: asked[write.source] for write in session.writes.made if write.source in asked}
    room = max(0, session.limits.max_tool_calls - session.spent.tool_calls)
    refusal = f"the session's limit of {session.limits.max_tool_calls} tool calls is reached"
    calls = tuple(
        RequestedCall(**call.model_dump(), refused=None if n < room else refusal)
        for n, call in enumerate(reply.tool_calls)
    )
    return ToolsRequested(
        round=session.round,
        calls=repetitions.as_calls(session, calls, allowed, catalogue, sources),
        allowed=allowed,
        succeeded=session.tools.succeeded,
        has_untrusted=session.material.has_untrusted,
        tenant=session.query.tenant,
        deadline=session.deadline,
    )
