"""One JSON document."""

import json
from dataclasses import replace

from antiphon.replay.reports.as_json import document
from tests.antiphon.replay.reports.outcomes import DIVERGED, SAME, UNCHECKED, UNREADABLE, diverged


def test_the_document_tells_all_recordings_and_the_worst_result() -> None:
    told = json.loads(document([SAME, DIVERGED, UNREADABLE]))
    assert told["result"] == "unreadable"
    assert told["counts"] == {"same": 1, "unchecked": 0, "diverged": 1, "unreadable": 1}
    assert told["checked_steps"] == {"coordinator": 14}
    assert told["unchecked_steps"] == {"context_synthesizer": 3}
    assert told["unchecked"] == {"context_synthesizer: no check": 3}
    assert told["allowed_unchecked"] is None
    same, other, unreadable = told["recordings"]
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


def test_what_other_encoders_refuse_is_told_too() -> None:
    told = json.loads(document([diverged(2**80, "\ud800")]))
    assert told["recordings"][0]["divergences"][0]["expected"] == 2**80


def test_steps_that_were_not_checked_are_counted_by_component_with_what_allows_them() -> None:
    told = json.loads(document([replace(UNCHECKED, allowed="as agreed")]))
    assert (told["result"], told["allowed_unchecked"]) == ("unchecked", "as agreed")
    (one,) = told["recordings"]
    assert (one["result"], one["steps"]) == ("unchecked", {"tool_dispatcher": 2})
    assert one["unchecked_steps"] == {"coordinator": 5}
