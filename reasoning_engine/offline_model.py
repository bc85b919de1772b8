"""The offline model as a model of the engine: it replies by rules, in this process, without an SDK."""

from typing import TYPE_CHECKING

from reasoning_engine.exchange_record import message_of, request_json
from reasoning_engine.hearing import reply_begins, text_came
from reasoning_engine.model_errors import Answered
from reasoning_engine.offline.reasoner import reply_to
from reasoning_engine.offline.wire import InvalidRequest, chunks, message, read_request
from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prompt import Prompt

if TYPE_CHECKING:
    from anthropic.types import Message


class OfflineModel:
    """A model that needs no server and no key. It reads a request as a server of the Messages API does."""

    is_offline = True

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> "Message":
        """Return one complete message; see Model. Raises Answered, with status 400, for a bad request."""
        body = request_json(prompt)
        try:
            asked = read_request(body)
        except InvalidRequest as error:
            told = {"type": "error", "error": {"type": error.code, "message": str(error)}}
            raise Answered(400, {}, told) from error
        whole = message(body, asked, reply_to(asked))
        on_headers({})
        await reply_begins()
        for block in whole["content"]:
            for chunk in chunks(block["text"]) if block["type"] == "text" else ():
                await text_came(chunk, on_text)
        return message_of(whole)

    async def close(self) -> None:
        """Do nothing, as the model has no connection."""
