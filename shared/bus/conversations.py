"""Conversations in Redis: a hash for each, with a turn for each of its sessions.

The hash lies outside all partitions, so keeping a turn is no part of a commit. It is done before the commit
that closes the session; a crash in between has it done again, which changes nothing.
"""

import asyncio
from contextlib import suppress

from pydantic import ValidationError

from shared.bus.redis_bus import Bus
from shared.clock import milliseconds
from shared.conversation import TURNS_KEPT_MAX, in_order
from shared.session import Turn
from shared.values import SessionId, Tenant


class SharedTurns:
    """The turns of all conversations; see `conversation.Turns`. Kept for the retention after the last of them."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def of(self, tenant: Tenant, conversation: SessionId) -> tuple[Turn, ...]:
        """All that are kept and can be read, the oldest first."""
        _, turns = await self._read(self._bus.keys.conversation(tenant, conversation))
        return turns

    async def keep(self, tenant: Tenant, conversation: SessionId, turn: Turn) -> None:
        """Keep a turn, unless its session has one; the oldest beyond TURNS_KEPT_MAX go."""
        key = self._bus.keys.conversation(tenant, conversation)
        submit = self._bus.batcher.submit
        _, _, count = await asyncio.gather(
            submit("HSETNX", key, turn.session_id, turn.model_dump_json()),
            submit("PEXPIRE", key, milliseconds(self._bus.settings.retention_s)),
            submit("HLEN", key),
        )
        if count > TURNS_KEPT_MAX:
            sessions, turns = await self._read(key)
            newest = {turn.session_id for turn in turns[-TURNS_KEPT_MAX:]}
            # Whoever else does it at the same time drops the same ones.
            await submit("HDEL", key, *(session for session in sessions if session not in newest))

    async def _read(self, key: str) -> tuple[list[str], tuple[Turn, ...]]:
        """The sessions that have a turn there, and the turns that can be read, the oldest first."""
        kept: dict[bytes, bytes] = await self._bus.batcher.submit("HGETALL", key)
        turns: list[Turn] = []
        for content in kept.values():
            with suppress(ValidationError):  # as those of a version newer than ours
                turns.append(Turn.model_validate_json(content))
        return [session.decode() for session in kept], tuple(in_order(turns))
