"""Ours: the real code, driven as the context synthesizer drives it."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from antiphon_shared.events import ReasoningCompleted, ToolsCompleted
from antiphon_shared.text.fence import CLOSING
from antiphon_shared.tools.calls import ToolCall, ToolResult

from benchmarks.memory.embedding import Embedding
from benchmarks.memory.form import Question, Round

_MODEL = "none"
_SECTIONS = ("Facts", "Further facts")
_FACT = re.compile(r"^F(\d+) (?:\((?:superseded by|supersedes|contradicts|shortened)[^()]*\) )?")


@dataclass(frozen=True)
class Filed:
    """The outcome of one round."""

    text: str
    """The briefing's text."""
    microseconds: float
    """CPU time of filing the round's results and building the briefing after it."""
    delta_bytes: int
    """The round's addition to the memory, as JSON."""
    passages: int
    """Stored passages, this round's included."""


def briefings(question: Question, tokens: int, embedding: Embedding | None = None) -> Iterator[Filed]:
    """Round by round: the results filed, and the briefing that the model would see next, of `tokens` at most."""
    from context_synthesizer.session_index_cache import CachedIndex

    rounds_max = len(question.rounds) + 1
    kept = CachedIndex(question.question, tokens)
    session_index = kept.session_index
    stored: set[tuple[str, str]] = set()
    for number, round in enumerate(question.rounds, 1):
        reasoning, results = _events(question, number, round)
        began = time.thread_time_ns()
        delta = session_index.filed(reasoning, results)
        if embedding is not None:
            delta = embedding.weighed(delta, kept, number)
        session_index.add(delta)
        briefing = session_index.briefing(round=number + 1, max_rounds=rounds_max)
        spent = time.thread_time_ns() - began
        stored |= {(passage.title, passage.text) for call in round.calls for passage in call.results}
        delta_bytes = len(delta.model_dump_json(exclude_defaults=True).encode())
        yield Filed(briefing.text, spent / 1000, delta_bytes, len(stored))


def least_text(question: Question) -> str:
    """Return the fixed part of every briefing: the question and the round."""
    from context_synthesizer.session_index import SessionIndex

    rounds_max = len(question.rounds) + 1
    return SessionIndex(question.question).briefing(round=rounds_max, max_rounds=rounds_max).text


def statements(text: str) -> str:
    """Return the statements of a briefing's facts, without ids, marks, indentation and the text around them.

    They are in the order of their ids, as a long sentence is several facts, which may be in both sections.
    """
    shown: list[tuple[int, str]] = []
    section, is_fenced, number = "", False, 0
    for line in text.split("\n"):
        if is_fenced:
            is_fenced = line != CLOSING
            fact = _FACT.match(line)
            if section in _SECTIONS and (fact or line.startswith("  ")):
                number = int(fact[1]) if fact else number
                shown.append((number, line[fact.end() if fact else 2 :]))
        elif line.startswith("<result "):
            is_fenced = True
        elif line.startswith("# "):
            section = line[2:]
    return "\n".join(text for _, text in sorted(shown, key=itemgetter(0)))


def _events(question: Question, number: int, round: Round) -> tuple[ReasoningCompleted, ToolsCompleted]:
    """Return the round's events, as the reasoning engine and the tool dispatcher would have emitted them."""
    calls, results = [], []
    for index, call in enumerate(round.calls):
        id = f"call_{number}_{index + 1}"
        calls.append(ToolCall(id=id, name=call.tool, arguments=call.arguments))
        data: list[dict[str, Any]] = [{"title": one.title, "text": one.text} for one in call.results]
        results.append(ToolResult(index=index, call_id=id, tool=call.tool, status="ok", data=data))
    text = round.reasoning
    if number == 1 and question.sub_questions:
        lines = [f"open: {line}" for line in question.sub_questions]
        text = "\n".join([text, "<note>", *lines, "</note>"]).strip()
    reasoning = ReasoningCompleted(
        round=number, text=text, tool_calls=tuple(calls), stop_reason="tool_use", model=_MODEL
    )
    return reasoning, ToolsCompleted.of(number, tuple(results))
