"""A fork knows the earlier writes of its session: an identical write is not made again."""

from typing import Any

import pytest
from antiphon_shared.events import ToolsCompleted
from antiphon_shared.tools.calls import ToolResult

from antiphon import Tool, ToolContext, ToolFailed
from antiphon.recording.lines import Line
from antiphon.replay.forking.changes import read_changes
from antiphon.replay.forking.fork_session import fork
from antiphon.replay.verify import verify_lines
from tests.antiphon.recording.recorded import events
from tests.antiphon.recording.scripted import scripted
from tests.messages_server import Scripted, Use, serving

TO = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "loud": {"type": "boolean", "default": False}},
    "required": ["to"],
}
LETTERS = {"type": "object", "properties": {"letters": {"type": "array"}}, "required": ["letters"]}
SETTINGS = {"ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES": "read,write"}
CHANGES = read_changes(sets=[f"{name}={value}" for name, value in SETTINGS.items()])


class Post:
    """Sends letters, and knows the key that each was sent under."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    def send(self, arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        self.sent.append((arguments["to"], context.idempotency_key))
        if arguments["to"] == "the lost island":
            raise ToolFailed("outcome_unknown", "The boat has not come back.")
        return {"sent": f"A letter to {arguments['to']} is on its way."}

    def send_all(self, arguments: dict[str, Any], context: ToolContext) -> list[dict[str, Any]]:
        return [self.send(letter, context) for letter in arguments["letters"]]

    @property
    def tools(self) -> list[Tool]:
        variant: Any = {"tool": "send_all", "argument": "letters"}
        return [
            Tool("send", "Sends a letter.", TO, self.send, effect="write", batch=variant),
            Tool("send_all", "Sends letters.", LETTERS, self.send_all, effect="write"),
        ]


def to(name: str, **more: Any) -> Use:
    return Use(name="send", input={"to": name, **more})


async def recorded(monkeypatch: pytest.MonkeyPatch, *rounds: tuple[Use, ...]) -> list[Line]:
    script = [*(Scripted(uses=uses) for uses in rounds), Scripted(text="Done.")]
    return await scripted(monkeypatch, script, tools=Post().tools, settings=SETTINGS)


async def forked(
    monkeypatch: pytest.MonkeyPatch, lines: list[Line], place: str, *rounds: tuple[Use, ...]
) -> tuple[Post, list[tuple[ToolResult, ...]]]:
    """Return the events that the fork sent, and the results of its rounds."""
    post = Post()
    async with serving(*(Scripted(uses=uses) for uses in rounds), Scripted(text="Done.")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        live = await fork(lines, place, CHANGES, post.tools)
    assert verify_lines(live).is_same, verify_lines(live).first
    batches = [line.event.data for line in events(live)]
    return post, [one.results for one in batches if isinstance(one, ToolsCompleted)][-len(rounds) :]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        pytest.param(("Anna",), to("Anna", loud=False), id="alone"),
        pytest.param(("Anna", "Bert", "Cleo", "Dora", "Emil"), to("Cleo"), id="with others, as one"),
    ],
)
async def test_an_identical_write_is_answered_by_the_one_before_the_fork(
    monkeypatch: pytest.MonkeyPatch, written: tuple[str, ...], asked: Use
) -> None:
    lines = await recorded(monkeypatch, tuple(map(to, written)))
    post, ((result,),) = await forked(monkeypatch, lines, "reasoning.requested@2", (asked,))
    assert post.sent == []
    assert result.repeated is not None
    assert result.repeated.round == 1
    assert result.data == {"sent": f"A letter to {asked.input['to']} is on its way."}


@pytest.mark.parametrize(
    ("written", "error"),
    [(("Anna", "Bert"), "repeated_write"), (("the lost island",), "outcome_unknown")],
    ids=["another write in between", "its outcome was unknown"],
)
async def test_an_identical_write_is_refused_because_of_the_one_before_the_fork(
    monkeypatch: pytest.MonkeyPatch, written: tuple[str, ...], error: str
) -> None:
    lines = await recorded(monkeypatch, *((to(name),) for name in written))
    place = f"reasoning.requested@{len(written) + 1}"
    post, ((result,),) = await forked(monkeypatch, lines, place, (to(written[0]),))
    assert post.sent == []
    assert result.error is not None
    assert result.error.error_type == error
    assert result.repeated is not None


async def test_a_write_after_the_fork_point_is_unknown_in_the_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = await recorded(monkeypatch, (to("Anna"),), (to("Bert"),))
    post, ((bert,), (anna,)) = await forked(
        monkeypatch, lines, "reasoning.requested@2", (to("Bert"),), (to("Anna"),)
    )
    assert [name for name, _ in post.sent] == ["Bert"]
    assert bert.repeated is None
    assert anna.error is not None
    assert anna.error.error_type == "repeated_write"


async def test_the_ordinal_of_a_deliberate_repetition_continues_after_the_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = await recorded(monkeypatch, (to("Anna"),))
    ((first,),) = [
        line.event.data.results for line in events(lines) if isinstance(line.event.data, ToolsCompleted)
    ]
    again = Use(name="repeat_call", input={"call_id": first.call_id, "reason": "The first one was lost."})
    post, ((result,),) = await forked(monkeypatch, lines, "reasoning.requested@2", (again,))
    assert result.status == "ok"
    ((name, key),) = post.sent
    assert (name, key.rpartition("/")[2]) == ("Anna", "2")
