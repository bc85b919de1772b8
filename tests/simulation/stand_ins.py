"""The model and the tools of a simulated world, whose behaviour is drawn from a seed.

They replace the reasoning engine and the tool dispatcher, keep the promises of those two to the coordinator, and may
run again at any time. A second run may behave differently from the first.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any, get_args

from antiphon_shared.bus.handling import BRIEFING, TO_SUMMARIZE, Delivery, Outcome, SessionStore
from antiphon_shared.events import (
    EventData,
    QuestionAnswered,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.memory.briefing import digest_of
from antiphon_shared.process.errors import ErrorInfo, UnreadableEvent
from antiphon_shared.tools.calls import (
    REPEAT_CALL,
    ErrorType,
    Repeated,
    RequestedCall,
    ToolCall,
    ToolError,
    ToolResult,
)
from antiphon_shared.tools.journal import (
    begun_entry,
    journal_name,
    outcome_entry,
    read_outcome,
    write_outcome,
)
from antiphon_shared.tools.relevance import ASK_USER
from antiphon_shared.values import Usage

from reasoning_engine.failure import Code
from tests.coordinator.builders import a_catalogue, a_tool
from tests.simulation.stepping import pause

CATALOGUE = a_catalogue(
    a_tool("search", description="Search the archive.", open_world=True),
    a_tool("lookup", description="Look a record up.", alternatives=[{"tool": "search"}]),
    a_tool("note", "write", "Write a note.", approval="after_untrusted"),
    a_tool("pay", "write", "Pay an invoice."),
    a_tool("book", "write", "Book a room.", approval="always"),
    a_tool("find_tools"),
    a_tool("read_result"),
    a_tool("recall"),
    a_tool("ask_user"),
    a_tool("repeat_call"),
)
WRITES = frozenset(tool.name for tool in CATALOGUE.tools if tool.effect == "write")
_NAMES = ("search", "search", "search", "lookup", "note", "pay", "book", "recall", "invented")
_ERRORS: tuple[ErrorType, ...] = get_args(ErrorType)
_MODEL_ERRORS: tuple[Code, ...] = get_args(Code)
_TEXTS: tuple[Any, ...] = (
    "The reading room opens at 9 and closes at 17 o'clock.",
    "Ada Brandt repaired the north tower in 1893. The work took 14 months.",
    "No. 7 was sold for 1,250 crowns.\n\nIt was bought back on 3 May 1921.",
    {"results": [{"title": "Annual report", "text": "Visitors rose by 12 percent."}]},
    {"id": "R-118", "price": 49.5, "currency": "EUR"},
    [],
    "",
    None,
)
_HUGE = "\n".join(f"Shelf {n} holds {n * 7} volumes on the history of bridges." for n in range(240))


@dataclass
class Life:
    """The behaviour of one session's model and tools, and the effects of its tools."""

    random: Random
    patience: float = 0.5
    """The probability that the model requests tools rather than answers."""
    frailty: float = 0.1
    """The probability that a step fails."""
    wordiness: float = 0.02
    """The probability that a result is too long for the briefing."""
    taken_effect: Counter[str] = field(default_factory=Counter)
    """The number of effects by idempotency key."""
    claimed: set[str] = field(default_factory=set)
    settled: dict[str, ToolResult] = field(default_factory=dict)
    keys: dict[tuple[int, str], str] = field(default_factory=dict)
    """The keys of writes by round and call id."""
    owners: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The first call with each key."""

    def key(self, round: int, call: RequestedCall) -> str:
        """Return the key of a write: its effect, and the number of its earlier repetitions."""
        if (round, call.id) not in self.keys:
            what = f"{call.name}/{json.dumps(call.arguments, sort_keys=True)}"
            ordinals = [int(key.rsplit("/", 1)[1]) for key in self.owners if key.startswith(f"{what}/")]
            ordinal = max(ordinals, default=1) + (call.repeat_of is not None)
            self.keys[round, call.id] = f"{what}/{ordinal}"
            self.owners.setdefault(f"{what}/{ordinal}", (round, call.id))
        return self.keys[round, call.id]


def a_life(seed: str) -> Life:
    random = Random(seed)
    return Life(
        random,
        random.choice((0.2, 0.5, 0.7, 0.9)),
        random.choice((0.0, 0.05, 0.1, 0.4)),
        random.choice((0.0, 0.0, 0.0, 0.0, 0.3)),
    )


@dataclass
class Engine:
    """A stand-in for the reasoning engine."""

    life: Callable[[str], Life]
    now: Callable[[], datetime]
    out_for_s: Callable[[str], float | None]
    """Returns the remaining time of a model's outage, or None."""

    async def on_reasoning_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        request = delivery.event.data
        assert isinstance(request, ReasoningRequested)
        _, text = await session.document(BRIEFING)
        if digest_of((text or b"").decode()) != request.briefing:
            raise UnreadableEvent(f"the briefing of round {request.round} is not there any more.")
        life = self.life(session.session_id)
        retry_after_s = self.out_for_s(request.model)
        if retry_after_s is not None:
            return Outcome(events=(_not_asked(request, retry_after_s),))
        await pause(_takes_ms(life, request.deadline, self.now()))
        return Outcome(events=(self._reply(request, life),))

    def _reply(self, request: ReasoningRequested, life: Life) -> ReasoningCompleted | ReasoningFailed:
        random = life.random
        usage = Usage(
            input_tokens=random.choice((100, 900, 4_000)),
            output_tokens=random.choice((20, 500)),
            cost_usd=0.0,
        )
        if random.random() < life.frailty:
            error = ErrorInfo(code=random.choice(_MODEL_ERRORS), message="It broke.")
            retry_after_s = random.choice((None, None, 0.5, 30.0))
            return ReasoningFailed(
                round=request.round,
                error=error,
                model=request.model,
                usage=usage,
                retry_after_s=retry_after_s,
            )
        fields: dict[str, Any] = {"round": request.round, "model": request.model, "usage": usage}
        fields["prompt_tokens_estimated"] = random.choice((0, usage.input_tokens, 2 * usage.input_tokens))
        if random.random() < life.patience and (request.tools or random.random() < 0.05):
            calls = tuple(_a_call(n, request.round, random) for n in range(random.choice((1, 1, 2, 3, 5))))
            if ASK_USER in request.tools:
                calls = tuple(_or_a_question(call, random) for call in calls)
            if REPEAT_CALL in request.tools:
                calls = tuple(_or_a_repetition(call, life) for call in calls)
            stop = "tool_use" if random.random() < 0.95 else "max_tokens"
            text = random.choice(("", "I look it up first."))
            return ReasoningCompleted(text=text, tool_calls=calls, stop_reason=stop, **fields)
        stop = random.choice(("end_turn",) * 7 + ("max_tokens", "refusal", "context_window"))
        text = random.choice(("It opens at 9 [F1].", "1,250 crowns [F2][F9].", "Nobody knows.", " "))
        return ReasoningCompleted(text=text, stop_reason=stop, **fields)

    async def on_summary_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        request = delivery.event.data
        assert isinstance(request, SummaryRequested)
        await session.document(TO_SUMMARIZE)
        life = self.life(session.session_id)
        await pause(_takes_ms(life, request.deadline, self.now()))
        usage = Usage(input_tokens=request.tokens_max, output_tokens=50, cost_usd=0.0)
        data: EventData
        if life.random.random() < 0.3:
            error = ErrorInfo(code=life.random.choice(_MODEL_ERRORS), message="It broke.")
            data = SummaryFailed(round=request.round, error=error, model="m", usage=usage)
        else:
            text = life.random.choice(("F1: It is so.", "Rubbish.", f"{request.facts[0]}: It is so."))
            data = SummaryCompleted(
                round=request.round, text=text, facts=request.facts, model="m", usage=usage
            )
        return Outcome(events=(data,))


