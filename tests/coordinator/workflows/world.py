"""A simulated world for a run: calls settle in any order, with results and failures that a test chooses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.events import PinnedTool
from antiphon_shared.workflows.graph import compile_graph
from antiphon_shared.workflows.specification import Specification

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
    OutcomeFound,
    Reason,
    Resumed,
    SetTimer,
    Started,
    Succeeded,
    TimerFired,
    Withdraw,
)
from coordinator.workflows.plan import Plan
from coordinator.workflows.state import Run

Graph = Mapping[str, Any]
READ, WRITE = PinnedTool(), PinnedTool(is_write=True)
TOOLS = {
    "look": READ,
    "book": WRITE,
    "pay": PinnedTool(is_write=True, is_idempotent=True),
    "drop": PinnedTool(is_write=True, is_idempotent=True),
    "slow": PinnedTool(is_write=True, is_sequential=True),
}


def a_plan(graph: Graph, tools: Mapping[str, PinnedTool] = TOOLS, **others: Any) -> Plan:
    """Return the plan of a workflow `main` with that graph; `others` are further workflows, or fields of this one."""
    workflows = {
        name: other for name, other in others.items() if isinstance(other, dict) and "graph" in other
    }
    fields = {name: value for name, value in others.items() if name not in workflows}
    main = {"description": "A test.", "graph": graph, **fields}
    specification = Specification.model_validate(
        {"domain": "test", "version": "1", "workflows": {"main": main, **workflows}}
    )
    return Plan(compile_graph(specification, "main"), tools)


@dataclass
class World:
    """A run and its open requests."""

    plan: Plan
    run: Run = field(default_factory=Run)
    kept: dict[str, Any] = field(default_factory=dict)
    open: dict[str, Command] = field(default_factory=dict)
    """Commands that have not been answered, by path."""
    calls: list[CallTool] = field(default_factory=list)
    timers: list[SetTimer] = field(default_factory=list)
    begun: list[str] = field(default_factory=list)
    end: End | None = None
    draw: float = 0.0
    is_resumed: bool = False
    found: set[str] = field(default_factory=set)
    """Writes of which a person has found out what became of them, after their workflow had ended."""

    def start(self, **params: Any) -> "World":
        self.happens(Started(params))
        return self

    def happens(self, graph_event: GraphEvent) -> None:
        decision = decide_run(self.plan, self.run, graph_event, self.kept.__getitem__, self.draw)
        if self.end is not None:
            assert not decision.commands, "nothing begins after the end"
        self.run.apply(decision.changes)
        for command in decision.commands:
            match command:
                case KeepValue(key=key, value=value):
                    assert self.is_resumed or key not in self.kept, "a value is kept once"
                    self.kept[key] = value
                case End():
                    assert self.end is None, "a run ends once"
                    self.end = command
                case Withdraw(path=path):
                    self.open.pop(path, None)
                case SetTimer(path=path, attempt=0):
                    self.timers.append(command)
                case CallTool() | Reason() | AskPerson() | SetTimer():
                    assert command.path not in self.open, f"{command.path} is open already"
                    self.open[command.path] = command
                    self.begun.append(command.path)
                    if isinstance(command, CallTool):
                        self.calls.append(command)
                    elif isinstance(command, SetTimer):
                        self.timers.append(command)

    def happens_after_the_end(self, found: OutcomeFound) -> "World":
        """Let a person find out about a run that has ended."""
        self.found.add(found.path)
        decision = decide_run(self.plan, self.run, found, self.kept.__getitem__)
        self.run.apply(decision.changes)
        self.kept.update((one.key, one.value) for one in decision.commands if isinstance(one, KeepValue))
        return self

    def resume(self) -> "World":
        """Resume a run that has ended."""
        self.end, self.is_resumed = None, True
        self.open.clear()
        self.happens(Resumed())
        return self

    def ok(self, path: str, value: Any = None) -> "World":
        """Let the open request at a path succeed."""
        command = self.open.pop(path)
        if isinstance(command, SetTimer):
            self.happens(TimerFired(path, command.attempt))
        else:
            assert not isinstance(command, KeepValue | Withdraw | End | EndReasoning)
            self.happens(Succeeded(path, command.attempt, {"of": path} if value is None else value))
        return self

    def fails(self, path: str, kind: str = "not_found") -> "World":
        """Let the open request at a path fail."""
        command = self.open.pop(path)
        assert not isinstance(command, KeepValue | Withdraw | End | EndReasoning | SetTimer)
        self.happens(Failed(path, command.attempt, Failure(kind, f"{path} failed")))
        return self

    def finish(self, choose: Callable[[list[str]], str] = min) -> "World":
        """Let everything succeed, in the order that is chosen."""
        while self.open:
            self.ok(choose(sorted(self.open)))
        return self

    @property
    def status(self) -> str:
        assert self.end is not None, f"open: {sorted(self.open)}"
        return self.end.status

    def statuses(self) -> dict[str, str]:
        return {path: state.status for path, state in sorted(self.run.nodes.items())}


def call(tool: str = "look", *after: str, **fields: Any) -> dict[str, Any]:
    """Return a call node."""
    return {"call": tool, "depends_on": list(after), **fields}


def a_world(graph: dict[str, Any], /, **others: Any) -> World:
    return World(a_plan(graph, **others))


def arguments(world: World, path: str) -> dict[str, Any]:
    return dict(next(one for one in world.calls if one.path == path).arguments)
