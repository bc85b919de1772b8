"""Outcomes for tests of their renderings."""

from dataclasses import replace

from antiphon.replay.report import Divergence, Reason, Report
from antiphon.replay.reports.outcome import Outcome

DIVERGENCE = Divergence(
    event=4,
    type="antiphon.briefing.ready.v1",
    component="coordinator",
    output="antiphon.reasoning.requested.v1",
    path="notice",
    expected="Hurry.",
    got="",
)
SAME = Outcome("a.jsonl", Report(session_id="s1", events=20, steps={"coordinator": 10}, answer="same"))
DIVERGED = Outcome(
    "b,1:2.jsonl",
    Report(
        session_id="s2",
        events=8,
        steps={"coordinator": 4},
        divergences=(
            DIVERGENCE,
            replace(DIVERGENCE, event=6),
            replace(DIVERGENCE, component="tool_dispatcher"),
        ),
        divergences_in_all=5,
        answer="unknown",
        unchecked={Reason("context_synthesizer", "no check"): 3},
    ),
)
UNCHECKED = Outcome(
    "e.jsonl",
    Report(
        session_id="s3",
        events=9,
        steps={"tool_dispatcher": 2},
        answer="same",
        unchecked={
            Reason("coordinator", "no record was made of it"): 4,
            Reason("coordinator", "the document cannot be read"): 1,
        },
    ),
)
UNREADABLE = Outcome("c.jsonl", error="line 3: not JSON.")


def diverged(expected: object, got: object) -> Outcome:
    """Return a recording with one divergence."""
    divergence = replace(DIVERGENCE, expected=expected, got=got)
    report = Report(session_id="s", events=8, steps={}, divergences=(divergence,), divergences_in_all=1)
    return Outcome("d.jsonl", report)
