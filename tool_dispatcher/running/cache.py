"""The cache of reads: it stores a tool's results for as long as the contract allows.

No call fails because of the cache: a result that cannot be read or stored counts as not cached.
"""

import asyncio
from collections.abc import Iterable
from datetime import datetime

import structlog
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.bus.keys import Keys
from antiphon_shared.process.clock import milliseconds
from antiphon_shared.process.offload import json_up_to
from antiphon_shared.tools.calls import ToolError, ToolOutcome
from antiphon_shared.tools.contract import Contract
from antiphon_shared.values import ToolArguments
from pydantic_core import from_json
from redis.exceptions import RedisClusterException, RedisError

from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.idempotency.identity import fingerprint
from tool_dispatcher.results.outcome import Answer

BYTES_MAX = 1_000_000
"""The maximum size of one entry."""
PATIENCE_S = 0.5
"""How long to wait for an entry, in seconds; most tools answer in less."""

_NOTES, _ENDS = "journal:writes", "journal:writes:ended"
_BEGUN, _ENDED = "begun:", "ended:"


def is_cached(contract: Contract) -> bool:
    """Return whether calls with this contract may be answered from the cache."""
    return contract.effect == "read" and contract.cache_ttl_s > 0


def digest_of(
    tool: Tool, tenant: str, scopes: Iterable[str], arguments: ToolArguments, cache_name: str = ""
) -> str | None:
    """Return the cache key of a cached call; None if its arguments are not JSON.

    Args:
        arguments: the validated arguments, with placeholders replaced.
        cache_name: the name of the session's cache; see OwnWrites.
    """
    try:
        return fingerprint(tool.definition_digest, tenant, sorted(set(scopes)), arguments, cache_name)
    except ValueError:
        return None


class ReadCache:
    """The results of reads, shared by all dispatchers: whole results, before they are cut to size."""

    def __init__(self, batcher: Batcher, keys: Keys) -> None:
        self._batcher, self._keys = batcher, keys

    async def get(self, digest: str) -> Answer | None:
        """Return the answer stored under a digest; None if it is missing or cannot be read in time."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                content = await self._batcher.submit("GET", self._keys.cached(digest))
            if content is None:
                return None
            entry = from_json(content)
            return Answer(entry["data"], cached_at=datetime.fromisoformat(entry["at"]))
        except (RedisError, RedisClusterException, TimeoutError, ValueError, LookupError, TypeError) as error:
            structlog.get_logger().warning("read_cache_unavailable", error=str(error))
            return None

    def store(self, digest: str, data: ToolOutcome, at: datetime, ttl_s: float) -> None:
        """Store the data of a read that began at `at` for `ttl_s`, without waiting.

        Errors and results that are too large are not stored.
        """
        if isinstance(data, ToolError) or ttl_s <= 0:
            return
        try:
            content = json_up_to({"at": at.isoformat(), "data": data}, BYTES_MAX)
        except ValueError:  # also PydanticSerializationError, a subclass
            return
        if content is not None:
            # The reply is ignored, because it makes no difference to this call.
            self._batcher.submit("SET", self._keys.cached(digest), content, "PX", milliseconds(ttl_s))


class OwnWrites:
    """The writes of a session, for its reads: a result cached before a write must not answer a read after it.

    The worker that runs a write notes it in the session before it begins and after it has ended. It also notes the
    end in a second journal, so that a check costs two counts for any number of writes. While a write is in flight,
    or its outcome is unknown, the session's reads bypass the cache. After that they use a cache of the session,
    whose name contains the number of its ended writes.
    """

    def __init__(self, session: SessionStore) -> None:
        self._session = session

    async def begin(self, key: str, fence: int) -> None:
        """Note that a write is about to run."""
        await self._note(f"{_BEGUN}{key}#{fence}")

    async def end(self, key: str, fence: int) -> None:
        """Note that a write has ended and can have no further effect."""
        await self._note(f"{_ENDED}{key}#{fence}")
        await self._note(f"{key}#{fence}", _ENDS)

    async def cache_name(self) -> str | None:
        """Return the name of the session's cache: empty for the shared cache, None for no cache."""
        # The ends are counted first: a write that begins or ends in between makes the second count too large.
        ended = await self._count(_ENDS)
        if await self._count(_NOTES) != ended * 2:
            return None
        return f"{self._session.session_id}#{ended}" if ended else ""

    async def _count(self, journal: str) -> int:
        return await retry_while_unavailable("count a session's writes", lambda: self._session.count(journal))

    async def _note(self, entry: str, journal: str = _NOTES) -> None:
        await retry_while_unavailable("note a write", lambda: self._session.note(journal, entry, b"1"))
