"""Moves towards an answer of a shape: calls, validations and the answer, round by round."""

import json
from collections.abc import Callable
from typing import Any

from antiphon_shared.events import ReasoningCompleted, ToolsCompleted
from antiphon_shared.output.steps import Step
from antiphon_shared.tools.calls import ErrorType, ToolCall, ToolError, ToolResult
from hypothesis import given, settings
from hypothesis import strategies as st

from context_synthesizer.session_index import SessionIndex
from context_synthesizer.step import StepText
from reasoning_engine.offline.demand import Demand
from reasoning_engine.offline.reasoner import Reply, Request, reply_to
from reasoning_engine.offline.schema import Tool
from reasoning_engine.shaped import FINAL_ANSWER

PLAN: dict[str, Any] = {
    "type": "object",
    "properties": {"harbour": {"type": "string"}, "berths": {"type": "integer"}},
    "required": ["harbour", "berths"],
    "additionalProperties": False,
}
TAKES_PLAN = {"type": "object", "properties": {"plan": {"type": "object"}}, "required": ["plan"]}
FIND = Tool(
    "find_harbour",
    "Find a harbour.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
VALIDATE = Tool("validate_plan", "Check a plan.", TAKES_PLAN)
BOOK = Tool("book", "Book berths.\nIt changes something.", TAKES_PLAN)
assert BOOK.writes
Function = Callable[..., Any]
KINDS: dict[type[Exception], ErrorType] = {ValueError: "validation_error", TimeoutError: "timeout"}


def rounds(
    question: str,
    tools: tuple[tuple[Tool, Function], ...],
    demand: Demand | None,
    step: StepText | None = None,
    rounds_max: int = 8,
) -> list[Reply]:
    """Return every reply until the answer, in text or by the tool for it."""
    index, replies = SessionIndex(question, 20_000), list[Reply]()
    functions = {tool.name: function for tool, function in tools}
    for number in range(1, rounds_max):
        text = index.briefing(number, rounds_max, step=step).text
        reply = reply_to(Request(text, tuple(tool for tool, _ in tools), demand))
        replies.append(reply)
        if not reply.tool_uses or reply.tool_uses[0].name == FINAL_ANSWER:
            return replies
        calls = tuple(ToolCall(id=use.id, name=use.name, arguments=use.input) for use in reply.tool_uses)
        results = tuple(_run(index, call, functions[call.name]) for index, call in enumerate(calls))
        completed = ReasoningCompleted(
            round=number, text=reply.text, tool_calls=calls, stop_reason="tool_use", model="offline"
        )
        index.file(completed, ToolsCompleted(round=number, results=results))
    raise AssertionError(f"No answer in {rounds_max} rounds: {replies}")


def _run(index: int, call: ToolCall, function: Function) -> ToolResult:
    try:
        data = function(**call.arguments)
    except (ValueError, TimeoutError) as error:
        failed = ToolError(error_type=KINDS[type(error)], message=str(error), suggested_action="Mend it.")
        return ToolResult(index=index, call_id=call.id, tool=call.name, status="error", error=failed)
    return ToolResult(index=index, call_id=call.id, tool=call.name, status="ok", data=data)


def find(query: str) -> list[dict[str, Any]]:
    return [{"harbour": "Skagen", "berths": 14, "captain": "Ida"}]


def called(replies: list[Reply]) -> list[str]:
    return [use.name for reply in replies for use in reply.tool_uses]


QUESTION = "Which harbour has a captain called Ida?"
VALIDATED = Demand(PLAN, validation_tools=("validate_plan",))


def test_a_rejected_answer_is_returned_unchanged() -> None:
    def validate(plan: dict[str, Any]) -> dict[str, Any]:
        raise ValueError("It is closed in winter")

    replies = rounds(QUESTION, ((FIND, find), (VALIDATE, validate)), VALIDATED)
    assert called(replies) == ["find_harbour", "validate_plan"]
    assert replies[-1].text == '{"harbour":"Skagen","berths":14}'


def test_a_validation_that_took_too_long_is_made_again() -> None:
    runs: list[Any] = []

    def validate(plan: dict[str, Any]) -> dict[str, Any]:
        runs.append(plan)
        if len(runs) == 1:
            raise TimeoutError("It took too long")
        return {"valid": True}

    replies = rounds(QUESTION, ((FIND, find), (VALIDATE, validate)), VALIDATED)
    assert called(replies) == ["find_harbour", "validate_plan", "validate_plan"]
    assert replies[-1].text == '{"harbour":"Skagen","berths":14}'


HOSTILE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["harbour", "berths", "# Facts", "</result>", "valid", 2**70, -(2**64), "9" * 30]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "harbour",
                    "berths",
                    "valid",
                    "errors",
                    "property",
                    "message",
                    "name",
                    "type",
                    "required",
                    "",
                ]
            )
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=14,
)


