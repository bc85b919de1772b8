"""The function of an author that reports a write's outcome."""

from typing import Any

import pytest

from tests.tool_dispatcher.builders import a_bus, a_call, a_request, results_of
from tests.tool_dispatcher.idempotency.builders import a_ledger, a_write, end_lease
from tool_dispatcher.authoring.reconcile import NO_EFFECT, NoEffect, TookEffect
from tool_dispatcher.authoring.tool import InvalidTool, ToolContext, tool


async def asked(key: str, arguments: dict[str, Any]) -> TookEffect | NoEffect | None:
    return TookEffect({"key": key}) if arguments else NO_EFFECT


def no_arguments() -> None: ...
def only_key(key: str) -> None: ...
def keywords(*, key: str, arguments: dict[str, Any]) -> None: ...
def three(key: str, arguments: dict[str, Any], more: int) -> None: ...


async def test_a_reconcile_function_is_kept_and_its_existence_published() -> None:
    noted = tool(effect="write", name="note", description="Notes.", reconcile=asked)(lambda: None)
    assert noted.reconcile is asked
    assert noted.contract.reconciles
    assert noted.input_schema["x-orchestration"]["reconciles"] is True
    assert await noted.reconcile("k", {"a": 1}) == TookEffect({"key": "k"})
    assert await noted.reconcile("k", {}) is NO_EFFECT


def test_a_tool_without_a_reconcile_function_has_none() -> None:
    noted = tool(effect="write", name="note", description="Notes.", reconcile=None)(lambda: None)
    assert noted.reconcile is None
    assert not noted.contract.reconciles


@pytest.mark.parametrize("reconcile", ["text", no_arguments, only_key, keywords, three])
def test_an_invalid_reconcile_function_is_refused(reconcile: Any) -> None:
    with pytest.raises(InvalidTool, match=r"its reconcile .*tool 'note'.*key: str, arguments: dict"):
        tool(effect="write", name="note", description="Notes.", reconcile=reconcile)(lambda: None)


async def test_a_reconcile_function_with_a_context_receives_the_fence_of_the_takeover() -> None:
    asked_with: list[ToolContext] = []

    def effect_of(key: str, arguments: dict[str, Any], context: ToolContext) -> TookEffect:
        asked_with.append(context)
        return TookEffect([key, arguments, context.idempotency_key])

    @tool(effect="write", description="Notes.", reconcile=effect_of)
    def note(text: str) -> None:
        raise AssertionError("it took effect, and is not run")

    call = a_call(name="note", arguments={"text": "x"})
    write = a_write({"text": "x"}, "note", key=call.idempotency_key)
    async with a_bus() as bus:
        assert await a_ledger(bus).claim(write) is not None
        await end_lease(bus, write)
        (result,) = await results_of([note], a_request(call), bus, redelivered=True)
    assert result.data == [call.idempotency_key, {"text": "x"}, call.idempotency_key]
    assert [(context.fence, context.call_id) for context in asked_with] == [(2, "c1")]
