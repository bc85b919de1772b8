"""Asking what came of a write: the function an author gives for it."""

from typing import Any

import pytest

from tool_dispatcher.reconcile import NO_EFFECT, NoEffect, TookEffect
from tool_dispatcher.tool import InvalidTool, tool


async def asked(key: str, arguments: dict[str, Any]) -> TookEffect | NoEffect | None:
    return TookEffect({"key": key}) if arguments else NO_EFFECT


def no_arguments() -> None: ...
def only_key(key: str) -> None: ...
def keywords(*, key: str, arguments: dict[str, Any]) -> None: ...
def three(key: str, arguments: dict[str, Any], more: int) -> None: ...


async def test_a_reconcile_is_kept_and_its_being_there_is_published() -> None:
    noted = tool(effect="write", name="note", description="Notes.", reconcile=asked)(lambda: None)
    assert noted.reconcile is asked
    assert noted.contract.reconciles
    assert noted.input_schema["x-orchestration"]["reconciles"] is True
    assert await noted.reconcile("k", {"a": 1}) == TookEffect({"key": "k"})
    assert await noted.reconcile("k", {}) is NO_EFFECT


def test_without_one_there_is_none() -> None:
    noted = tool(effect="write", name="note", description="Notes.", reconcile=None)(lambda: None)
    assert noted.reconcile is None
    assert not noted.contract.reconciles


@pytest.mark.parametrize("reconcile", ["text", no_arguments, only_key, keywords, three])
def test_one_that_cannot_be_asked_is_refused(reconcile: Any) -> None:
    with pytest.raises(InvalidTool, match=r"'note': its reconcile .*key: str, arguments: dict"):
        tool(effect="write", name="note", description="Notes.", reconcile=reconcile)(lambda: None)
