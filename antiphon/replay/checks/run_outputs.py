"""The differences, by node, in the events that a decision emits, and sends to other sessions. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from antiphon_shared.events import ApprovalRequested, ChildBegun, EventData, NodesSettled
from antiphon_shared.events.step_records import SendRecord

from antiphon.replay.differences import ABSENT, Difference, NodeValueDifference, differences


def run_differences(
    recorded: Sequence[EventData], today: Sequence[EventData]
) -> Iterator[NodeValueDifference]:
    """Yield the differences; each event is compared with the event of the same node and type."""
    then, now = dict(_by_node(recorded)), dict(_by_node(today))
    for key in dict.fromkeys((*then, *now)):
        node, output, _ = key
        left, right = then.get(key), now.get(key)
        if left is None or right is None:
            pair = (ABSENT, output) if left is None else (output, ABSENT)
            yield NodeValueDifference(node, output, Difference("", *pair))
        elif left != right:
            for value_difference in differences(left, right):
                yield NodeValueDifference(node, output, value_difference)
    order_then, order_now = list(then), list(now)
    if then == now and order_then != order_now:
        yield NodeValueDifference(
            "", "outputs", Difference("", _order_lines(order_then), _order_lines(order_now))
        )


def _by_node(events: Sequence[EventData]) -> Iterator[tuple[tuple[str, str, int], Any]]:
    """Yield each event's content under its node, its type, and a number for repeated ones."""
    seen: dict[tuple[str, str], int] = {}

    def key(node: str, type: str) -> tuple[str, str, int]:
        seen[node, type] = seen.get((node, type), 0) + 1
        return node, type, seen[node, type]

    for one in events:
        fields = one.model_dump(mode="json")
        if isinstance(one, NodesSettled):
            for node in fields["nodes"]:
                yield key(node["path"], one.type), {"status": node["status"], "message": node["message"]}
            if one.more:
                yield key("", one.type), {"more": one.more}
        else:
            yield key(node_of(one), one.type), fields


def node_of(data: EventData) -> str:
    """Return the path of the node of an event, or an empty text."""
    if isinstance(data, ApprovalRequested) and data.calls:
        return data.calls[0].id.rpartition("#")[0]
    node = getattr(data, "node", "")
    return node if isinstance(node, str) else ""


def _order_lines(keys: Sequence[tuple[str, str, int]]) -> list[str]:
    return [f"{output} {node}".strip() for node, output, _ in keys]


def send_differences(
    then: Sequence[SendRecord], now: Sequence[SendRecord], outputs: Iterable[EventData]
) -> tuple[NodeValueDifference, ...]:
    """Return the differences, by the node that began the session, where `outputs` name it."""
    if tuple(then) == tuple(now):
        return ()
    nodes = {one.child: one.node for one in outputs if isinstance(one, ChildBegun)}
    recorded, today = dict(_by_session(then)), dict(_by_session(now))
    by_session = [
        NodeValueDifference(nodes.get(session, ""), "sends", one)
        for session in dict.fromkeys((*recorded, *today))
        for one in differences({session: recorded.get(session, [])}, {session: today.get(session, [])})
    ]
    order_then, order_now = ([one.session for one in some] for some in (then, now))
    return tuple(by_session) or (NodeValueDifference("", "sends", Difference("", order_then, order_now)),)


def _by_session(sends: Sequence[SendRecord]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the events for each session, in order."""
    for session in dict.fromkeys(one.session for one in sends):
        sent = [one for one in sends if one.session == session]
        yield (
            session,
            [one.model_dump(mode="json", exclude={"session"}, exclude_defaults=True) for one in sent],
        )
