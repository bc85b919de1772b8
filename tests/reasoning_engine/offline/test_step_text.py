"""A step read back from a briefing as the synthesizer writes it."""

from antiphon_shared.events import ReasoningCompleted, StepToBrief
from antiphon_shared.output.steps import Step

from context_synthesizer.session_index import SessionIndex
from context_synthesizer.step import step_text
from reasoning_engine.offline.briefing_text import read_briefing

FIND = Step(name="finding", instructions="Find it.", tools=("find",), output={"type": "object"})
PLAN = Step(name="planning", instructions="Plan it.\n\nThe output of step x:\nnothing", tools=("plan",))


def test_the_instructions_and_the_output_before_are_read_whole() -> None:
    asked = StepToBrief(number=2, attempt=1, begun=3, is_untrusted=True)
    reply = ReasoningCompleted(
        round=2, text='Here: {"a": ["<result>", 1]}', stop_reason="end_turn", model="offline"
    )
    step = step_text(asked, 3, (FIND, PLAN), reply)
    notes = read_briefing(SessionIndex("Which?", 20_000).briefing(3, 9, step=step).text)
    assert notes.question == "Which?"
    assert notes.step is not None
    assert notes.step.instructions == PLAN.instructions
    assert notes.step.input == {"a": ["<result>", 1]}


def test_the_first_step_has_no_input() -> None:
    asked = StepToBrief(number=1, attempt=1, begun=1, is_untrusted=False)
    step = step_text(asked, 1, (FIND, PLAN), None)
    notes = read_briefing(SessionIndex("Which?", 20_000).briefing(1, 9, step=step).text)
    assert notes.step is not None
    assert (notes.step.instructions, notes.step.input) == ("Find it.", None)


def test_an_output_in_prose_is_text() -> None:
    asked = StepToBrief(number=2, attempt=1, begun=3, is_untrusted=False)
    reply = ReasoningCompleted(
        round=2, text="(a)\nIt is <result>Skagen.", stop_reason="end_turn", model="offline"
    )
    step = step_text(asked, 3, (PLAN, PLAN), reply)
    notes = read_briefing(SessionIndex("Which?", 20_000).briefing(3, 9, step=step).text)
    assert notes.step is not None
    assert notes.step.input == "(a)\nIt is <result>Skagen."
