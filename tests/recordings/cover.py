"""The choice of the recordings to keep: the smallest set that covers the lines and features of all of them.

A greedy set cover: the recording that adds most for its size comes first; redundant ones are removed at the end.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from antiphon_shared.events.step_records import BatchRecord, ExchangeRecord

from antiphon.recording.lines import CatalogueLine, EventLine, Line, RecordLine


@dataclass(frozen=True)
class Candidate:
    """A recording: its size, and the lines and features that it covers."""

    size: int
    worth: frozenset[object]


def chosen(candidates: Mapping[str, Candidate], kept: Iterable[str] = ()) -> list[str]:
    """Return the sorted names of the recordings to keep, which include those of `kept`."""
    names = [name for name in candidates if name in set(kept)]
    left = set().union(*(one.worth for one in candidates.values()))
    left -= set().union(*(candidates[name].worth for name in names))
    needed = list[str]()
    while left:
        best = max(candidates, key=lambda name: len(candidates[name].worth & left) / candidates[name].size)
        needed.append(best)
        left -= candidates[best].worth
    counts = Counter(one for name in (*names, *needed) for one in candidates[name].worth)
    for name in sorted(needed, key=lambda name: -candidates[name].size):
        if all(counts[one] > 1 for one in candidates[name].worth):
            counts.subtract(candidates[name].worth)
            needed.remove(name)
    return sorted({*names, *needed})


def features(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the features that justify a recording: each kind of ending, error, uncertainty and tool."""
    used: set[str] = set()
    for line in lines:
        match line:
            case EventLine():
                data = line.event.data.model_dump(mode="json")
                yield f"event {line.event.type}"
                yield from (f"{name} {data[name]}" for name in _TOLD if data.get(name) is not None)
                yield from (f"doubt {one['kind']}" for one in data.get("uncertainty") or ())
                for result in data.get("results") or () if isinstance(data.get("results"), list) else ():
                    used.add(result["tool"])
                    yield f"result {(result.get('error') or {}).get('error_type', 'ok')}"
                    yield from (f"result with {name}" for name in _OF_RESULTS if result.get(name))
                if isinstance(data.get("error"), dict):
                    yield f"{line.event.type} {data['error'].get('code')}"
            case RecordLine(record=BatchRecord() as batch):
                yield from (
                    f"batch with {name}" for name in ("settled", "begun", "refused") if getattr(batch, name)
                )
            case RecordLine(record=ExchangeRecord() as exchange):
                yield from (f"status {call.error.status}" for call in exchange.calls if call.error)
    for line in lines:
        if isinstance(line, CatalogueLine):
            for tool in line.catalogue.tools:
                if tool.name in used:
                    contract = tool.contract
                    yield from (
                        f"{name} {getattr(contract, name)}"
                        for name in ("mode", "error_propagation", "repeat")
                    )
                    yield from (f"contract with {name}" for name in _OF_CONTRACTS if getattr(contract, name))


_TOLD = (
    "termination_reason",
    "status",
    "rung",
    "level",
    "stop_reason",
    "last_round_because",
    "is_approved",
    "component",
)
"""Fields of events of which each value justifies a recording."""
_OF_RESULTS = ("substitute", "handle", "repeated", "settles")
_OF_CONTRACTS = (
    "batch",
    "cache_ttl_s",
    "idempotent",
    "reconciles",
    "rounds",
    "open_world",
    "alternatives",
    "depends_on",
)
