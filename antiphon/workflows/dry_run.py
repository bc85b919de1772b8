"""Runs without calls: the real decisions on stubbed results, once or for every path through a workflow. Pure."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from antiphon_shared.values import JsonObject
from antiphon_shared.workflows.graph import UNDO, Graph
from antiphon_shared.workflows.nodes import Arm, BranchNode, CallNode, ReasonNode, YieldNode

from antiphon.workflows.stubs import sample_of, samples
from coordinator.workflows.decide import decide_run
from coordinator.workflows.messages import (
    AskPerson,
    CallTool,
    Command,
    End,
    EndReasoning,
    Failed,
    Failure,
    GraphEvent,
    KeepValue,
    Reason,
    SetTimer,
    Started,
    Succeeded,
    TimerFired,
    Withdraw,
)
from coordinator.workflows.plan import Plan, template_of
from coordinator.workflows.state import Run

SCENARIOS_MAX = 2_000
OpenCommand = CallTool | Reason | AskPerson | SetTimer
"""A command that waits for its answer."""
_STUB_FAILURE = Failure("not_found", "it was to fail in this dry run")


class TakenArm(NamedTuple):
    """The arm that a branch takes."""

    number: int
    goto: str


@dataclass(frozen=True)
class Scenario:
    """The forced choices of one run: by default the stubbed results decide everything."""

    arms: Mapping[str, TakenArm] = field(default_factory=dict)
    """The arm that each branch takes, by the branch's path in the graph."""
    conditions: Mapping[str, bool] = field(default_factory=dict)
    """The values of the nodes' conditions, by the node's path."""
    failing: frozenset[str] = frozenset()
    """Nodes that fail; in a foreach only the first item fails."""

    @property
    def name(self) -> str:
        """Return the choices that differ from the default, in words."""
        special = [
            *(f"{path} goes to {arm.goto}" for path, arm in self.arms.items()),
            *(f"{path} is skipped" for path, holds in self.conditions.items() if not holds),
            *(f"{path} fails" for path in sorted(self.failing)),
        ]
        return ", ".join(special) or "everything succeeds"


@dataclass(frozen=True)
class DryRun:
    """The result of one run."""

    scenario: Scenario
    commands: tuple[OpenCommand, ...]
    """In order; each is answered before the next, except calls that are given together."""
    end: End
    nodes: Mapping[str, str]
    """The final status of each node that the run reached, by path."""


@dataclass(frozen=True)
class Coverage:
    """The results of all paths through a workflow, up to SCENARIOS_MAX."""

    runs: tuple[DryRun, ...]
    never_reached: tuple[str, ...]
    """Nodes that no run reached, in the order of the graph."""
    is_cut: bool
    """Whether there are more paths than SCENARIOS_MAX."""


def dry_run(plan: Plan, params: Mapping[str, object], results: Mapping[str, object]) -> DryRun:
    """Run a workflow over stubbed results.

    Args:
        plan: The workflow.
        params: The run's params; missing required ones get a sample.
        results: Results by the path of their node in the graph, in place of samples.

    Raises:
        UnfitParams: A param does not fit.
    """
    return _run(plan, params, {**samples(plan), **results}, Scenario())


def _run(plan: Plan, params: Mapping[str, object], stubs: Mapping[str, object], scenario: Scenario) -> DryRun:
    forced = Plan(_forced(plan.graph, scenario), plan.tools)
    run, stored, open = Run(), JsonObject(), deque[OpenCommand]()
    commands: list[OpenCommand] = []
    declared = plan.graph.scopes[""].workflow.params
    sample_params = {name: sample_of(param, name) for name, param in declared.items() if param.is_required}
    graph_event: GraphEvent = Started({**sample_params, **params})
    while run.ended is None:
        decision = decide_run(forced, run, graph_event, stored.__getitem__)
        run.apply(decision.changes)
        end = _apply(decision.commands, stored, open)
        if end is not None:
            nodes = {path: state.status for path, state in run.nodes.items() if state.status != "pending"}
            return DryRun(scenario, tuple(commands), end, nodes)
        command = open.popleft()
        commands.append(command)
        graph_event = _answer(command, scenario, stubs)
    raise AssertionError("a run that has ended says how")


