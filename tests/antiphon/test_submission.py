"""A caller's input becomes an event, or an error that names the field."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.submissions import read_submission
from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    CancellationRequested,
    QuerySubmitted,
    decode,
    encode,
)

from antiphon.errors import InvalidQuery
from antiphon.submission import signal, submission
from tests.grants import a_grant
from tests.rows import each_row

ID = UUID("01890a5d-ac96-774b-bcce-b302099a8057")
NOW = datetime(2026, 11, 1, tzinfo=UTC)
BYTES_MAX = 4_000_000


def a_submission(query: Any = "why?", **given: Any) -> AnyEvent:
    session_id, traceparent = given.pop("session_id", None), given.pop("traceparent", None)
    grant = given.pop("grant", "")
    return submission(
        query,
        given,  # type: ignore[arg-type]  # bad input is the point
        session_id,
        traceparent=traceparent,
        event_id=ID,
        now=NOW,
        bytes_max=BYTES_MAX,
        grant=grant,
    )


@each_row(
    ("given", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": " \n\t"}, "query"),
        ({"query": None}, "query"),
        ({"query": b"bytes"}, "query"),
        ({"query": "x" * 100_001}, "query"),
        ({"query": "a lone \ud800 surrogate"}, "query"),
        ({"session_id": ""}, "session_id"),
        ({"session_id": "spaces are not allowed"}, "session_id"),
        ({"session_id": "{0}"}, "session_id"),
        ({"session_id": f"s1~{16 * '0'}"}, "session_id"),
        ({"session_id": "x" * 129}, "session_id"),
        ({"session_id": "line\n"}, "session_id"),
        ({"session_id": 7}, "session_id"),
        ({"traceparent": "00-abc"}, "traceparent"),
        ({"traceparent": 1}, "traceparent"),
        ({"grant": "nonsense"}, "grant"),
        ({"grant": 7}, "grant"),
        ({"grant": None}, "grant"),
        ({"grant": b"a.b.c"}, "grant"),
        ({"grant": "x" * 8_193}, "grant"),
        ({"grant": a_grant(["read"]) + "\n"}, "grant"),
        ({"grant": a_grant("read")}, "grant"),
        ({"grant": a_grant(["read"], session="other")}, "grant"),
        ({"grant": a_grant(["read"], session="other"), "session_id": "mine"}, "grant"),
        ({"scopes": ["write"]}, "scopes"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"max_rounds": 101}, "max_rounds"),
        ({"max_rounds": "3"}, "max_rounds"),
        ({"max_rounds": 2.5}, "max_rounds"),
        ({"max_rounds": True}, "max_rounds"),
        ({"max_tool_calls": -1}, "max_tool_calls"),
        ({"max_tokens": 1}, "max_tokens"),
        ({"deadline_s": 0}, "deadline_s"),
        ({"deadline_s": float("nan")}, "deadline_s"),
        ({"deadline_s": float("inf")}, "deadline_s"),
        ({"deadline_s": object()}, "options"),
        ({"tools": "search"}, "tools"),
        ({"tools": [1]}, "tools"),
        ({"model": "m" * 201}, "model"),
        ({"conversation_id": "no spaces"}, "conversation_id"),
        ({"max_round": 3}, "max_round"),
    ],
)
def test_invalid_input_is_refused_with_the_wrong_field(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidQuery, match=rf"^{field}[.0-9]*: ") as refused:
        a_submission(**given)
    assert len(str(refused.value)) < 500


def test_a_query_that_fits_by_its_characters_may_still_be_too_large_by_its_bytes() -> None:
    with pytest.raises(InvalidQuery, match="query: larger than 10000 bytes"):
        submission("\u20ac" * 5_000, {}, None, ID, NOW, 10_000)


def test_the_pipeline_reads_a_submission_as_it_was_sent() -> None:
    grant = a_grant(["read"], session="mine")
    event = a_submission("why NaN?", session_id="mine", max_rounds=2, tools=["a", "b"], grant=grant)
    entry = Entry("antiphon:queries", "1795244309110-0", {b"event": encode(event)})
    read = read_submission(entry, "antiphon:queries", BYTES_MAX, NOW)
    assert read.subject == "mine"
    assert isinstance(read.data, QuerySubmitted)
    assert read.data.query == "why NaN?"
    assert (read.data.options.max_rounds, read.data.options.tools) == (2, ("a", "b"))
    assert read.data.grant == grant


def test_a_session_is_named_by_its_event_unless_the_caller_names_it() -> None:
    assert a_submission().subject == str(ID)


def test_a_cancellation_belongs_to_the_query_it_ends() -> None:
    opening = a_submission(session_id="mine")
    event = signal(CancellationRequested, {"reason": "enough"}, "mine", opening, UUID(int=1), NOW)
    assert (event.subject, event.correlationid) == ("mine", opening.id)


def test_a_decision_belongs_to_the_query_it_is_about() -> None:
    opening = a_submission(session_id="mine")
    fields = {"round": 2, "is_approved": True, "calls": ("c1",), "by": "Ann", "reason": ""}
    event = signal(ApprovalDecided, fields, "mine", opening, UUID(int=1), NOW)
    assert (event.subject, event.correlationid) == ("mine", opening.id)
    assert decode(encode(event)) == event


def test_a_reason_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidQuery, match=r"^reason: "):
        signal(CancellationRequested, {"reason": "x" * 1001}, "mine", a_submission(), UUID(int=1), NOW)
