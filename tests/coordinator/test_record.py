"""What a decision leaves for a replay."""

from datetime import timedelta

from antiphon_shared.bus.handling import CancelTimer, SetTimer
from antiphon_shared.events import AssemblyOverdue, DeadlineReached
from antiphon_shared.values import Usage

from coordinator.decision import Decision
from coordinator.document import changes
from coordinator.record import record_of
from coordinator.session import Session
from tests.coordinator.builders import a_response, an_opened_session
from tests.envelopes import START, an_event


def test_the_changes_of_a_document_give_it_back() -> None:
    before = an_opened_session().session
    after = before.model_copy(
        update={"round": 2, "usage": Usage(input_tokens=3, cost_usd=None), "reasoning": "5-0"}
    )
    told = changes(before, after)
    assert set(told) == {"round", "usage", "reasoning"}
    assert Session.model_validate({**before.model_dump(mode="json"), **told}) == after


def test_a_field_that_is_back_at_its_default_is_a_change() -> None:
    before = an_opened_session().session.model_copy(update={"reasoning": "5-0"})
    assert changes(before, before.model_copy(update={"reasoning": None})) == {"reasoning": None}


def test_a_field_that_was_written_again_as_it_was_is_none() -> None:
    before = an_opened_session().session
    assert changes(before, before.model_copy(update={"tools": tuple(before.tools)})) == {}


def test_of_a_session_that_is_opened_all_is_told_that_says_something() -> None:
    session = an_opened_session().session
    assert Session.model_validate(changes(None, session)) == session


def test_timers_are_told_by_moment_or_by_delay() -> None:
    event, session = an_event(a_response()), an_opened_session().session
    timers = (
        SetTimer("deadline", START, DeadlineReached()),
        SetTimer("assembly", timedelta(seconds=2), AssemblyOverdue()),
        CancelTimer("model"),
    )
    record = record_of(event, session, Decision(session, timers=timers, closes=True))
    assert [(one.name, one.due, one.after_s) for one in record.timers] == [
        ("deadline", START, None),
        ("assembly", None, 2.0),
        ("model", None, None),
    ]
    assert [one.type for one in record.timers] == [DeadlineReached.type, AssemblyOverdue.type, ""]
    assert (record.of, record.closes, record.stops_work) == (event.id, True, False)
