"""Exchanges with a model, recorded over a real socket and done again by today's code."""

from typing import Any

import pytest
from antiphon_shared.events import ReasoningCompleted, ReasoningFailed, SummaryCompleted, SummaryFailed
from antiphon_shared.events.step_records import ExchangeRecord

from antiphon.recording.lines import EventLine
from antiphon.replay.checks import exchanges
from reasoning_engine import dialogue, failure, prompt, reply, result_events, summarize
from tests.antiphon.replay.checks.conftest import Record
from tests.antiphon.replay.checks.verdicts import (
    data_of,
    differs_first,
    is_complete,
    lines_of,
    records,
)
from tests.flows.archive_tools import statement
from tests.messages_server import Scripted, Use

ANSWER = Scripted(text="All sorts of things.", repeat=True)
LOOK = Use(name="search_course_content", input={"query": "baking"})
TROUBLE = {
    "too many requests": Scripted(status=429, error="rate_limit_error", headers={"retry-after": "0.001"}),
    "an overloaded server": Scripted(status=529, error="overloaded_error"),
    "an internal error that is not to be repeated": Scripted(status=500, headers={"x-should-retry": "false"}),
    "a gateway's page": Scripted(status=502, body="<html>Bad", headers={"content-type": "text/html"}),
    "a key that is refused": Scripted(status=401, error="authentication_error", text="invalid x-api-key"),
    "a prompt that is too long": Scripted(
        status=400, error="invalid_request_error", text="prompt is too long"
    ),
    "garbage": Scripted(body="\x00\xff\xfe garbage", headers={"content-type": "text/event-stream"}),
    "a stream that is cut": Scripted(text="Half of", break_after=4),
    "an error inside a stream": Scripted(
        text="Half of", break_after=4, break_by="error", error="overloaded_error"
    ),
    "an empty reply": Scripted(),
    "a pause": Scripted(
        content=[
            {"type": "text", "text": "Well", "citations": None},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"q": "x"}},
        ],
        stop_reason="pause_turn",
    ),
    "a refusal": Scripted(text="No.", stop_reason="refusal"),
    "a reply that is cut off": Scripted(text="I look", uses=(LOOK,), stop_reason="max_tokens"),
    "broken arguments": Scripted(uses=(Use(name="search_course_content", written='{"query": '),)),
    "an unknown tool": Scripted(uses=(Use(name="serch", input={}),)),
    "calls of one id": Scripted(uses=(LOOK.model_copy(update={"id": "a"}),) * 2),
    "numbers that are none": Scripted(uses=(LOOK,), usage={"input_tokens": "many", "output_tokens": -3}),
}


@pytest.mark.parametrize("trouble", TROUBLE.values(), ids=TROUBLE.keys())
async def test_an_exchange_with_any_model_behaviour_replays_the_same(
    record: Record, trouble: Scripted
) -> None:
    report = is_complete(await record(trouble, ANSWER))
    assert report.steps["reasoning_engine"] >= 1


