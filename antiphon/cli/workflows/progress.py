"""A run's events as lines for a waiting person: node by node, the items of a foreach counted."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from antiphon_shared.events import (
    AnyEvent,
    ApprovalRequested,
    InputRequested,
    NodeSettled,
    NodesSettled,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.tools.calls import ToolResult

from antiphon.cli import event_lines
from antiphon.cli.live import show_stream
from antiphon.cli.output import counted
from antiphon.cli.printer import one_line
from antiphon.cli.workflows.asking import how_to_answer, request_lines
from antiphon.cli.workflows.dialogue import RunDialogue
from antiphon.client import TextDelta

_FAILURES_MAX = 3
"""The number of failed items of a foreach that are named, each with its reason."""
_MESSAGE_LENGTH = 300


@dataclass
class Progress:
    """The state of the display of a run."""

    command: str = "antiphon"
    """The command by which another terminal reaches the run; empty if none can."""
    _paths: dict[int, str] = field(default_factory=dict)
    """The node of each request."""
    _items: dict[str, dict[str, str]] = field(default_factory=dict)
    """The items of each foreach, and their status."""

    def lines(self, event: AnyEvent) -> list[str]:
        """Return the lines about an event; often none."""
        match event.data:
            case ToolsRequested(round=number, node=path, calls=(call, *_)) if path:
                self._paths[number] = path
                if _foreach_of(path):
                    self._note(path, "running")
                    return []
                return [f"  {one_line(path)}: calls {event_lines.call_text(call)}"]
            case ToolsCompleted(round=number, results=(result, *_)) if number in self._paths:
                return self._completed(self._paths.pop(number), result)
            case NodesSettled(nodes=nodes, more=more):
                lines = [line for node in nodes for line in self._settled(node)]
                return [*lines, f"  ... and {counted(more, 'node')} more"] if more else lines
            case InputRequested() as request:
                return [*request_lines(request), *how_to_answer(event.subject, request, self.command)]
            case ApprovalRequested():
                how = event_lines.how_to_decide(event.subject, self.command)
                return [*event_lines.progress(event.data), *how]
            case _:
                return event_lines.progress(event.data)

    def under_way(self) -> str:
        """Return the nodes that run now, on one line; empty if none does."""
        paths = [path for path in self._paths.values() if not _foreach_of(path)]
        return one_line(", ".join([*paths, *(self._count(path) for path in self._items)]), 200)

    def _completed(self, path: str, result: ToolResult) -> list[str]:
        is_error = result.status == "error"
        foreach = _foreach_of(path)
        if not foreach:
            return [f"  {one_line(path)}: {event_lines.result_text(result)}"]
        if path != _item_of(path, foreach):
            return []  # a node inside an item
        self._note(path, "failed" if is_error else "done")
        return self._failed_item(path, foreach, event_lines.result_text(result)) if is_error else []

    def _settled(self, node: NodeSettled) -> list[str]:
        path, foreach = node.path, _foreach_of(node.path)
        message = f": {one_line(node.message, _MESSAGE_LENGTH)}" if node.message else ""
        if foreach:
            if path != _item_of(path, foreach):
                return []
            self._note(path, node.status)
            return self._failed_item(path, foreach, node.message) if node.status == "failed" else []
        if path in self._items:
            count = self._count(path)
            del self._items[path]
            return [f"  {count}, {node.status}{message}"]
        return [f"  {one_line(path)}: {node.status}{message}"]

    def _note(self, path: str, status: str) -> None:
        foreach = _foreach_of(path)
        item = _item_of(path, foreach)
        if item == path or status == "running":
            self._items.setdefault(foreach, {})[item] = status

    def _failed_item(self, path: str, foreach: str, message: str) -> list[str]:
        failed = sum(status == "failed" for status in self._items.get(foreach, {}).values())
        if failed > _FAILURES_MAX:
            return []
        return [f"  {one_line(path)}: failed: {one_line(message, _MESSAGE_LENGTH)}"]

    def _count(self, foreach: str) -> str:
        """Return the counts of a foreach: `weather: 40 items, 38 done, 2 failed`."""
        statuses = Counter(self._items[foreach].values())
        parts = [f"{count} {status}" for status, count in sorted(statuses.items())]
        return f"{one_line(foreach)}: {counted(statuses.total(), 'item')}, {', '.join(parts)}"


def _foreach_of(path: str) -> str:
    """Return the outermost foreach around a path, or an empty text."""
    parts = path.split("/")
    return next(("/".join(parts[:n]) for n, part in enumerate(parts) if part.isdigit()), "")


def _item_of(path: str, foreach: str) -> str:
    """Return the item of a foreach that a path names or is inside of."""
    return "/".join(path.split("/")[: foreach.count("/") + 2])


async def show_run(
    stream: AsyncIterator[AnyEvent | TextDelta], command: str, dialogue: RunDialogue | None
) -> None:
    """Print a run's events to stderr as they happen; on a terminal also the nodes that run now.

    With a `dialogue` the person at this terminal is asked for the values.
    """
    progress = Progress(command)

    def lines(event: AnyEvent) -> list[str]:
        printed = progress.lines(event)
        if dialogue is None:
            return printed
        dialogue.hear(event)
        return [] if isinstance(event.data, InputRequested | ApprovalRequested) else printed

    await show_stream(stream, lines, lambda _: progress.under_way() or "waiting", dialogue)
