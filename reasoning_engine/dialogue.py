"""The calls for one request, one after the other, until the reply is complete. Pure.

    steps = dialogue(prompt)
    ask = next(steps)
    while True: ask = steps.send(the message returned for `ask`)

StopIteration carries the reply. Retries of a single call are made elsewhere: see exchange.py.
"""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from reasoning_engine.failure import Failed, failure
from reasoning_engine.prompt import Prompt, continued
from reasoning_engine.reply import Reply, join_replies, parse, unfinished

if TYPE_CHECKING:
    from anthropic.types import Message

CONTINUATIONS_MAX = 3
ATTEMPTS_MAX = 2
"""The number of calls when replies are empty: one retry."""

Dialogue = Generator[Prompt, "Message", Reply]


def dialogue(prompt: Prompt, otherwise: Callable[[], Prompt] | None = None) -> Dialogue:
    """Yield the calls for one request; return a reply with text or tool calls. Raises Failed.

    `otherwise` returns the fallback for a server that refuses the schema in `prompt`: a failed call is thrown into the
    dialogue, which continues with the fallback.
    """
    try:
        return (yield from _reply(prompt))
    except Failed as failed:
        if otherwise is None or not failed.failure.is_of_schema:
            raise
    return (yield from _reply(otherwise()))


def _reply(prompt: Prompt) -> Dialogue:
    for _ in range(ATTEMPTS_MAX):
        reply = yield from _finished_reply(prompt)
        if not reply.is_empty:
            return reply
    raise Failed(failure("empty_reply", f"The model replied with nothing {ATTEMPTS_MAX} times"))


def _finished_reply(prompt: Prompt) -> Dialogue:
    """Yield the calls for one reply, continued where the model paused."""
    message = yield prompt
    reply = parse(message)
    for _ in range(CONTINUATIONS_MAX):
        if not reply.is_paused:
            return reply
        prompt = continued(prompt, message)
        message = yield prompt
        reply = join_replies(reply, parse(message))
    return unfinished(reply) if reply.is_paused else reply