@dataclass
class Tools:
    """A stand-in for the dispatcher: it claims a write under its key before the effect, and journals it."""

    life: Callable[[str], Life]
    now: Callable[[], datetime]
    is_stopped: Callable[[Delivery], bool]

    async def on_tools_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        request = delivery.event.data
        assert isinstance(request, ToolsRequested)
        life, journal = self.life(session.session_id), journal_name(request.round)
        results = []
        for index, call in enumerate(request.calls):
            noted = read_outcome((await session.settled(journal)).get(outcome_entry(call.id)))
            result = noted or await self._run(index, call, delivery, life, session)
            if not noted:
                await session.note(
                    journal, outcome_entry(call.id), write_outcome(result, delivery.event.format)
                )
            results.append(result)
        await pause(_takes_ms(life, request.deadline, self.now()))
        return Outcome(events=(ToolsCompleted.of(request.round, tuple(results)),))

    async def _run(
        self, index: int, call: RequestedCall, delivery: Delivery, life: Life, session: SessionStore
    ) -> ToolResult:
        request = delivery.event.data
        assert isinstance(request, ToolsRequested)
        if call.refused is not None:
            return _failed(index, call, "permission_denied", call.refused)
        if call.problem is not None:
            return _failed(index, call, "validation_error", call.problem)
        if call.name not in request.allowed:
            return _failed(index, call, "unknown_tool", "There is no such tool.")
        if call.name == ASK_USER:
            return await _users_answer(index, call, request, session)
        if call.name in WRITES:
            if self.is_stopped(delivery) and life.key(request.round, call) not in life.claimed:
                return _failed(index, call, "cancelled", "The session was cancelled.")
            return await self._write(index, call, request, life, session)
        await pause(life.random.choice((1, 20, 200)))
        if life.random.random() < life.frailty:
            return _failed(index, call, life.random.choice(_ERRORS), "It broke.")
        is_huge = life.random.random() < life.wordiness
        data = _HUGE if is_huge else life.random.choice(_TEXTS)
        other = "search" if call.name == "lookup" and life.random.random() < 0.3 else ""
        return _ok(index, call, data, substitute=other, substitute_because="It is away." if other else "")

    async def _write(
        self, index: int, call: RequestedCall, request: ToolsRequested, life: Life, session: SessionStore
    ) -> ToolResult:
        key = life.key(request.round, call)
        round, first = life.owners[key]
        is_own = (round, first) == (request.round, call.id)
        repeated = None if is_own else Repeated(call_id=first, round=round)
        if key in life.settled:
            own = {"index": index, "call_id": call.id, "repeated": repeated}
            return life.settled[key].model_copy(update=own)
        if key in life.claimed:
            unknown = _failed(index, call, "outcome_unknown", "Somebody has begun with it.")
            return unknown.model_copy(update={"repeated": repeated})
        life.claimed.add(key)
        await session.note(journal_name(request.round), begun_entry(call.id), b"1")
        is_slow = life.random.random() < 0.1
        await pause(
            _takes_ms(life, request.deadline, self.now()) if is_slow else life.random.choice((1, 200, 3_000))
        )
        life.taken_effect[key] += 1
        await pause(life.random.choice((1, 20)))
        if life.random.random() < life.frailty:
            life.settled[key] = _failed(index, call, "outcome_unknown", "No answer came.")
        else:
            life.settled[key] = _ok(index, call, {"done": call.id})
        return life.settled[key]


