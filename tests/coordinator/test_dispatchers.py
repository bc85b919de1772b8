"""The lack of a tool dispatcher at the deadline, which the answer names; tests/flows/test_catalogues.py replays it."""

from antiphon_shared.events import DeadlineReached

from coordinator.decide import decide
from coordinator.decision import Decision, Inputs
from coordinator.session import Session
from tests.coordinator.builders import (
    ENTRY,
    a_catalogue,
    an_opened_session,
    ending,
)
from tests.coordinator.test_decide import a_session_reasoning, a_session_running_tools
from tests.envelopes import an_event


def at_the_deadline(session: Session, is_served: bool) -> Decision:
    return decide(
        session, an_event(DeadlineReached()), ENTRY, Inputs(a_catalogue("search"), is_served=is_served)
    )


def messages(decision: Decision) -> list[tuple[str, str]]:
    return [(one.kind, one.message) for one in ending(decision).uncertainty]


def test_unfinished_calls_without_a_dispatcher_are_reported_as_such() -> None:
    message = "No tool dispatcher was running when the time ran out, so calls of round 1 were not finished."
    assert messages(at_the_deadline(a_session_running_tools(), is_served=False)) == [
        ("tools_unavailable", message)
    ]
    assert messages(at_the_deadline(a_session_running_tools(), is_served=True)) == []


def test_a_session_without_calls_at_its_deadline_mentions_no_dispatcher() -> None:
    for session in (an_opened_session().session, a_session_reasoning()):
        assert messages(at_the_deadline(session, is_served=False)) == []
