"""The course after the first difference, as far as the recorded results lead. Pure.

A recorded result answers the call of its node in any order, if the tool and the arguments are the same. Waiting takes
no time.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

from antiphon_shared.events import ResponseReady

from antiphon.recording.lines import EventLine
from antiphon.replay.by_specification.acts import end_of
from antiphon.replay.by_specification.recorded_run import RecordedRun
from antiphon.replay.by_specification.rehearsal import Rehearsal
from antiphon.replay.by_specification.result import Rest

_DECISIONS_MAX = 200_000
_LISTED_MAX = 20


def rest_of(rehearsal: Rehearsal, remaining: Sequence[EventLine], end: dict[str, Any] | None) -> Rest:
    """Continue with the remaining recorded events; `end` is the end of the run, if it has already ended."""
    waiting = _Waiting(rehearsal.recorded, remaining)
    for node in rehearsal.state.open:
        waiting.queue(node)
    for _ in range(_DECISIONS_MAX):
        if end is not None:
            break
        line = waiting.next(rehearsal)
        timer = None if line is not None else _timer(rehearsal)
        if line is None and timer is None:
            break
        decision = rehearsal.take(line) if line is not None else rehearsal.fire_timer(timer or "")
        end = decision.acts.get(("", "ends"))
        if decision.step is not None:
            for node in decision.step.change.open:
                waiting.queue(node)
    if end is None:
        return Rest(missing=tuple(_missing(rehearsal))[:_LISTED_MAX])
    answers = (decided.output(ResponseReady) for decided in rehearsal.recorded.decisions)
    recorded = next((end_of(answer) for answer in answers if answer is not None), None)
    is_same = recorded is not None and all(end[name] == recorded[name] for name in ("status", "output"))
    return Rest(status=end["status"], is_same_end=is_same)


class _Waiting:
    """Recorded events without a decision by the rehearsal yet, by their node."""

    def __init__(self, recorded: RecordedRun, remaining: Sequence[EventLine]) -> None:
        self._by_node: dict[str, deque[EventLine]] = defaultdict(deque)
        self._due: list[tuple[int, str]] = []
        """The nodes that may take an event, by the event's number; an empty node is the whole run."""
        for line in remaining:
            node = recorded.node(line.event.data)
            self._by_node[node or ""].append(line)
            if not node:
                heappush(self._due, (line.n, ""))

    def queue(self, node: str) -> None:
        """Queue the node's next recorded event, as its state has changed."""
        if self._by_node.get(node):
            heappush(self._due, (self._by_node[node][0].n, node))

    def next(self, rehearsal: Rehearsal) -> EventLine | None:
        """Return the earliest event that a node waits for, and remove it."""
        while self._due:
            _, node = heappop(self._due)
            lines = self._by_node[node]
            if lines and (not node or rehearsal.awaits(lines[0].event.data)):
                line = lines.popleft()
                self.queue(node)
                return line
        return None


def _timer(rehearsal: Rehearsal) -> str | None:
    """Return a node that only waits for a time; None if there is no such node."""
    return next((node for node, one in rehearsal.state.open.items() if one.kind == "timer"), None)


def _missing(rehearsal: Rehearsal) -> list[str]:
    """Return, as words, the results that the run waits for and that were not recorded."""
    missing = []
    for node, open in rehearsal.state.open.items():
        match open.kind:
            case "call":
                missing.append(f"the result of `{rehearsal.calls[node].name}` at `{node}`")
            case "person" | "approval":
                missing.append(f"a person's {'values' if open.kind == 'person' else 'decision'} at `{node}`")
            case "reason":
                missing.append(f"the result of the reasoning at `{node}`")
            case "timer":
                pass
    return missing
