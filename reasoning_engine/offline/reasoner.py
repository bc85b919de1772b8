"""The reasoning of the offline model: one request in, one reply out. Pure."""

import hashlib
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic_core import to_json

from reasoning_engine.offline.answer import compose
from reasoning_engine.offline.briefing_text import read_briefing
from reasoning_engine.offline.demand import Demand
from reasoning_engine.offline.filling import NOTHING
from reasoning_engine.offline.plan import Call, Situation, next_calls
from reasoning_engine.offline.question import read_question
from reasoning_engine.offline.records import records_of
from reasoning_engine.offline.schema import Tool, key_nouns, nouns_of
from reasoning_engine.offline.shaped_answer import Move, next_move
from reasoning_engine.shaped import FINAL_ANSWER


@dataclass(frozen=True)
class Request:
    """A request to the model: the last user message, and the tools that it may call."""

    text: str
    tools: tuple[Tool, ...] = ()
    demand: Demand | None = None
    """The required shape of the answer."""


@dataclass(frozen=True)
class ToolUse:
    """A call that the model requests."""

    id: str
    name: str
    input: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """A reply of the model: an answer, or calls with their reasons."""

    text: str
    tool_uses: tuple[ToolUse, ...] = ()


def reply_to(request: Request) -> Reply:
    """Decide on the next calls, or answer with quotations."""
    notes = read_briefing(request.text)
    records = records_of(notes.facts)
    nouns = nouns_of(request.tools) or key_nouns(
        {key for record in records for key in (*record.fields, *record.keys, record.fact.tool)}
    )
    verbs = frozenset(tool.verb for tool in request.tools if tool.writes)
    situation = Situation(read_question(notes.question, nouns, verbs), request.tools, records, notes.tried)
    if request.demand is None and notes.step is None:
        move = Move(next_calls(situation))
    else:
        move = next_move(situation, notes, request.demand)
    calls = move.calls
    if not calls:
        return Reply(compose(situation)) if move.answer is NOTHING else _shaped(request, move.answer)
    reasons = dict.fromkeys(f"`{call.tool}`, to {call.reason}" for call in calls)
    text = f"Offline model: {'; '.join(reasons)}."
    return Reply(text, tuple(_tool_use(request, call) for call in calls))


def _shaped(request: Request, answer: object) -> Reply:
    """Return the answer in its shape, in the way that the request demands."""
    if request.demand is not None and request.demand.by_tool and isinstance(answer, dict):
        return Reply("", (_tool_use(request, Call(FINAL_ANSWER, answer, "")),))
    return Reply(to_json(answer).decode())


def _tool_use(request: Request, call: Call) -> ToolUse:
    """Return a call with an id derived from the request, so that the same request gets the same reply."""
    arguments = orjson.dumps(
        call.arguments, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str
    )
    digest = hashlib.sha256(
        b"\0".join([request.text.encode(errors="replace"), call.tool.encode(), arguments])
    )
    return ToolUse(f"toolu_offline_{digest.hexdigest()[:20]}", call.tool, call.arguments)
