"""Batches of every mode, recorded by the real dispatcher and planned again."""

from typing import Any

import pytest
from antiphon_shared.events import ToolsCompleted
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.contract import Contract
from hypothesis import given
from hypothesis import strategies as st

from tests.antiphon.replay.checks.conftest import Record
from tests.antiphon.replay.checks.verdicts import data_of, differs_first, is_complete, records
from tests.messages_server import Scripted, Use
from tool_dispatcher.authoring.contract import complete
from tool_dispatcher.authoring.failures import InvalidTool
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import answers, placeholders, plan

TOOLS = ["tests.antiphon.replay.checks.batch_tools"]
NOTES = {"ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES": "read,write,notes"}


def use(name: str, **arguments: Any) -> Use:
    return Use(name=name, input=arguments)


BATCHES = {
    "calls that depend on each other": (
        use("read_document", id="${calls[1][0].id}"),
        use("find_ids", topic="rain"),
        use("read_document", id="${calls[4].x}"),
        use("read_document", id="${calls[9].x}"),
    ),
    "a value that is not there": (
        use("find_ids", topic="rain"),
        use("read_document", id="${calls[0][2].id}"),
    ),
    "a value that is secret": (use("look_up", word="a"), use("unlock", pin="${calls[0].word}")),
    "a dependency that fails": (use("find_ids", topic="nothing"), use("read_document", id=7)),
    "a dependency that was never called": (use("read_document", id=7),),
    "calls that wait for each other": (
        use("look_up", word="${calls[1].word}"),
        use("look_up", word="${calls[0].word}"),
    ),
    "writes, one after the other": (use("keep_note", text="one"), use("keep_note", text="two")),
    "writes that stop at the first failure": (
        use("keep_note", text="one"),
        use("keep_note", text="fail"),
        use("keep_note", text="three"),
    ),
    "many calls as one": tuple(use("look_up", word=word) for word in ("a", "none", "c", "d", "e", 3)),
    "what nobody offers": (use("lookup", word="a"), use("look_up"), use("look_up", word="a", more=1)),
    "calls of one id": (
        use("look_up", word="a").model_copy(update={"id": "x"}),
        use("look_up", word="b").model_copy(update={"id": "x"}),
    ),
    "broken arguments": (Use(name="look_up", written='{"word": '), use("look_up", word="b")),
}


@pytest.mark.parametrize("uses", BATCHES.values(), ids=BATCHES.keys())
async def test_a_batch_is_planned_and_run_the_same_again(record: Record, uses: tuple[Use, ...]) -> None:
    lines = await record(Scripted(uses=uses), Scripted(text="Done.", repeat=True), tools=TOOLS, **NOTES)
    (completed,) = data_of(lines, ToolsCompleted)
    assert len(completed.results) == len(uses)
    is_complete(lines)


async def test_a_batch_that_the_deadline_cuts_off_is_answered_from_its_journal(record: Record) -> None:
    waits = (use("look_up", word="a"), use("wait_long", seconds=30))
    lines = await record(Scripted(uses=waits, repeat=True), tools=TOOLS, deadline_s=5)
    report = is_complete(lines)
    assert report.steps["response_assembler"] == 1


async def test_calls_beyond_the_limit_are_answered_as_refused(record: Record) -> None:
    uses = tuple(use("look_up", word=word) for word in "abc")
    lines = await record(
        Scripted(uses=uses), Scripted(text="Done.", repeat=True), tools=TOOLS, max_tool_calls=2
    )
    is_complete(lines)
    assert data_of(lines, ToolsCompleted)[0].results[2].error is not None


async def test_a_call_without_permission_is_refused_again(record: Record) -> None:
    lines = await record(
        Scripted(uses=(use("keep_note", text="one"),)), Scripted(text="Done.", repeat=True), tools=TOOLS
    )
    is_complete(lines)
    (result,) = data_of(lines, ToolsCompleted)[0].results
    assert result.error is not None
    assert result.error.error_type == "permission_denied"


