"""The restoring of a session's earlier writes into the ledger, so that a fork does not repeat them.

Each write is claimed and settled again with its recorded outcome, and no tool runs. A write with redacted arguments is
not recognised, as these are not the executed ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.tools.calls import RequestedCall, ToolDefinition, ToolError, ToolResult
from antiphon_shared.values import JsonObject

from antiphon.recording.lines import EventLine, records_in
from antiphon.replay.forking.point import Point
from tool_dispatcher.batch import gathered
from tool_dispatcher.batch.placeholders import resolve
from tool_dispatcher.idempotency.answers import effect_of, is_unknown, write_end
from tool_dispatcher.idempotency.identity import identity_of, name_of
from tool_dispatcher.idempotency.ledger import Ledger
from tool_dispatcher.idempotency.port import Claim
from tool_dispatcher.idempotency.write import Purpose, Results, Write

_Unit = tuple[str, tuple[int, ...]]


async def restore_writes(bus: Bus, point: Point) -> None:
    """Add the writes of all completed batches to the ledger. Raises LedgerUnavailable."""
    life_s = bus.settings.retention_s
    ledger = Ledger(bus.batcher, bus.keys, lease_s=bus.settings.lease_s, retention_s=life_s)
    for batch in _batches(point, life_s):
        claims: dict[_Unit, list[tuple[Claim, Results]]] = {}
        for begun, ended in batch.waves():
            for unit in begun:
                claims[unit] = await _claimed(ledger, batch, unit)
            for claim, results in (made for unit in ended for made in claims.pop(unit, ())):
                await ledger.settle(claim, results, *write_end(results))


async def _claimed(ledger: Ledger, batch: "_Batch", unit: _Unit) -> list[tuple[Claim, Results]]:
    """Return the claims of a unit's writes; an empty list if an earlier write has answered them."""
    settled = batch.settled_write(unit)
    if settled is None:
        return []
    write, results = settled
    reply = await ledger.begin(write)
    if isinstance(reply, Claim):
        return [(reply, results)]
    if reply.verdict == "split":
        return [claim for one in batch.as_single_units(unit) for claim in await _claimed(ledger, batch, one)]
    if reply.verdict == "unsettled" and not any(map(is_unknown, results)):
        identical = replace(write, key=reply.key)  # its outcome was unknown, and this call has settled it
        status = await ledger.status(identical)
        claim = await ledger.take_over(identical, status.fence, is_unknown=True)
        return [(claim, results)] if claim else []
    return []


def _batches(point: Point, life_s: float) -> Iterator["_Batch"]:
    assert point.session is not None, "a point's session is open"
    events = {line.event.id: line.event for line in point.lines if isinstance(line, EventLine)}
    records = {record.of: record for record in records_in(point.lines, BatchRecord)}
    tools = point.content.catalogue(point.session.tools.catalogue).by_name
    for event in events.values():
        request = events.get(event.causationid) if event.causationid else None
        if request and isinstance(event.data, ToolsCompleted) and isinstance(request.data, ToolsRequested):
            results = {result.index: result for result in event.data.results}
            yield _Batch(point.session.id, request.data, results, records.get(request.id), tools, life_s)


@dataclass(frozen=True)
class _Batch:
    """A batch that had ended, with its results."""

    session_id: str
    request: ToolsRequested
    results: Mapping[int, ToolResult]
    record: BatchRecord | None
    tools: Mapping[str, ToolDefinition]
    life_s: float

    def waves(self) -> Iterator[tuple[list[_Unit], list[_Unit]]]:
        """Yield, for each step, the units that began and the units that ended; one by one if there is no record."""
        if self.record is None:
            calls = enumerate(self.request.calls)
            for unit in [(call.name, (index,)) for index, call in calls if self._may_have_run(index)]:
                yield [unit], [unit]
            return
        units, ends = self.record.units, self.record.ends
        for n, begun in enumerate(self.record.begins):
            ended = ends[n] if n < len(ends) else ()
            yield [units[one] for one in begun], [units[one] for one in ended]

    def as_single_units(self, unit: _Unit) -> list[_Unit]:
        """Return the calls of a group as single units."""
        return [(self.request.calls[index].name, (index,)) for index in unit[1]]

    def settled_write(self, unit: _Unit) -> tuple[Write, Results] | None:
        """Return the write of a unit and its results; None if it is no write, or its arguments are unknown."""
        name, indexes = unit
        calls = [self.request.calls[index] for index in indexes]
        tool, plain = self.tools.get(name), self._executed_arguments(calls)
        if tool is None or tool.effect != "write" or any(call.idempotency_key for call in calls) or not plain:
            return None
        if any(
            index not in self.results or call.name not in self.tools
            for index, call in zip(indexes, calls, strict=True)
        ):
            return None
        variant = self.tools[calls[0].name].contract.batch if name != calls[0].name else None
        identity = self._identity(name, gathered(variant, plain) if variant else plain[0])
        write = Write(
            session_id=self.session_id,
            key="",
            tool=name,
            fingerprint=identity,
            round=self.request.round,
            call_ids=tuple(call.id for call in calls),
            ttl_s=self.life_s,
            name=name_of(self.request.tenant, self.session_id, identity),
            identities=tuple(self._identity(call.name, one) for call, one in zip(calls, plain, strict=True)),
            kind=_purpose(calls[0], tool),
            index=indexes[0],
            is_approved=True,
        )
        return write, tuple(self.results[index] for index in indexes)

    def _may_have_run(self, index: int) -> bool:
        return index in self.results and effect_of(self.results[index]) != "none"

    def _executed_arguments(self, calls: Sequence[RequestedCall]) -> list[dict[str, Any]]:
        """Return the executed arguments; an empty list if a value in them was not recorded."""
        results = [self.results.get(index) for index in range(len(self.request.calls))]
        arguments = []
        for call in calls:
            try:
                plain = resolve(call, results)
            except ValueError:
                return []
            if isinstance(plain, ToolError):
                return []
            arguments.append(plain)
        return arguments

    def _identity(self, name: str, plain: JsonObject) -> str:
        return identity_of(name, self.tools[name].input_schema, plain)


def _purpose(call: RequestedCall, tool: ToolDefinition) -> Purpose:
    if call.repeat_of is not None:
        return "again"
    return "next" if tool.contract.repeat == "run" else "once"
