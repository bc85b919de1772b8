"""The decisions about sessions of which each differs from another in one field: every_state.json.

After an intended change, run `python -m tests.coordinator.test_every_state`, and review the output.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from inspect import formatannotation
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

from antiphon_shared.events import ApprovalDecided, ReasoningFailed
from antiphon_shared.events.coordinator import FallbackStep
from antiphon_shared.events.session import Source, TerminationReason
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.tools.calls import ErrorType, RequestedCall, ToolResult

from coordinator import (
    approvals,
    endings,
    fallbacks,
    limits,
    models,
    offer,
    own_answer,
    people,
    repetitions,
    steps,
    summaries,
)
from coordinator.own_answer import _OUTCOME_TEXTS, _Write
from coordinator.session import Session
from tests.coordinator.builders import a_catalogue, a_reply, a_tool, an_opened_session, the_results
from tests.envelopes import START
from tests.kept_forms import Reader, differences, write
from tests.memories import a_course_memory, a_memory, a_round, an_error
from tests.rows import each_row
from tests.sampled import readers_of_samples

KEPT = Path(__file__).with_name("every_state.json")
_LONG = "a" * 299 + " b"
_CATALOGUE = a_catalogue("search", a_tool("pay", "write"), a_tool("ask", approval="always"))
_OPENED = replace(
    an_opened_session(_CATALOGUE, max_tool_rounds=3, max_cost_usd=0.5).session, awaiting=(UUID(int=1),)
)
_ERRORS = get_args(ErrorType)


def _otherwise(value: Any) -> Iterator[Any]:
    """Yield it with one field changed, its own or one of a group's: a flag, a number, a word or a list of words."""
    for field in fields(value):
        now = getattr(value, field.name)
        for other in _otherwise(now) if is_dataclass(now) else _others(now, field.type):
            yield replace(value, **{field.name: other})


def _others(value: Any, type: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield 3
        case "":
            yield "search"
        case () if type == tuple[str, ...]:
            yield ("pay c1", "search")


_SESSIONS: tuple[Session, ...] = (_OPENED, *_otherwise(_OPENED))
_RESULTS = (
    ToolResult(index=0, call_id="c1", tool="search", status="ok", data={"n": 1}),
    *(
        ToolResult(index=0, call_id="c1", tool="pay", status="error", error=an_error(kind, _LONG))
        for kind in _ERRORS
    ),
)
_CALLS = tuple(
    RequestedCall(id=f"c{n}", name=name) for n, name in enumerate(("search", "pay", "ask", "none"))
)
_USES = tuple(
    use.model_copy(update={"repeated": repeated})
    for kind in _ERRORS
    for use in a_memory(a_round(("pay", {}, an_error(kind, "It says so.")), ("pay", {}, 7))).tool_usage
    for repeated in ("", "c1")
)
_WRITES = tuple(
    _Write("pay", "c1", outcome, message) for outcome in (*_OUTCOME_TEXTS, "done") for message in ("", _LONG)
)
_SOURCES = tuple(
    Source(id=f"F{n}", number=n, tool="search", call_id="c1", title="A page", excerpt=excerpt)
    for n, excerpt in enumerate(("It is lit.", _LONG, _LONG[2:]))
)
_FAILED = tuple(
    ReasoningFailed(round=1, model="m", error=ErrorInfo(code=code, message=_LONG, retryable=is_retryable))
    for code in ("overloaded", "authentication_failed", "context_too_long", "circuit_open", "empty_reply")
    for is_retryable in (False, True)
)
_SAMPLES: dict[str, tuple[Any, ...]] = {
    "Session": _SESSIONS,
    "int": (0, 900, 98_000, 99_000, 200_000),
    "float": (0.0, 7.5, 900.0),
    "bool": (False, True),
    "str": ("pay", "search", "F1", _LONG),
    "datetime": (START,),
    "Catalogue": (_CATALOGUE,),
    "ToolDefinition": _CATALOGUE.tools,
    formatannotation(TerminationReason): get_args(TerminationReason),
    formatannotation(TerminationReason | None): (None, *get_args(TerminationReason)),
    "ReasoningCompleted": (a_reply(), a_reply(calls=2)),
    "ReasoningFailed": _FAILED,
    "ErrorInfo": tuple(one.error for one in _FAILED),
    formatannotation(FallbackStep): get_args(FallbackStep),
    "ToolsCompleted": (*(the_results(one) for one in _RESULTS), the_results(*_RESULTS)),
    "ToolResult": _RESULTS,
    "RequestedCall": _CALLS,
    "tuple[RequestedCall, ...]": (_CALLS[:1], _CALLS),
    "Sequence[RequestedCall]": (_CALLS[:1], _CALLS),
    "Iterable[RequestedCall]": (_CALLS,),
    "Sequence[str]": ((), ("search", "pay")),
    "tuple[str, ...]": ((), ("search", "pay")),
    "Iterable[str]": ((), ("search", "pay")),
    "frozenset[str]": (frozenset(), frozenset(("read",)), frozenset(("read", "write"))),
    "ApprovalDecided": (
        ApprovalDecided(round=1, is_approved=False, by=_LONG[-200:], reason=_LONG),
        ApprovalDecided(round=1, is_approved=False),
        ApprovalDecided(round=1, is_approved=True, by="ann"),
    ),
    "ToolUse": _USES,
    "_Write": _WRITES,
    "tuple[_Write, ...]": ((), _WRITES, _WRITES * 8),
    "Source": _SOURCES,
    "tuple[Source, ...]": ((), _SOURCES),
    "Memory": (Memory.of("Why?"), a_course_memory()),
    "dict[str, int]": ({}, {"F1": 1, "F3": 2}),
}
"""Samples by the annotation of a parameter."""
_MODULES = (
    own_answer,
    approvals,
    endings,
    fallbacks,
    limits,
    models,
    offer,
    people,
    repetitions,
    steps,
    summaries,
)
READERS = tuple(reader for module in _MODULES for reader in readers_of_samples(module, _SAMPLES))


@each_row("reader", READERS, ids=str)
def test_the_decision_of_every_state_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
