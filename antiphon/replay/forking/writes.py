"""The restoring of a session's earlier writes into the ledger, so that its fork does not repeat them.

Each write is claimed and settled as it was then, with its recorded outcome, and no tool is run. Redacted
arguments are not those that were executed, so a write with any is not recognised.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.events.step_records import BatchRecord
from antiphon_shared.tools.calls import RequestedCall, ToolDefinition, ToolError, ToolResult

from antiphon.recording.lines import EventLine, records_in
from antiphon.replay.forking.point import Point
from tool_dispatcher.batch import gathered
from tool_dispatcher.batch.placeholders import resolve
from tool_dispatcher.idempotency.answers import effect_of, is_unknown
from tool_dispatcher.idempotency.identity import identity_of, name_of
from tool_dispatcher.idempotency.ledger import Ledger
from tool_dispatcher.idempotency.port import Claim
from tool_dispatcher.idempotency.write import EndState, Purpose, Results, Write

_Unit = tuple[str, tuple[int, ...]]


async def restore_writes(bus: Bus, point: Point) -> None:
    """Put the writes of all batches that had ended by then into the ledger. Raises LedgerUnavailable."""
    life_s = bus.settings.retention_s
    ledger = Ledger(bus.batcher, bus.keys, lease_s=bus.settings.lease_s, retention_s=life_s)
    for batch in _batches(point, life_s):
        claims: dict[_Unit, list[tuple[Claim, Results]]] = {}
        for begun, ended in batch.waves():
            for unit in begun:
                claims[unit] = await _claimed(ledger, batch, unit)
            for claim, results in (made for unit in ended for made in claims.pop(unit, ())):
                state: EndState = "unknown" if any(map(is_unknown, results)) else "settled"
                await ledger.settle(claim, results, state, tuple(map(effect_of, results)))


async def _claimed(ledger: Ledger, batch: "_Batch", unit: _Unit) -> list[tuple[Claim, Results]]:
    """Return the claims of a unit's writes; an empty list if an earlier write had answered them."""
    made = batch.settled_write(unit)
    if made is None:
        return []
    write, results = made
    found = await ledger.begin(write)
    if isinstance(found, Claim):
        return [(found, results)]
    if found.verdict == "split":
        return [claim for one in batch.as_single_units(unit) for claim in await _claimed(ledger, batch, one)]
    if found.verdict == "theirs" and not any(map(is_unknown, results)):
        theirs = replace(write, key=found.key)  # its outcome was unknown, and this call has settled it
        status = await ledger.status(theirs)
        claim = await ledger.take_over(theirs, status.fence, is_unknown=True)
        return [(claim, results)] if claim else []
    return []


def _batches(point: Point, life_s: float) -> Iterator["_Batch"]:
    assert point.session is not None, "a point's session is open"
    events = {line.event.id: line.event for line in point.lines if isinstance(line, EventLine)}
    records = {record.of: record for record in records_in(point.lines, BatchRecord)}
    tools = point.known.catalogue(point.session.tools.catalogue).by_name
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
        """Yield, step by step, the units that began and those that ended then; one by one without a record."""
        if self.record is None:
            calls = enumerate(self.request.calls)
            for unit in [(call.name, (place,)) for place, call in calls if self._may_have_run(place)]:
                yield [unit], [unit]
            return
        units, ends = self.record.units, self.record.ends
        for n, begun in enumerate(self.record.begins):
            ended = ends[n] if n < len(ends) else ()
            yield [units[one] for one in begun], [units[one] for one in ended]

    def as_single_units(self, unit: _Unit) -> list[_Unit]:
        """Return the calls of a group as single units."""
        return [(self.request.calls[place].name, (place,)) for place in unit[1]]

    def settled_write(self, unit: _Unit) -> tuple[Write, Results] | None:
        """Return the write of a unit, and its results; None if it wrote nothing, or its arguments are unknown."""
        name, places = unit
        calls = [self.request.calls[place] for place in places]
        tool, plain = self.tools.get(name), self._plain(calls)
        if tool is None or tool.effect != "write" or any(call.idempotency_key for call in calls) or not plain:
            return None
        if any(
            place not in self.results or call.name not in self.tools
            for place, call in zip(places, calls, strict=True)
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
            place=places[0],
            is_approved=True,
        )
        return write, tuple(self.results[place] for place in places)

    def _may_have_run(self, place: int) -> bool:
        return place in self.results and effect_of(self.results[place]) != "none"

    def _plain(self, calls: Sequence[RequestedCall]) -> list[dict[str, Any]]:
        """Return the executed arguments; an empty list if a value in them is not recorded whole."""
        results = [self.results.get(place) for place in range(len(self.request.calls))]
        found = []
        for call in calls:
            try:
                plain = resolve(call, results)
            except ValueError:
                return []
            if isinstance(plain, ToolError):
                return []
            found.append(plain)
        return found

    def _identity(self, name: str, plain: dict[str, Any]) -> str:
        return identity_of(name, self.tools[name].input_schema, plain)


def _purpose(call: RequestedCall, tool: ToolDefinition) -> Purpose:
    if call.repeat_of is not None:
        return "again"
    return "next" if tool.contract.repeat == "run" else "once"
