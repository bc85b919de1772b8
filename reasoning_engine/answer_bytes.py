"""How much of what a model's server sends is taken in, whatever it is: the SDK reads an answer to its end."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx2

from reasoning_engine.model_errors import UnreadableReply

REPLY_BYTES_MAX = 32_000_000
"""Of a stream: the longest reply that is taken in, with room for what wraps each piece of it."""
ERROR_BYTES_MAX = 100_000
"""Of an answer that is no reply; the rest of it is not read, and its status says enough."""


async def bound(response: httpx2.Response) -> None:
    """A response hook of the client. Reading a stream beyond REPLY_BYTES_MAX raises UnreadableReply.

    What is unpacked counts, not what is sent: a few packed bytes may stand for very many.
    """
    read, is_reply = response.aiter_bytes, response.is_success

    async def read_bounded(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        left = REPLY_BYTES_MAX if is_reply else ERROR_BYTES_MAX
        async with aclosing(read(chunk_size)) as chunks:
            async for chunk in chunks:
                if len(chunk) > left and is_reply:
                    raise UnreadableReply(f"it is longer than {REPLY_BYTES_MAX} bytes")
                yield chunk[:left]
                left -= len(chunk)
                if left <= 0 and not is_reply:
                    return

    response.aiter_bytes = read_bounded  # type: ignore[method-assign]  # the one way all readers take
