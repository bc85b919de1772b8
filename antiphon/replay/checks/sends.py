"""The differences in the events that a decision has sent to other sessions. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from antiphon_shared.events import ChildBegun, EventData
from antiphon_shared.events.step_records import SendRecord

from antiphon.replay.differences import AtNode, Difference, differences

SENDS = "sends"


def send_differences(
    then: Sequence[SendRecord], now: Sequence[SendRecord], outputs: Iterable[EventData]
) -> tuple[AtNode, ...]:
    """Return the differences, by the node that began the session, where `outputs` name it."""
    if tuple(then) == tuple(now):
        return ()
    nodes = {one.child: one.node for one in outputs if isinstance(one, ChildBegun)}
    recorded, today = dict(_by_session(then)), dict(_by_session(now))
    found = [
        AtNode(nodes.get(session, ""), SENDS, one)
        for session in dict.fromkeys((*recorded, *today))
        for one in differences({session: recorded.get(session, [])}, {session: today.get(session, [])})
    ]
    order_then, order_now = ([one.session for one in some] for some in (then, now))
    return tuple(found) or (AtNode("", SENDS, Difference("", order_then, order_now)),)


def _by_session(sends: Sequence[SendRecord]) -> Iterator[tuple[str, list[Any]]]:
    """Yield the events for each session, in order."""
    for session in dict.fromkeys(one.session for one in sends):
        yield (
            session,
            [
                one.model_dump(mode="json", exclude={"session"}, exclude_defaults=True)
                for one in sends
                if one.session == session
            ],
        )
