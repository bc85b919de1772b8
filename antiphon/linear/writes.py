"""The writes of one session in one process: the results of identical calls.

The rules are those of tool_dispatcher/idempotency/begin.lua, without Redis, and so without memory of a
process that has died.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from antiphon_shared.process.clock import utc_now
from antiphon_shared.tools.calls import ToolError, ToolResult

from tool_dispatcher.idempotency.answers import (
    between,
    effect_of,
    first_of,
    must_ask,
    not_approved,
    unknown_before,
)
from tool_dispatcher.idempotency.write import Decided, Effect, Write

Run = Callable[[str], Awaitable[ToolResult]]
"""Runs a write under its key."""
Failed = Callable[[ToolError], ToolResult]
"""Makes a result of an error."""


@dataclass
class _Made:
    """The newest write with the same identity."""

    ordinal: int = 0
    state: Effect = "none"
    write: Write | None = None
    result: ToolResult | None = None
    at_ms: int = 0
    since: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class SessionWrites:
    """The record of writes, which runs each identical one once."""

    def __init__(self) -> None:
        self._newest: dict[str, _Made] = {}
        self._order: dict[str, tuple[float, Write]] = {}
        self._count = 0

    def has(self, name: str) -> bool:
        """Return whether an earlier call has made the write of that name, or may have."""
        return name in self._newest and self._newest[name].state != "none"

    async def once(self, write: Write, run: Run, failed: Failed) -> ToolResult:
        """Return the outcome of a write, or of the identical one before."""
        made = self._newest.setdefault(write.name, _Made())
        while write.kind in ("once", "ask") and made.write is not None and made.result is None:
            await made.ended.wait()
            made = self._newest[write.name]
        if made.write is not None and made.result is not None:
            answer = self._answer(write, made, failed)
            if answer is not None:
                return answer
        made = self._newest[write.name] = self._begun(write, made)
        assert made.write is not None, "it has begun"
        result = await run(made.write.key)
        made.result, made.state, made.at_ms = result, effect_of(result), round(utc_now().timestamp() * 1000)
        self._count += 1
        if made.state == "none":
            self._order.pop(made.write.key)
        else:
            self._order[made.write.key] = self._count, made.write
        made.ended.set()
        return result

    def _begun(self, write: Write, before: _Made) -> _Made:
        is_same = before.state == "none" and before.ordinal > 0 and write.kind in ("once", "ask")
        ordinal = before.ordinal if is_same else before.ordinal + 1
        self._count += 1
        keyed = Write(
            write.session_id,
            f"{write.name}/{ordinal}",
            write.tool,
            write.fingerprint,
            write.round,
            write.call_ids,
            write.ttl_s,
            name=write.name,
            place=write.place,
        )
        self._order[keyed.key] = float("inf"), keyed
        return _Made(ordinal, "unknown", keyed, since=self._count)

    def _answer(self, write: Write, made: _Made, failed: Failed) -> ToolResult | None:
        """Return the result that answers the call without running it; None when it has to run."""
        assert made.write is not None, "it has ended"
        assert made.result is not None, "it has ended"
        by = made.write.asked_by
        found = Decided("theirs", made.write.key, 1, made.state, by, made.at_ms, made.result)
        if write.kind == "again":
            return failed(not_approved(write, found)) if made.state == "unknown" else None
        if write.kind == "next" or made.state == "none":
            return None
        if write.kind == "ask":
            result = failed(must_ask(write, found))
        elif made.state == "unknown":
            result = failed(unknown_before(write, found, made.result))
        elif (other := self._between(write, made)) is not None:
            found = Decided("between", found.key, 1, "done", by, made.at_ms, other=other.member)
            result = failed(between(write, found))
        else:
            own = {"index": write.place, "call_id": write.call_ids[0], "duration_ms": 0}
            result = made.result.model_copy(update=own)
        return result.model_copy(update={"repeated": first_of(found)})

    def _between(self, write: Write, made: _Made) -> Write | None:
        assert made.write is not None, "it has ended"
        for key, (end, other) in self._order.items():
            is_later = other.round == write.round and other.place > write.place
            if end > made.since and key != made.write.key and not is_later:
                return other
        return None
