"""One JSON document."""

import json
from dataclasses import replace

from antiphon.replay.reports.as_json import document
from tests.antiphon.replay.reports.outcomes import DIVERGED, SAME, UNCHECKED, UNREADABLE, diverged


def test_the_document_lists_all_recordings_and_the_worst_result() -> None:
    report = json.loads(document([SAME, DIVERGED, UNREADABLE]))
    assert report["result"] == "unreadable"
    assert report["counts"] == {"same": 1, "unchecked": 0, "diverged": 1, "unreadable": 1}
    assert report["checked_steps"] == {"coordinator": 14}
    assert report["unchecked_steps"] == {"context_synthesizer": 3}
    assert report["unchecked"] == {"context_synthesizer: no check": 3}
    assert report["allowed_unchecked"] is None
    same, other, unreadable = report["recordings"]
    assert same["steps"] == {"coordinator": 10}
    assert other["divergences_in_all"] == 5
    assert other["divergences"][0] == {
        "event": 4,
        "type": "antiphon.briefing.ready.v1",
        "component": "coordinator",
        "output": "antiphon.reasoning.requested.v1",
        "path": "notice",
        "expected": "Hurry.",
        "got": "",
        "node": "",
    }
    assert unreadable == {"path": "c.jsonl", "result": "unreadable", "error": "line 3: not JSON."}


def test_values_that_other_encoders_refuse_are_reported() -> None:
    report = json.loads(document([diverged(2**80, "\ud800")]))
    assert report["recordings"][0]["divergences"][0]["expected"] == 2**80


def test_unchecked_steps_are_counted_by_component_with_the_reason_that_allows_them() -> None:
    report = json.loads(document([replace(UNCHECKED, allowed="as agreed")]))
    assert (report["result"], report["allowed_unchecked"]) == ("unchecked", "as agreed")
    (one,) = report["recordings"]
    assert (one["result"], one["steps"]) == ("unchecked", {"tool_dispatcher": 2})
    assert one["unchecked_steps"] == {"coordinator": 5}