CHANGES: dict[str, tuple[Any, str, Any, str, str]] = {
    "which calls are one": (plan, "groups", lambda *_: [], "many calls as one", "units"),
    "what stops others": (
        answers,
        "why_failed",
        lambda error: "failed",
        "writes that stop at the first failure",
        ToolsCompleted.type,
    ),
    "what runs one at a time": (plan, "_sequence", lambda *_: (), "writes, one after the other", "begins"),
    "what placeholders are filled into": (
        placeholders,
        "_filled",
        lambda value, _: value,
        "calls that depend on each other",
        "filled",
    ),
    "what is said of a value that is not there": (
        placeholders,
        "outlined",
        lambda _: "nothing",
        "a value that is not there",
        ToolsCompleted.type,
    ),
    "which values are there": (
        placeholders,
        "_has_part",
        lambda *_: False,
        "calls that depend on each other",
        "filled",
    ),
    "what is answered": (
        answers,
        "_use_one_of",
        lambda names: "Give up.",
        "what nobody offers",
        ToolsCompleted.type,
    ),
}


@pytest.mark.parametrize(("module", "name", "value", "batch", "output"), CHANGES.values(), ids=CHANGES)
async def test_a_change_is_named_at_the_batch_that_it_changes(
    record: Record,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    value: Any,
    batch: str,
    output: str,
) -> None:
    lines = await record(
        Scripted(uses=BATCHES[batch]), Scripted(text="Done.", repeat=True), tools=TOOLS, **NOTES
    )
    assert is_complete(lines).is_same
    monkeypatch.setattr(module, name, value)
    differs_first(lines, "tool_dispatcher", output)


async def test_the_record_contains_the_trace_of_the_batch(record: Record) -> None:
    lines = await record(
        Scripted(uses=BATCHES["a dependency that fails"]), Scripted(text="Done.", repeat=True), tools=TOOLS
    )
    (batch,) = records(lines, BatchRecord)
    assert batch.units == (("find_ids", (0,)), ("read_document", (1,)))
    assert (batch.begins, batch.ends) == (((0,), ()), ((0,),))


async def test_no_digest_of_a_secret_from_a_placeholder_is_stored(record: Record) -> None:
    filled = []
    for batch in ("calls that depend on each other", "a value that is secret"):
        lines = await record(Scripted(uses=BATCHES[batch]), Scripted(text="Done.", repeat=True), tools=TOOLS)
        filled += [list(batch.filled) for batch in records(lines, BatchRecord)]
    assert filled == [[0], []]


def nothing(arguments: dict[str, Any], context: Any) -> None:
    """Do nothing, as a tool's function."""


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["parallel-safe", "sequential-only", "fan-out-bounded", "dependent"]),
        "max_concurrency": st.integers(1, 9),
        "depends_on": st.sampled_from(["other", [{"tool": "other", "required_fields": ["id"]}]]),
        "error_propagation": st.sampled_from(["fail-fast", "partial-success"]),
        "batch": st.sampled_from([{"tool": "other", "argument": "items", "items_max": 7}]),
        "timeout_s": st.sampled_from([0.1, 30, 30.0, 3_600]),
        "slow_s": st.sampled_from([0.05, 1.0]),
        "retry": st.integers(1, 5),
        "backoff": st.sampled_from([{"strategy": "linear", "initial_ms": 5}, {"max_ms": 700}]),
        "cache_ttl_s": st.sampled_from([0, 1, 2.5]),
        "idempotent": st.booleans(),
        "scopes": st.sampled_from(["a", ["a", "b"]]),
        "alternatives": st.sampled_from(["other", [{"tool": "other", "arguments": {"a": "b"}}]]),
        "result_bytes_max": st.integers(1_000, 2_000),
        "rounds": st.sampled_from([1, [1, 2]]),
        "rate_limit": st.sampled_from([{"calls": 3}, {"calls": 3, "per_s": 0.5}]),
        "open_world": st.booleans(),
        "pinned": st.booleans(),
        "next": st.sampled_from(["other"]),
        "version": st.sampled_from(["1", "2"]),
    },
)


@given(effect=st.sampled_from(["read", "write"]), options=OPTIONS)
def test_the_catalogue_carries_every_contract_whole(effect: Any, options: dict[str, Any]) -> None:
    try:
        complete("one", effect, options)
    except InvalidTool:
        return
    one = Tool("one", "Does nothing.", {"type": "object"}, nothing, effect=effect, **options)
    published = ToolDefinition.model_validate_json(one.definition.model_dump_json())
    assert published.contract == one.contract
    assert isinstance(published.contract, Contract)
