"""The scripted model, asked by a real pipeline through the SDK."""

from typing import Any

import pytest

from antiphon import tool
from antiphon.replay.testing.pipelines import Pipelines
from antiphon.replay.testing.scripted import ScriptedModel


@tool(effect="read")
def look_up(what: str) -> dict[str, str]:
    """Looks a thing up."""
    return {"found": f"The {what} is 27 metres high."}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_REASONING_ENGINE_BACKOFF_INITIAL_S", "0.001")


def ask(model: ScriptedModel, query: str = "How high is it?", **options: Any) -> Any:
    return Pipelines().ask(query, [look_up], model, **options)


@pytest.mark.usefixtures("impatient")
def test_the_model_replies_calls_and_fails_in_the_scripted_order() -> None:
    model = ScriptedModel()
    model.calls("look_up", what="mast").and_calls("look_up", what="pier").fails(529).fails(
        429, retry_after="0"
    )
    model.says("27 metres, both [F1] [F2].")
    response = ask(model)
    assert response.answer.startswith("27 metres, both [1] [2].")
    assert response.tool_calls_used == 2
    assert [len(model.requests), model.left, model.unexpected] == [4, 0, []]
    assert [tool["name"] for tool in model.requests[0]["tools"]] == ["look_up"]


def test_the_model_ends_its_replies_as_scripted() -> None:
    assert (
        ask(ScriptedModel().says("It is", stop_reason="max_tokens")).termination_reason == "reply_truncated"
    )


def test_an_unexpected_request_is_noted() -> None:
    model = ScriptedModel()
    response = ask(model)
    assert response.status == "partial"
    assert "more than it has replies" in model.unexpected[0]
    assert "How high is it?" in model.unexpected[0]


def test_a_call_has_a_reply_to_be_in() -> None:
    with pytest.raises(ValueError, match="begin with"):
        ScriptedModel().and_calls("look_up", what="mast")
    with pytest.raises(ValueError, match="begin with"):
        ScriptedModel().fails(500).and_calls("look_up", what="mast")
    with pytest.raises(ValueError, match="not an error status"):
        ScriptedModel().fails(200)