def cover(plan: Plan, params: Mapping[str, object], results: Mapping[str, object]) -> Coverage:
    """Run a workflow for each arm of its branches, each value of its conditions, and one failure of each node.

    A path to a choice is found first; then each other outcome of that choice is tried once, with the rest unchanged.
    """
    base = Scenario(
        arms={path: arms[0] for path, arms in _branches(plan).items()},
        conditions={path: True for path, node in plan.graph.nodes.items() if node.node.when is not None},
    )
    waiting, runs, stubs = deque([base]), list[DryRun](), {**samples(plan), **results}
    tried = {*base.arms.items(), *base.conditions.items()}
    while waiting and len(runs) < SCENARIOS_MAX:
        runs.append(_run(plan, params, stubs, waiting.popleft()))
        for choice, scenario in _alternatives(plan, runs[-1]):
            if choice not in tried:
                tried.add(choice)
                waiting.append(scenario)
    reached = {template_of(path) for one in runs for path in _reached_choices(one)}
    never = tuple(path for path in plan.graph.nodes if path not in reached)
    return Coverage(tuple(map(_without_defaults, runs)), never, bool(waiting))


def _alternatives(plan: Plan, run: DryRun) -> Iterator[tuple[tuple[str, object], Scenario]]:
    scenario = run.scenario
    for path in dict.fromkeys(map(template_of, _reached_choices(run))):
        node = plan.graph.nodes[path].node
        if isinstance(node, BranchNode):
            for arm in _branches(plan)[path]:
                yield (path, arm), replace(scenario, arms={**scenario.arms, path: arm})
        if node.when is not None:
            yield (path, False), replace(scenario, conditions={**scenario.conditions, path: False})
        if isinstance(node, CallNode | ReasonNode | YieldNode):
            yield (path, "fails"), replace(scenario, failing=scenario.failing | {path})


def _reached_choices(run: DryRun) -> list[str]:
    """Return the nodes that began."""
    return [path for path, status in run.nodes.items() if status not in ("skipped", "queued")]


def _without_defaults(run: DryRun) -> DryRun:
    """Name a run by the choices that it reached and that differ from the default."""
    scenario, reached = run.scenario, {template_of(path) for path in run.nodes}
    arms = {path: arm for path, arm in scenario.arms.items() if arm.number and path in reached}
    conditions = {path: holds for path, holds in scenario.conditions.items() if not holds and path in reached}
    return replace(run, scenario=Scenario(arms, conditions, scenario.failing & reached))


def _forced(graph: Graph, scenario: Scenario) -> Graph:
    """Return the graph with constant conditions for the choices that a scenario forces."""
    nodes = dict(graph.nodes)
    for path, holds in scenario.conditions.items():
        node = nodes[path].node.model_copy(update={"when": "true" if holds else "false"})
        nodes[path] = replace(nodes[path], node=node)
    for path, chosen in scenario.arms.items():
        branch = nodes[path].node
        assert isinstance(branch, BranchNode)
        arms = tuple(
            Arm(when="true" if number == chosen.number else "false", goto=arm.goto)
            for number, arm in enumerate(branch.on)
        )
        nodes[path] = replace(nodes[path], node=branch.model_copy(update={"on": arms}))
    return replace(graph, nodes=nodes)


def _apply(commands: tuple[Command, ...], stored: JsonObject, open: deque[OpenCommand]) -> End | None:
    """Store values, and add or withdraw open commands; return the run's end if the commands contain it."""
    for command in commands:
        match command:
            case KeepValue(key=key, value=value):
                stored[key] = value
            case Withdraw(path=path):
                for one in [one for one in open if one.path == path]:
                    open.remove(one)
            case End():
                return command
            case SetTimer(attempt=0) | EndReasoning():
                pass  # no time passes in a dry run, so no container times out
            case _:
                open.append(command)
    return None


def _answer(command: OpenCommand, scenario: Scenario, stubs: Mapping[str, object]) -> GraphEvent:
    """Return the answer to a command: its stubbed result, or a failure if the scenario demands it."""
    path, template = command.path, template_of(command.path)
    if isinstance(command, SetTimer):
        return TimerFired(path, command.attempt)
    if UNDO in path:
        return Succeeded(path, command.attempt, None)
    if template in scenario.failing and path == template.replace("*", "0"):
        return Failed(path, command.attempt, _STUB_FAILURE)
    return Succeeded(path, command.attempt, stubs[template])


def _branches(plan: Plan) -> dict[str, list[TakenArm]]:
    return {
        path: [TakenArm(number, arm.goto) for number, arm in enumerate(node.node.on)]
        for path, node in plan.graph.nodes.items()
        if isinstance(node.node, BranchNode)
    }