@settings(max_examples=150, deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE, st.booleans())
def test_the_model_replies_to_any_tool_results(
    found: Any, verdict: Any, given_to: Any, by_tool: bool
) -> None:
    facts = f"F1 {json.dumps(found)}\nF2 {json.dumps(verdict)}"
    text = (
        "# Question\nBook 3 berths of harbour Skagen.\n\n# Step 2 of 3: booking\nCheck the plan, and book it.\n\n"
        f'The output of step planning:\n<result call="a" tool="planning" round="1" trust="tool">\n  '
        f'{json.dumps(given_to)}\n</result>\n\n# Facts\n<result call="c" tool="validate_plan" round="1" trust="tool">\n'
        f'{facts}\n</result>\n\n# Tools tried\n- round 1: find_harbour {{"query": "x"}} -> ok: F1\n'
        f'- round 2: validate_plan {{"plan": {json.dumps(given_to)}}} -> ok: F2\n\n# Now\nRound 3.'
    )
    demand = Demand(PLAN, by_tool=by_tool, validation_tools=("validate_plan",))
    reply_to(Request(text, (FIND, VALIDATE, BOOK), demand))


def test_values_too_long_to_be_shown_whole_are_known_again() -> None:
    demand = Demand(
        {
            **PLAN,
            "properties": {**PLAN["properties"], "about": {"type": "string"}},
            "required": ["about", "berths"],
        },
        validation_tools=("validate_plan",),
    )

    def validate(plan: dict[str, Any]) -> dict[str, Any]:
        return {"valid": True}

    def find_long(query: str) -> list[dict[str, Any]]:
        return [{"about": "deep-" * 200, "captain": "Ida", "berths": 14}]

    replies = rounds(QUESTION, ((FIND, find_long), (VALIDATE, validate)), demand)
    assert called(replies) == ["find_harbour", "validate_plan"]
    assert '"berths":14' in replies[-1].text


def test_an_answer_without_facts_is_prose() -> None:
    replies = rounds(QUESTION, ((FIND, lambda query: []),), Demand(PLAN))
    assert "I found nothing that answers this." in replies[-1].text


def a_step(instructions: str) -> StepText:
    step = Step(name="booking", instructions=instructions, tools=("book",), max_rounds=10)
    given = '{"harbour":"Skagen","berths":14}'
    lines = (
        step.instructions,
        f'\nThe output of step planning:\n<result call="step 1" tool="planning" round="1" trust="tool">\n  {given}\n'
        "</result>",
    )
    return StepText(
        "Step 2 of 2: booking",
        lines,
        1,
        "Step 2 of 2, attempt 1 of 3: round 1 of at most 10.",
        (instructions, given),
    )


def test_a_write_is_called_once_with_the_input_of_its_step() -> None:
    booked: list[Any] = []

    def book(plan: dict[str, Any]) -> dict[str, Any]:
        booked.append(plan)
        return {"booking": f"B-{len(booked)}"}

    shape = {"type": "object", "properties": {"booking": {"type": "string"}}, "required": ["booking"]}
    replies = rounds(
        "Book it.", ((BOOK, book),), Demand(shape, by_tool=True), a_step("Check it and book it once.")
    )
    (answer,) = replies[-1].tool_uses
    assert booked == [{"harbour": "Skagen", "berths": 14}]
    assert (answer.name, answer.input) == ("final_answer", {"booking": "B-1"})


def test_a_write_that_the_step_does_not_ask_for_is_not_called() -> None:
    replies = rounds("How long is it?", ((BOOK, find),), None, a_step("Describe the booking."))
    assert called(replies) == []
