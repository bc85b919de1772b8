"""Outcomes as one JSON document, for programs. Pure."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from antiphon.replay.report import by_component, by_text
from antiphon.replay.reports.outcome import Outcome, Tally


def document(outcomes: Sequence[Outcome]) -> str:
    """Return the `result` of all, `counts`, steps checked and unchecked, and `recordings` one by one in order."""
    tally = Tally.of(outcomes)
    return json_text(
        {
            "result": tally.result,
            "counts": {"same": 0, "unchecked": 0, "diverged": 0, "unreadable": 0} | tally.results,
            "events": tally.events,
            "steps": tally.steps,
            "checked_steps": tally.checked,
            "unchecked_steps": by_component(tally.unchecked),
            "unchecked": by_text(tally.unchecked),
            "allowed_unchecked": tally.allowed or None,
            "recordings": [_recording(outcome) for outcome in outcomes],
        }
    )


def json_text(value: object) -> str:
    """Return JSON in ASCII: recordings hold values that other encoders refuse, such as integers of any length."""
    return json.dumps(value, default=str)


def _recording(outcome: Outcome) -> dict[str, Any]:
    document: dict[str, Any] = {"path": outcome.path, "result": outcome.result}
    if outcome.report is None:
        return document | {"error": outcome.error}
    report = outcome.report
    return document | {
        "session_id": report.session_id,
        "events": report.events,
        "steps": dict(report.steps),
        "unchecked_steps": report.unchecked_steps,
        "answer": report.answer,
        "unchecked": by_text(report.unchecked),
        "not_run": by_text(report.not_run),
        "divergences_in_all": report.divergences_in_all,
        "divergences": [asdict(divergence) for divergence in report.divergences],
        "goes_on": None if outcome.goes_on is None else outcome.goes_on.model_dump(),
    }
