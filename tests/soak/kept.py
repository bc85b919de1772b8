"""The data of a session, read directly from Redis."""

from collections.abc import Awaitable
from typing import Any, cast

import orjson
import redis.asyncio
from antiphon_shared.bus.keys import Keys
from antiphon_shared.tools.journal import journal_name, outcomes

from tests.flows.processes import Log
from tests.soak.reported_writes import Journals, kind_of


async def log_of(client: redis.asyncio.Redis, keys: Keys, session_id: str) -> Log:
    """Return a session's events in order, as JSON."""
    entries = cast(list[Any], await client.xrange(keys.log(session_id)))
    return [orjson.loads(fields[b"event"]) for _, fields in entries]


async def journals_of(client: redis.asyncio.Redis, keys: Keys, session_id: str, log: Log) -> Journals:
    """Return the outcomes in the journal of each round with a batch."""
    journals = {}
    for round in {event["data"]["round"] for event in log if kind_of(event) == "tools.requested"}:
        key = keys.of_session(session_id, journal_name(round))
        entries = await cast(Awaitable[dict[bytes, bytes]], client.hgetall(key))
        journals[round] = outcomes({name.decode(): content for name, content in entries.items()})
    return journals


async def status_of(client: redis.asyncio.Redis, keys: Keys, session_id: str) -> str:
    """Return the state of a session that should have ended, for diagnosis."""
    partition = keys.partition(session_id)
    way = [kind_of(event) for event in await log_of(client, keys, session_id)]
    is_open = await client.zscore(keys.open_sessions(partition), session_id) is not None
    timers = cast(list[bytes], await client.zrange(keys.timers(partition), 0, -1))
    its_timers = [name for name in map(bytes.decode, timers) if name.startswith(f"{session_id}/")]
    return f"log: {', '.join(way) or 'none'}; open: {is_open}; timers: {', '.join(its_timers) or 'none'}"
