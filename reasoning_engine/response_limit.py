"""A limit on the bytes that are read from a model's server: the SDK reads every response to its end."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import httpx2

from reasoning_engine.model_errors import UnreadableReply

REPLY_BYTES_MAX = 32_000_000
"""The longest reply that is read from a stream, including the JSON around each piece."""
ERROR_BYTES_MAX = 100_000
"""The longest part of an error response that is read, as the status is enough to classify it."""


async def bound_reading(response: httpx2.Response) -> None:
    """Bound the reading of a response; a response hook of the client.

    Reading a stream beyond REPLY_BYTES_MAX raises UnreadableReply. The limit counts decompressed bytes: a few
    compressed ones may expand to very many.
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

    response.aiter_bytes = read_bounded  # type: ignore[method-assign]  # every reader goes through it
