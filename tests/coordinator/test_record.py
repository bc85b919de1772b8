"""The record of a decision for a replay."""

from datetime import timedelta

import pytest
from antiphon_shared.bus.handling import CancelTimer, SetTimer
from antiphon_shared.events import AssemblyOverdue, DeadlineReached
from antiphon_shared.formats import Fields
from antiphon_shared.values import Usage

from coordinator.decision import Decision
from coordinator.document import SESSION, changes, document_version, merged
from coordinator.record import record_of
from coordinator.session import Session
from coordinator.session_parts import Material, replace
from tests.coordinator.builders import a_response, an_opened_session
from tests.envelopes import START, an_event

FORMATS = pytest.mark.parametrize("format", [2, 3])
"""The forms of a document: flat, and with parts."""


def opened(format: int) -> Session:
    return replace(an_opened_session().session, format=format)


def document_of(*changed: Fields, format: int) -> Session:
    """Return the document that a replay puts together."""
    fields: Fields = {}
    for one in changed:
        fields = merged(fields, one, document_version(format))
    return SESSION.read_fields(fields, document_version(format))


@FORMATS
def test_the_changes_of_a_document_give_it_back(format: int) -> None:
    before = opened(format)
    after = replace(
        before,
        round=2,
        spent=replace(before.spent, usage=Usage(input_tokens=3, cost_usd=None)),
        material=Material(reasoning="5-0"),
    )
    assert document_of(changes(None, before), changes(before, after), format=format) == after


def test_a_change_lists_only_the_changed_fields_of_a_part() -> None:
    before = opened(3)
    after = replace(before, round=2, material=replace(before.material, reasoning="5-0"))
    assert changes(before, after) == {"round": 2, "material": {"reasoning": "5-0"}}
    flat = changes(replace(before, format=2), replace(after, format=2))
    assert flat == {"round": 2, "reasoning": "5-0"}


@FORMATS
def test_a_field_that_is_back_at_its_default_is_a_change(format: int) -> None:
    before = opened(format)
    filled = replace(before, material=Material(reasoning="5-0"))
    assert document_of(changes(None, filled), changes(filled, before), format=format) == before


@FORMATS
def test_a_field_rewritten_with_the_same_value_is_not_a_change(format: int) -> None:
    before = opened(format)
    again = replace(before.tools, usable=(*before.tools.usable,))
    assert changes(before, replace(before, tools=again)) == {}


@FORMATS
def test_the_changes_from_nothing_restore_an_opened_session(format: int) -> None:
    session = opened(format)
    assert document_of(changes(None, session), format=format) == session


def test_timers_are_recorded_by_moment_or_by_delay() -> None:
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
