"""Changes of many sessions, summed up by decision."""

from typing import Any

import pytest

from antiphon.replay.against.changes import Change, Compared, StepChange
from antiphon.replay.against.decisions import count_decisions
from antiphon.replay.against.next_steps import path_difference
from antiphon.replay.differences import ABSENT
from antiphon.replay.next_step import Next
from tests.rows import each_row

BRIEFING, ASSEMBLY = "antiphon.briefing.requested.v1", "antiphon.assembly.requested.v1"
IN_3 = Next(kind="answered", event=20, round=3, status="complete", reason="natural_completion")
IN_2 = Next(kind="answered", event=14, round=2, status="partial", reason="max_rounds_reached")


def a_step(component: str, output: str, path: str, before: Any, now: Any, event: int = 14) -> StepChange:
    type = "antiphon.tools.completed.v1"
    return StepChange(
        event, type, component, (Change(event, type, component, output, path, before, before, now),)
    )


def ends(event: int = 14) -> StepChange:
    return a_step("coordinator", BRIEFING, "", BRIEFING, ASSEMBLY, event)


def one(*steps: StepChange, path: str = "a.jsonl") -> Compared:
    return Compared(path, path, steps)


def test_sessions_with_the_same_change_of_path_are_one_decision() -> None:
    found = [(one(ends(), path=f"{n}.jsonl"), path_difference(IN_3, IN_2)) for n in range(12)]
    (decision,) = count_decisions(found)
    assert decision.words == (
        "12 sessions now end in round 2 instead of 3, with max_rounds_reached instead of natural_completion"
    )
    assert (decision.cases[0].path, decision.cases[0].step.event) == ("0.jsonl", 14)


def test_a_request_after_a_changed_path_is_not_counted_again() -> None:
    assert len(count_decisions([(one(ends(14), ends(20)), path_difference(IN_3, IN_2))])) == 1


def test_a_decision_without_a_comparable_path_is_described_by_its_step() -> None:
    (decision,) = count_decisions([(one(ends()), None)])
    assert decision.words == "1 session now sends assembly.requested instead of briefing.requested"


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (
            IN_3,
            Next(kind="asks_model", event=1, round=4),
            "asks the model in round 4 instead of ending in round 3",
        ),
        (
            Next(kind="calls_tools", event=1, round=2, tools=("a", "b")),
            Next(kind="calls_tools", event=1, round=2, tools=("a", "a")),
            "calls a ×2 instead of a, b in round 2",
        ),
        (
            Next(kind="asks_model", event=1, round=2),
            IN_2,
            "ends in round 2 (max_rounds_reached) instead of asking",
        ),
        (IN_3, IN_3.model_copy(update={"status": "partial"}), "ends as partial instead of complete"),
    ],
)
def test_a_changed_decision_is_described_in_words(before: Next, now: Next, words: str) -> None:
    (decision,) = count_decisions([(one(ends()), path_difference(before, now))])
    assert f"1 session now {words}" in decision.words


@each_row(
    ("step", "words"),
    [
        (a_step("context_synthesizer", "x", "briefing.tokens", 900, 800), "gets shorter briefings"),
        (
            a_step("context_synthesizer", "x", "briefing.text", "a", "b"),
            "gets other briefings of the same length",
        ),
        (
            a_step("reasoning_engine", "request", "calls[0].system[0].text", "a", "b"),
            "sends the model another system prompt",
        ),
        (
            a_step("reasoning_engine", "antiphon.reasoning.completed.v1", "text", "a", "b"),
            "reads the model's reply differently: text",
        ),
        (
            a_step("response_assembler", "antiphon.response.ready.v1", "answer", "a", "b"),
            "gets another answer: answer",
        ),
        (a_step("tool_dispatcher", "units", "[0]", 1, 2), "runs a batch differently: units"),
        (
            a_step("coordinator", "state", "phase", "a", "b"),
            "holds another state in the coordinator: state phase",
        ),
        (a_step("coordinator", ASSEMBLY, "termination_reason", "a", "b"), "ends with b instead of a"),
        (
            a_step("coordinator", "outputs", "", [], "the code raises KeyError: 'x' (coordinator.decide)"),
            "fails in coordinator: the code raises KeyError: 'x' (coordinator.decide)",
        ),
        (
            a_step("coordinator", BRIEFING, "", BRIEFING, ABSENT),
            "sends nothing instead of briefing.requested",
        ),
    ],
)
def test_a_step_is_described_in_words(step: StepChange, words: str) -> None:
    (decision,) = count_decisions([(one(step), None)])
    assert decision.words == f"1 session now {words}"


def test_changed_endings_are_listed_before_changed_briefings() -> None:
    briefed = a_step("context_synthesizer", "x", "briefing.tokens", 900, 950, event=9)
    found = count_decisions(
        [(one(briefed, path=f"{n}.jsonl"), None) for n in range(5)]
        + [(one(ends()), path_difference(IN_3, IN_2))]
    )
    assert [decision.sentence.split()[0] for decision in found] == ["end", "get"]
