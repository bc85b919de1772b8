"""The comparison of one recorded run with another specification of its workflow. Pure.

The other specification decides on each recorded event, in the recorded order, until a decision differs.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from antiphon_shared.events import EventData, ToolsRequested
from antiphon_shared.events.step_records import RunRecord
from antiphon_shared.values import Value
from antiphon_shared.workflows.specification import Specification, specification_hash

from antiphon.recording.lines import Line
from antiphon.replay.by_specification.acts import TIMER, Acts, acts_of
from antiphon.replay.by_specification.limits import Limits, limit_not_reached, limit_passed, name_of
from antiphon.replay.by_specification.node_differences import Graphs, Moved, NodeDifference, differing
from antiphon.replay.by_specification.recorded_run import RecordedRun
from antiphon.replay.by_specification.rehearsal import Rehearsal, RehearsedDecision
from antiphon.replay.by_specification.remaining_steps import rest_of
from antiphon.replay.by_specification.result import FirstDifference, SpecificationResult
from antiphon.replay.checks.specifications import as_stored, graph_of
from antiphon.replay.steps.replay_state import Step
from coordinator.endings import moment_of


class Specifications(Value):
    """The specifications that recorded runs are compared with, by the names of their workflows."""

    by_workflow: dict[str, Specification]
    hashes: dict[str, str]
    domains: tuple[str, ...]

    @classmethod
    def of(cls, specifications: Iterable[Specification]) -> "Specifications":
        """Return the specifications by workflow name; of two with the same name, the later counts."""
        listed = list(specifications)
        by_workflow = {name: stored for stored in map(as_stored, listed) for name in stored.workflows}
        hashes = {name: specification_hash(one) for one in listed for name in one.workflows}
        return cls(by_workflow=by_workflow, hashes=hashes, domains=tuple(one.domain for one in listed))


def compare_run(lines: Iterable[Line], specifications: Specifications) -> SpecificationResult:
    """Compare one recording with the specifications. Raises UnreadableEvent."""
    recorded = RecordedRun.of(lines)
    opened, events = recorded.opened, len(recorded.content.lines)
    if opened is None or recorded.query is None:
        why = "it is not the recording of a workflow run"
        return SpecificationResult("other", recorded.session_id, events=events, why=why)
    same = SpecificationResult("same", recorded.session_id, opened.workflow, events)
    if opened.workflow not in specifications.by_workflow:
        if recorded.domain not in specifications.domains:
            why = f"the workflow {opened.workflow!r} belongs to another domain"
            return replace(same, result="other", why=why)
        first = recorded.decisions[0].line
        sentence = f"the workflow `{opened.workflow}` would not exist"
        difference = FirstDifference("gone", "", first.n, first.event.type, sentence, opened.workflow)
        return replace(same, result="differs", first=difference)
    name = opened.workflow
    rehearsal = Rehearsal(recorded, specifications.by_workflow[name], specifications.hashes[name], name)
    return _compare_decisions(rehearsal, same)


def _compare_decisions(rehearsal: Rehearsal, result: SpecificationResult) -> SpecificationResult:
    pairs, decisions = DecisionPairs(rehearsal), rehearsal.recorded.decisions
    for number, decided in enumerate(decisions):
        pair = pairs.next(decided)
        if pair.differences:
            return _differing(rehearsal, pairs.graphs, pair, number, result)
    if lacks := rehearsal.recorded.lacks:
        return replace(result, result="unchecked", decisions=len(decisions), why=lacks)
    return replace(result, decisions=len(decisions))


@dataclass(frozen=True, slots=True)
class DecisionPair:
    """The acts of a recorded decision, and the rehearsed one."""

    then: Acts
    now: RehearsedDecision | None
    """None if a time limit would have expired before the event, or would not have expired with it."""
    differences: list[NodeDifference]
    """The differences, the most significant first."""
    called: int
    """The number of calls that the rehearsal had made before."""


class DecisionPairs:
    """The recorded decisions and the rehearsed ones, step by step."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal
        self._then, self._now = Limits(), Limits()
        graph = graph_of(rehearsal.specification, rehearsal.workflow)
        self.graphs = Graphs(rehearsal.recorded.graph(), graph)

    def next(self, decided: Step) -> DecisionPair:
        """Take the next decision."""
        rehearsal, line = self._rehearsal, decided.line
        recorded, called = rehearsal.recorded, len(rehearsal.called)
        moment = moment_of(line.event, line.entry)
        if limit := self._limit(line.event.data, moment):
            return DecisionPair({}, None, [limit], called)
        record, made = decided.record, rehearsal.take(line)
        assert isinstance(record, RunRecord), "a decision on a run"
        self._then.take(record.timers, moment)
        self._now.take(made.timers, moment)
        then = acts_of(
            decided.sent, record.timers, record.sends, lambda number: recorded.nodes.get(number, "")
        )
        differences = differing(then, made.acts, self.graphs, Moved()) if then != made.acts else []
        return DecisionPair(then, made, differences, called)

    def _limit(self, data: EventData, moment: datetime) -> NodeDifference | None:
        """Return a limit that would have expired before this event, or that expired with it and would not have."""
        opened = self._rehearsal.state.open
        waits = {f"{TIMER}{node}" for node, one in opened.items() if one.kind == "timer"}
        name = name_of(data, self._rehearsal.recorded.node(data))
        passed = limit_passed(self._then, self._now, waits | {name}, moment)
        if passed is None and name and name not in waits:
            passed = limit_not_reached(self._then, self._now, data, name)
        for limits in (self._then, self._now):
            limits.due.pop(name, None)
        return passed


def _differing(
    rehearsal: Rehearsal, graphs: Graphs, pair: DecisionPair, number: int, result: SpecificationResult
) -> SpecificationResult:
    """Return the result with the first differing decision: its node, and where it leads."""
    decisions = rehearsal.recorded.decisions
    line, later = decisions[number].line, decisions[number + 1 :]
    rest, different = None, pair.differences
    if pair.now is not None:
        rest = rest_of(rehearsal, [one.line for one in later], pair.now.acts.get(("", "ends")))
        moved = Moved(
            before=frozenset(rehearsal.called[: pair.called]),
            recorded=frozenset(
                sent.node for one in later for sent in one.sent if isinstance(sent, ToolsRequested)
            ),
            rehearsed=frozenset(rehearsal.called[pair.called :]),
        )
        different = differing(pair.then, pair.now.acts, graphs, moved)
    main, nodes = different[0], {one.node for one in different}
    first = FirstDifference(
        *(main.kind, main.node, line.n, line.event.type, main.sentence, main.did, main.would),
        more=len(nodes) - 1,
    )
    return replace(result, result="differs", decisions=number, first=first, rest=rest)
