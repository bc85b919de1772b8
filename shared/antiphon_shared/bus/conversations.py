"""Conversations in Redis: one hash each, with a turn for each of its sessions.

The hash is outside the partitions, so that no commit includes it. A question is stored before its session is
opened, and its turn before the session is closed. After a crash in between, the step is repeated without a
further effect.

A client may read an answer a moment before the coordinator has stored the turn. So when the next session is
opened, the coordinator checks whether one of the open questions has an answer already, and waits for its turn.
"""

import asyncio
from contextlib import suppress
from datetime import datetime

from antiphon_shared.bus import scripts
from antiphon_shared.bus.handling import RESPONSE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.wire import Argument
from antiphon_shared.events.session import Turn
from antiphon_shared.memory.conversation import (
    TURNS_INCLUDED_MAX,
    TURNS_STORED_MAX,
    OpenTurn,
    StoredTurns,
    in_order,
)
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.stored import Kind
from antiphon_shared.values import SessionId, Tenant

_TURN: Kind[Turn | OpenTurn] = Kind("a turn", Turn | OpenTurn)
_OPEN_TURN: Kind[OpenTurn] = Kind("a turn", OpenTurn)


class SharedTurns:
    """The turns of all conversations, each kept for the retention after its last turn; see `conversation.Turns`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def turns(self, tenant: Tenant, conversation: SessionId, at: datetime | None = None) -> StoredTurns:
        """Return all stored turns; with `at`, only turns whose question was asked until then."""
        _, all_turns = await self._read(self._bus.keys.conversation(tenant, conversation))
        turns = [turn for turn in all_turns if at is None or turn.at <= at]
        open_turns = [turn for turn in turns if isinstance(turn, OpenTurn)]
        newest = (turn.session_id for turn in open_turns[-TURNS_INCLUDED_MAX:])
        answers = await asyncio.gather(*(self._bus.session(id).document(RESPONSE) for id in newest))
        return StoredTurns(
            turns=tuple(turn for turn in turns if isinstance(turn, Turn)),
            open=tuple(open_turns),
            is_turn_due=any(content is not None for _, content in answers),
        )

    async def begin(self, tenant: Tenant, conversation: SessionId, turn: OpenTurn) -> None:
        """Store a question unless its session has a turn; drop the oldest turns beyond TURNS_STORED_MAX."""
        key = self._bus.keys.conversation(tenant, conversation)
        submit = self._bus.batcher.submit
        await self._write("HSETNX", key, turn)
        if await submit("HLEN", key) > TURNS_STORED_MAX:
            sessions, turns = await self._read(key)
            newest = {one.session_id for one in turns[-TURNS_STORED_MAX:]}
            # Another process that does the same at the same time drops the same turns.
            await submit("HDEL", key, *(session for session in sessions if session not in newest))

    async def open_question(
        self, tenant: Tenant, conversation: SessionId, session_id: SessionId
    ) -> OpenTurn | None:
        """Return the question that `begin` has stored, if it is still open."""
        key = self._bus.keys.conversation(tenant, conversation)
        content: bytes | None = await self._bus.batcher.submit("HGET", key, session_id)
        with suppress(UnreadableEvent):
            return _OPEN_TURN.read(content or b"")
        return None

    async def complete(self, tenant: Tenant, conversation: SessionId, turn: Turn) -> None:
        """Replace a question by its turn."""
        key = self._bus.keys.conversation(tenant, conversation)
        await self._write("HSET", key, turn)

    async def _write(self, command: str, key: str, turn: Turn | OpenTurn) -> None:
        """Write a turn and the key's expiry in one step, so that no crash leaves a key without an expiry."""
        retention_ms = self._bus.settings.retention_ms
        arguments: list[Argument] = [
            retention_ms,
            command,
            turn.session_id,
            _TURN.write(turn, await self._bus.formats.now()),
        ]
        await self._bus.batcher.run(scripts.EXPIRING, [key], arguments)

    async def _read(self, key: str) -> tuple[list[str], list[Turn | OpenTurn]]:
        """Return the sessions that have a turn, and the readable turns, oldest first."""
        stored: dict[bytes, bytes] = await self._bus.batcher.submit("HGETALL", key)
        turns: list[Turn | OpenTurn] = []
        for content in stored.values():
            with suppress(UnreadableEvent):  # such as turns of a later release
                turns.append(_TURN.read(content))
        return [session.decode() for session in stored], in_order(turns)