async def test_a_wait_that_is_read_otherwise_differs(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = await record(TROUBLE["too many requests"], ANSWER)
    monkeypatch.setattr(failure, "_retry_after_s", lambda headers: 7.0)
    report = differs_first(lines, "reasoning_engine", "error")
    assert report.first is not None
    assert (report.first.path, report.first.got) == ("calls[0].error.retry_after_s", 7.0)


async def test_a_model_that_never_replies_fails_the_same_again(record: Record) -> None:
    lines = await record(Scripted(status=529, error="overloaded_error", repeat=True), deadline_s=5)
    assert data_of(lines, ReasoningFailed)
    is_complete(lines)


async def test_a_call_cut_off_by_the_deadline_replays_the_same(record: Record) -> None:
    lines = await record(Scripted(text="late", wait_s=30, repeat=True), deadline_s=5)
    report = is_complete(lines)
    assert report.answer == "same"


async def test_the_cost_of_an_exchange_is_computed_from_the_recorded_prices(record: Record) -> None:
    lines = await record(
        TROUBLE["a stream that is cut"],
        ANSWER,
        ANTIPHON_REASONING_ENGINE_INPUT_USD=3,
        ANTIPHON_REASONING_ENGINE_OUTPUT_USD=15,
    )
    is_complete(lines)
    (reasoning,) = data_of(lines, ReasoningCompleted)
    assert reasoning.usage.cost_usd


HARBOURS = "Which harbour has a lighthouse of its own, and since when?"
UNHURRIED: dict[str, Any] = {"behind": "You shorten notes", "wait_s": 0.3}
"""A reply that is slow enough for the engine to report the summary first."""
SUMMARY = "\n".join(f"F{n}: {statement(n)}" for n in (101, 103))


@pytest.mark.parametrize("text", [SUMMARY, "It is all about harbours."])
async def test_summaries_are_requested_and_read_the_same_again(record: Record, text: str) -> None:
    lines = await record(
        Scripted(when="You shorten notes", repeat=True, text=text),
        Scripted(when="Round 1 of", uses=(Use(name="read_archive", input={"topic": "lighthouses"}),)),
        Scripted(when="Round 2 of", uses=(Use(name="recall", input={"id": "F146"}),), **UNHURRIED),
        Scripted(when="Round 3 of", text="Holm 4 has one [F4].", **UNHURRIED),
        tools=["tests.flows.archive_tools"],
        queries=[HARBOURS],
        ANTIPHON_CONTEXT_SYNTHESIZER_BRIEFING_TOKENS=900,
    )
    assert data_of(lines, SummaryCompleted if text == SUMMARY else SummaryFailed)
    is_complete(lines)


async def test_no_summary_is_requested_offline(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lack of a model for summaries is an outcome of today's code too."""
    lines = await record(
        Scripted(when="Round 1 of", uses=(Use(name="read_archive", input={"topic": "lighthouses"}),)),
        ANSWER,
        tools=["tests.flows.archive_tools"],
        queries=[HARBOURS],
        ANTIPHON_CONTEXT_SYNTHESIZER_BRIEFING_TOKENS=900,
        ANTIPHON_REASONING_ENGINE_PROVIDER="offline",
    )
    assert {failed.error.code for failed in data_of(lines, SummaryFailed)} == {"not_supported"}
    is_complete(lines)
    other = result_events.NOT_SUPPORTED.model_copy(update={"message": "No."})
    monkeypatch.setattr(exchanges, "NOT_SUPPORTED", other)
    differs_first(lines, "reasoning_engine", "antiphon.summary.failed.v1")


CHANGES: dict[str, tuple[Any, str, Any, Scripted, str]] = {
    "the system prompt": (
        prompt,
        "_SYSTEM",
        [{"type": "text", "text": "Be brief."}],
        TROUBLE["an empty reply"],
        "request",
    ),
    "how a pause is read": (
        dialogue,
        "join_replies",
        lambda before, after: after,
        TROUBLE["a pause"],
        "antiphon.reasoning.completed.v1",
    ),
    "how often is asked": (dialogue, "ATTEMPTS_MAX", 1, TROUBLE["an empty reply"], "request"),
    "how often is continued": (dialogue, "CONTINUATIONS_MAX", 0, TROUBLE["a pause"], "request"),
    "what a stop reason means": (
        reply,
        "_STOP_REASONS",
        {},
        TROUBLE["a refusal"],
        "antiphon.reasoning.completed.v1",
    ),
    "what a status means": (failure, "_BY_STATUS", {}, Scripted(status=429, body="Slow down."), "error"),
    "what may pass": (failure, "_RETRYABLE", frozenset(), TROUBLE["an overloaded server"], "error"),
}


@pytest.mark.parametrize(("module", "name", "value", "trouble", "output"), CHANGES.values(), ids=CHANGES)
async def test_a_change_is_named_at_the_exchange_that_it_changes(
    record: Record,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    value: Any,
    trouble: Scripted,
    output: str,
) -> None:
    lines = await record(trouble, ANSWER)
    monkeypatch.setattr(module, name, value)
    report = differs_first(lines, "reasoning_engine", output)
    assert report.first is not None
    first = next(line for line in lines if isinstance(line, EventLine) and line.n == report.first.event)
    assert first.event.data.type == "antiphon.reasoning.requested.v1"


async def test_a_changed_summary_prompt_is_named(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = await record(
        Scripted(when="You shorten notes", repeat=True, text=SUMMARY),
        Scripted(when="Round 1 of", uses=(Use(name="read_archive", input={"topic": "lighthouses"}),)),
        ANSWER.model_copy(update=UNHURRIED),
        tools=["tests.flows.archive_tools"],
        queries=[HARBOURS],
        ANTIPHON_CONTEXT_SYNTHESIZER_BRIEFING_TOKENS=900,
    )
    monkeypatch.setattr(summarize, "_WORDS_PER_TOKEN", 0.5)
    report = differs_first(lines, "reasoning_engine", "request")
    assert report.first is not None
    assert report.first.path == "calls[0].messages[0].content"
    assert report.answer == "same"


async def test_the_updated_record_contains_todays_request(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    from antiphon.replay.steps.repeat import Replay

    lines = await record(ANSWER)
    monkeypatch.setattr(prompt, "_SYSTEM", [{"type": "text", "text": "Be brief."}])
    replay, redone = Replay(), []
    for line in lines:
        replay.read(line)
        redone += [replay.repeated[1].record] if replay.repeated else []
    (today,) = [one for one in redone if isinstance(one, ExchangeRecord)]
    (then,) = records(lines, ExchangeRecord)
    assert today.calls[0].request == {
        **then.calls[0].request,
        "system": [{"type": "text", "text": "Be brief."}],
    }
    assert lines_of(lines, ReasoningCompleted)
