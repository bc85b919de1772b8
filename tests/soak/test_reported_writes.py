"""The faults that a soak reports."""

from typing import Any

import pytest
from antiphon_shared.events.session import Response
from antiphon_shared.tools.calls import ToolError, ToolResult

from tests.chaos.write_effects import Effect
from tests.flows.processes import Log
from tests.soak.reported_writes import ReportedWrite, disagreements, read_log

DONE = ToolResult(index=0, call_id="c1", tool="plain", status="ok", data={"receipt": 1})
ONE = (Effect(1, "height"),)


def failed(kind: Any) -> ToolResult:
    error = ToolError(error_type=kind, message="No.", suggested_action="Stop.")
    return ToolResult(index=0, call_id="c1", tool="plain", status="error", error=error)


def a_write(result: ToolResult | None, is_reported: bool = True) -> ReportedWrite:
    return ReportedWrite("s1", "k1", "plain", result, is_reported)


@pytest.mark.parametrize(
    ("result", "effects"),
    [
        (DONE, ONE),
        (failed("outcome_unknown"), ONE),
        (failed("outcome_unknown"), ()),
        (failed("circuit_open"), ()),
        (None, ONE),
    ],
)
def test_a_truly_reported_write_agrees_with_the_records_of_the_service(
    result: ToolResult | None, effects: tuple[Effect, ...]
) -> None:
    assert not list(disagreements([a_write(result)], {"k1": effects} if effects else {}))


@pytest.mark.parametrize(
    ("write", "effects"),
    [
        (a_write(DONE), (*ONE, Effect(2, "height"))),
        (a_write(DONE), ()),
        (a_write(DONE), (Effect(2, "height"),)),
        (a_write(failed("circuit_open")), ONE),
        (a_write(None, is_reported=False), ONE),
    ],
)
def test_a_falsely_reported_write_is_found(write: ReportedWrite, effects: tuple[Effect, ...]) -> None:
    assert list(disagreements([write], {"k1": effects} if effects else {}))


def test_an_effect_belongs_to_the_call_that_ran_again_under_the_same_key() -> None:
    cancelled = a_write(failed("cancelled"))
    assert not list(disagreements([cancelled, a_write(DONE)], {"k1": ONE}))
    assert not list(disagreements([cancelled, a_write(failed("outcome_unknown"))], {"k1": ONE}))
    assert list(disagreements([cancelled, cancelled], {"k1": ONE}))


def test_an_unrequested_effect_is_found() -> None:
    assert list(disagreements([], {"k1": ONE})) == ["k1 took effect, and no session asked for it"]


def a_log(*results: ToolResult) -> Log:
    """Return the log of a session with one write, with these results."""
    call = {"id": "c1", "name": "plain", "idempotency_key": "k1"}
    data: list[tuple[str, dict[str, Any]]] = [
        ("query.submitted", {}),
        ("session.opened", {}),
        ("tools.requested", {"round": 1, "calls": [call]}),
        *[("tools.completed", {"results": [one.model_dump(mode="json")]}) for one in results],
        ("assembly.requested", {}),
        ("response.ready", {"answer": "So it is."}),
    ]
    return [
        {"id": n, "type": f"antiphon.{kind}.v1", "data": fields, "causationid": n - 1 if n else None}
        for n, (kind, fields) in enumerate(data)
    ]


def a_response() -> Response:
    return Response(
        session_id="s1",
        status="complete",
        answer="So it is.",
        termination_reason="natural_completion",
        rounds_used=1,
        tool_calls_used=1,
        duration_ms=1,
    )


def test_the_log_of_a_session_that_went_well_is_in_order() -> None:
    account = read_log("s1", a_log(DONE), {1: [DONE]}, a_response())
    assert account.problems == []
    assert account.writes == [a_write(DONE)]


def test_an_unmentioned_write_still_in_flight_at_the_end_is_noted() -> None:
    assert read_log("s1", a_log(), {}, a_response()).writes == [a_write(None, is_reported=False)]


@pytest.mark.parametrize(
    ("log", "journal"),
    [
        (a_log(DONE)[:-1], DONE),
        ([*a_log(DONE), a_log(DONE)[-1]], DONE),
        ([one for one in a_log(DONE) if one["type"] != "antiphon.session.opened.v1"], DONE),
        (a_log(DONE), failed("timeout")),
        (a_log(failed("outcome_unknown")), failed("outcome_unknown")),
    ],
    ids=["no answer", "two answers", "a gap", "another journal", "an unknown outcome that is not told"],
)
def test_every_problem_of_a_log_is_found(log: Log, journal: ToolResult) -> None:
    assert read_log("s1", log, {1: [journal]}, a_response()).problems
