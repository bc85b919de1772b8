"""The offline model as a model of the engine: it replies by rules, in this process, without an SDK."""

from typing import TYPE_CHECKING

from reasoning_engine.exchange_record import message_of, request_json
from reasoning_engine.offline.reasoner import reply_to
from reasoning_engine.offline.wire import chunks, message, read_request
from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prompt import Prompt
from reasoning_engine.reply_progress import at_reply_begin, notify_text

if TYPE_CHECKING:
    from anthropic.types import Message


class OfflineModel:
    """A model that needs no server and no key. It reads a request in the form of the Messages API."""

    is_offline = True

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> "Message":
        """Return one complete message; see Model."""
        body = request_json(prompt)
        request = read_request(body)
        reply = message(body, request, reply_to(request))
        on_headers({})
        await at_reply_begin()
        for block in reply["content"]:
            for chunk in chunks(block["text"]) if block["type"] == "text" else ():
                await notify_text(chunk, on_text)
        return message_of(reply)

    async def close(self) -> None:
        """Do nothing, as the model has no connection."""
