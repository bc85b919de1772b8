"""The offline model as a model of the engine: its replies are the API's, and nonsense is refused as by a server."""

from typing import Any

from anthropic.types import Message
from antiphon_shared.text.fence import CLOSING, opening

from reasoning_engine.exchange_record import message_json
from reasoning_engine.offline.answer import SIGNATURE
from reasoning_engine.offline_model import OfflineModel
from tests.reasoning_engine.offline.course_tools import COURSE_TOOLS
from tests.reasoning_engine.offline.rounds import reply_of

QUESTION = "Which course discusses vector clocks?"


async def test_a_reply_is_the_apis_message_and_its_text_comes_in_pieces() -> None:
    pieces: list[str] = []
    prompt: Any = {
        "model": "any-model",
        "max_tokens": 500,
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": [tool.as_parameter() for tool in COURSE_TOOLS],
    }
    reply = await OfflineModel().reply(prompt, pieces.append, lambda headers: None)
    of_sdk = Message.model_validate(message_json(reply))
    assert of_sdk.to_dict(mode="python", warnings=False) == message_json(reply)
    assert (of_sdk.model, of_sdk.stop_reason) == ("offline", "tool_use")
    assert [block.type for block in of_sdk.content] == ["text", "tool_use"]
    assert of_sdk.content[0].type == "text"
    assert "".join(pieces) == of_sdk.content[0].text
    assert len(pieces) > 1
    assert of_sdk.usage.input_tokens > 100
    assert of_sdk.usage.output_tokens > 0


async def test_tools_that_may_not_be_used_are_not() -> None:
    message = await reply_of(
        [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}],
        [tool.as_parameter() for tool in COURSE_TOOLS],
        tool_choice={"type": "none"},
    )
    assert message.stop_reason == "end_turn"
    (block,) = message.content
    assert block.text.endswith(SIGNATURE)


USER = {"role": "user", "content": "hello"}


async def test_a_history_is_read_whole_and_paid_for_whole() -> None:
    use = {
        "type": "tool_use",
        "id": "t1",
        "name": "search_course_content",
        "input": {"query": "vector clocks"},
    }
    found = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": f"ok: F1\n{opening('t1', 'search_course_content', 1, True)}\nF1 Vector clocks.\n{CLOSING}",
    }

    def asked(text: str) -> Any:
        messages = [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": [{"type": "text", "text": text}, use]},
            {"role": "user", "content": [found]},
        ]
        return {"messages": messages}

    short, long = await reply_of(**asked("I look.")), await reply_of(**asked("I look. " * 100))
    assert "Vector clocks." in short.content[0].text
    assert long.usage.input_tokens > short.usage.input_tokens + 100
