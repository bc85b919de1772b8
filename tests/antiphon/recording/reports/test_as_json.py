"""One JSON document."""

import json

from antiphon.recording.reports.as_json import document
from tests.antiphon.recording.reports.outcomes import DIVERGED, SAME, UNREADABLE, diverged


def test_the_document_tells_all_recordings_and_the_worst_result() -> None:
    told = json.loads(document([SAME, DIVERGED, UNREADABLE]))
    assert told["result"] == "unreadable"
    assert told["counts"] == {"same": 1, "diverged": 1, "unreadable": 1}
    assert told["unchecked"] == {"briefing: no check": 3}
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
    }
    assert unreadable == {"path": "c.jsonl", "result": "unreadable", "error": "line 3: not JSON."}


def test_what_other_encoders_refuse_is_told_too() -> None:
    told = json.loads(document([diverged(2**80, "\ud800")]))
    assert told["recordings"][0]["divergences"][0]["expected"] == 2**80
