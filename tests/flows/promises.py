"""The promises about every session, under any kills."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from antiphon_shared.events.session import Response
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.journal import journal_name, outcomes

from tests.flows.pipeline import ANSWERED, Pipeline
from tests.flows.processes import Log, kinds
from tests.write_keys import key_of_call

_ROUND = ("briefing.requested", "briefing.ready", "reasoning.requested", "reasoning.completed")
_TOOL_ROUND = (*_ROUND, "tools.requested", "tools.completed")
_OPENING, _ENDING = ("query.submitted", "session.opened"), ("assembly.requested", "response.ready")
WAY = (*_OPENING, *_TOOL_ROUND, *_TOOL_ROUND, *_ROUND, *_ENDING)
"""The events of an undisturbed session: two rounds with tools, one without."""

OVERDUE = "antiphon.assembly.overdue.v1"
_SENT_BY_TIMERS = (OVERDUE, "antiphon.deadline.reached.v1")
"""Events that arrive while the step that set the timer runs."""


def assert_whole(log: Log) -> None:
    """Check that the log of an ended session has no gap and no repeat: each event follows an earlier one, once."""
    ids = [event["id"] for event in log]
    assert len(set(ids)) == len(ids), "an event was written twice"
    seen: set[str] = set()
    replies: dict[str | None, list[str]] = {}
    for event in log:
        cause = event.get("causationid")
        assert cause is None or cause in seen, f"{event['type']} follows from an event that is not there"
        seen.add(event["id"])
        if event["type"] not in _SENT_BY_TIMERS:
            replies.setdefault(cause, []).append(event["type"])
    assert kinds(log)[0] == "query.submitted"
    assert kinds(log).count("response.ready") == 1
    for cause, types in replies.items():
        is_step = len(types) == 1 or types[0] == "antiphon.session.opened.v1"
        assert cause is None or is_step, f"one event was answered by {types}"


def assert_way(log: Log) -> None:
    """Check that the log is complete, and holds exactly the events of an undisturbed session."""
    assert_whole(log)
    assert tuple(kinds(log)) == WAY


def assert_each_answered_once(responses: Sequence[Response], session_ids: Sequence[str]) -> None:
    assert Counter(response.session_id for response in responses) == Counter(session_ids)


def assert_complete(response: Response) -> None:
    """Check that a session has its whole answer, which says first which writes may have taken effect, if any."""
    assert (response.status, response.termination_reason) == ("complete", "natural_completion"), response
    is_unknown = any(one.kind == "outcome_unknown" for one in response.uncertainty)
    heading = "What may have taken effect" if is_unknown else "Sources"
    assert response.answer.startswith(f"{ANSWERED}\n\n**{heading}**\n\n"), response
    assert "\n\n**Sources**\n\n1. " in response.answer, response


def assert_undisturbed(five: Pipeline, response: Response, may_read_again: bool = False) -> int:
    """Check a whole answer, its events and its calls; return the number of unknown outcomes."""
    log = five.log(response.session_id)
    assert_complete(response)
    assert_way(log)
    return assert_results_are_true(five, response, log, may_read_again)


def is_alone(response: Response) -> bool:
    """Return whether the coordinator gave the answer, in the assembler's place."""
    uncertainties = response.uncertainty
    return any((one.kind, one.about) == ("component_failed", "response_assembler") for one in uncertainties)


def assert_late(response: Response, log: Log) -> None:
    """Check that a late answer still has the reply, and is complete if the assembler gave it."""
    assert_whole(log)
    if is_alone(response):
        assert response.status == "partial", response
        assert response.answer.startswith(ANSWERED), response
    else:
        assert_complete(response)


def assert_results_are_true(
    five: Pipeline, response: Response, log: Log, may_read_again: bool = False
) -> int:
    """Check that each reported outcome is the ledger's. Returns the number of unknown outcomes.

    A journaled outcome is that of the call's last run: it ran no more after it was journaled; a read may have,
    where `may_read_again`. A read that is the only call of its batch is not journaled. A write ran at most once;
    when its run has no outcome, the call and the answer report it as unknown.
    """
    five.ledger.read()
    unknown = 0
    for asked, completed in _batches(log):
        journal = _journal(five, response.session_id, asked["data"]["round"])
        results = {
            result["call_id"]: ToolResult.model_validate(result) for result in completed["data"]["results"]
        }
        assert list(results) == [call["id"] for call in asked["data"]["calls"]]
        noted, from_tools = outcomes(journal), tuple(results.values())
        is_single_read = len(from_tools) == 1 and not journal
        assert noted == from_tools or is_single_read, "the journal says otherwise"
        for call in asked["data"]["calls"]:
            key = key_of_call(asked, call, is_write=call["name"] == "write_down")
            unknown += _assert_result_is_true(
                five.ledger.runs[key], call, results[call["id"]], may_read_again
            )
    is_reported = any(uncertainty.kind == "outcome_unknown" for uncertainty in response.uncertainty)
    assert is_reported == bool(unknown), f"{unknown} outcomes are unknown: {response.uncertainty}"
    return unknown


def _assert_result_is_true(
    runs: list[str], call: dict[str, Any], result: ToolResult, may_read_again: bool
) -> bool:
    if call["name"] == "write_down":
        assert len(runs) <= 1, f"a write ran {len(runs)} times"
        if result.error is not None and result.error.error_type == "repeated_write":
            assert runs, "a write was refused as repeated, and never ran"
            return False
        if result.error is not None:
            assert result.error.error_type == "outcome_unknown", result
            return True
    assert result.status == "ok", result
    reported = runs if may_read_again else runs[-1:]
    assert result.data["run"] in reported, f"of the runs {runs} the last is not the one reported: {result}"
    return False


def _batches(log: Log) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return each batch of a log: its request and its results."""
    completed = {
        event["causationid"]: event for event in log if event["type"] == "antiphon.tools.completed.v1"
    }
    return [
        (event, completed[event["id"]]) for event in log if event["type"] == "antiphon.tools.requested.v1"
    ]


def _journal(five: Pipeline, session_id: str, round: int) -> dict[str, bytes]:
    key = five.keys.of_session(session_id, journal_name(round))
    entries = cast("dict[bytes, bytes]", five.client.hgetall(key))
    return {name.decode(): content for name, content in entries.items()}