def _not_asked(request: ReasoningRequested, retry_after_s: float) -> ReasoningFailed:
    error = ErrorInfo(code="circuit_open", message="It keeps failing.", retryable=True)
    return ReasoningFailed(
        round=request.round, error=error, model=request.model, attempts=0, retry_after_s=retry_after_s
    )


def _takes_ms(life: Life, deadline: datetime, now: datetime) -> int:
    """Return the duration of a step, which sometimes exceeds the deadline."""
    if life.random.random() < 0.03:
        left_ms = int((deadline - now).total_seconds() * 1000)
        return max(1, left_ms + life.random.choice((-200, -1, 0, 1, 200, 10_000)))
    return life.random.choice((5, 50, 500, 2_000))


def _a_call(n: int, round: int, random: Random) -> ToolCall:
    problem = "The arguments are no object." if random.random() < 0.05 else None
    arguments = random.choice(({}, {"query": "the reading room"}, {"id": "R-118"}, {"text": "${calls[0]}"}))
    return ToolCall(
        id=f"call_{round}_{n}",
        name=random.choice(_NAMES),
        arguments=arguments,
        problem=problem,
    )


def _or_a_question(call: ToolCall, random: Random) -> ToolCall:
    if random.random() < 0.6:
        return call
    question = random.choice(("Which one?", "Which one?", "${calls[0]}", ""))
    return call.model_copy(update={"name": ASK_USER, "arguments": {"question": question}})


def _or_a_repetition(call: ToolCall, life: Life) -> ToolCall:
    if life.random.random() < 0.7:
        return call
    id = life.random.choice((*(id for _, id in life.keys), "nobody's"))
    return call.model_copy(
        update={"name": REPEAT_CALL, "arguments": {"call_id": id, "reason": "It is wanted twice."}}
    )


async def _users_answer(
    index: int, call: RequestedCall, request: ToolsRequested, session: SessionStore
) -> ToolResult:
    if call.answer is None:
        return _failed(index, call, "validation_error", "That is no question.")
    answer = (await session.event(call.answer)).data
    assert isinstance(answer, QuestionAnswered)
    assert answer.round == request.round
    return _ok(index, call, {"answer": answer.answer})


def _ok(index: int, call: ToolCall, data: Any, **fields: Any) -> ToolResult:
    return ToolResult(index=index, call_id=call.id, tool=call.name, status="ok", data=data, **fields)


def _failed(index: int, call: ToolCall, kind: ErrorType, message: str) -> ToolResult:
    error = ToolError(error_type=kind, message=message, suggested_action="Go on without it.")
    return ToolResult(index=index, call_id=call.id, tool=call.name, status="error", error=error)
