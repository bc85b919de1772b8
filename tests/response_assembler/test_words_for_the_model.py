"""Advice to the model is never shown to the reader of an answer, after any failure."""

from typing import get_args

from antiphon_shared.events import AssemblyRequested
from antiphon_shared.events.session import TerminationReason
from antiphon_shared.memory.findings import Findings
from antiphon_shared.tools.calls import ErrorType, RequestedCall, ToolError
from antiphon_shared.tools.contract import Dependency
from antiphon_shared.values import Usage

from context_synthesizer.render import LONG, tool_lines
from reasoning_engine.offline.tried import tried_calls
from response_assembler.compose import compose
from tests.envelopes import START
from tests.memories import a_memory, a_round
from tests.rows import each_row
from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.batch import answers

NEXT = "Call look_up again with a better word."
CALL = RequestedCall(id="c1", name="look_up", idempotency_key="k")
OTHER = RequestedCall(id="c2", name="search", idempotency_key="l")
LATE = tool_error("timeout", "No answer within 10 s.", NEXT)
OURS = (
    answers.refused_by_coordinator("the session's limit of 3 tool calls is reached"),
    answers.unknown_tool("look_out", ["look_up"]),
    answers.unusable_arguments(CALL, "they are no object.", {"word": "fugue"}),
    answers.repeated_id_error(CALL),
    answers.bad_placeholders(CALL, {"word": "calls[4] is not there"}),
    answers.cycle_error(0, (0, 1), (CALL, OTHER)),
    answers.not_called_yet(CALL, Dependency(tool="search", required_fields=("id",))),
    answers.needs_another(CALL, Dependency(tool="search"), "calls[0] found nothing"),
    answers.needs_a_result(CALL, 1, OTHER, LATE),
    answers.begun_elsewhere(CALL, LATE),
    answers.not_started(CALL, 1, OTHER, LATE),
)
"""The dispatcher's own errors of calls."""


def of_every_type() -> list[ToolError]:
    mistakes = [
        tool_error(error_type, f"It ended as {error_type}.", NEXT, example_valid_call={"word": "fugue"})
        for error_type in get_args(ErrorType)
    ]
    return [*mistakes, *(tool_error(error_type, "It ended.") for error_type in get_args(ErrorType)), *OURS]


def answer_after(error: ToolError, reason: TerminationReason) -> str:
    """Return the whole response of a session with one call that ended so."""
    memory = a_memory(a_round(("look_up", {"word": "fuge"}, error)), question="What is a fugue?")
    request = AssemblyRequested(
        question="1-0",
        status="partial",
        termination_reason=reason,
        rounds_used=1,
        tool_calls_used=1,
        usage=Usage(),
        opened=START,
    )
    return compose("s", request, START, Findings(memory)).model_dump_json()


@each_row("error", of_every_type(), ids=lambda error: error.error_type)
@each_row("reason", ["natural_completion", "max_rounds_reached"])
def test_the_reader_sees_what_happened_and_no_advice_for_the_model(
    error: ToolError, reason: TerminationReason
) -> None:
    shown = answer_after(error, reason)
    for words in ("Call look_up", "Call search", "Valid arguments", error.suggested_action):
        assert words not in shown
    if error.error_type not in ("not_found", "outcome_unknown"):
        assert error.message.split("'")[0].split('"')[0][:20] in shown


@each_row("error", of_every_type(), ids=lambda error: error.error_type)
def test_the_offline_model_separates_what_happened_from_the_advice(error: ToolError) -> None:
    (use,) = a_memory(a_round(("look_up", {"word": "fuge"}, error))).tool_usage
    (tried,) = tried_calls(tool_lines(use, LONG).text)
    assert tried.outcome_text == " ".join(error.message.split())
    assert " ".join(error.suggested_action.split()) in tried.message


def test_a_call_that_asks_for_nothing_has_no_next_step() -> None:
    (use,) = a_memory(a_round(("look_up", {}, ["A fugue imitates."]))).tool_usage
    assert use.happened_and_next == ("", "")
