"""The arguments of the tool `ask_user`."""

from typing import Any

from antiphon_shared.tools.ask_user import ASK_USER_PARAMETERS, read_question
from antiphon_shared.tools.calls import ToolError
from hypothesis import example, given
from hypothesis import strategies as st

from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.running.arguments import arguments_of

ASK = Tool("ask", "Asks.", ASK_USER_PARAMETERS, lambda arguments, context: None, effect="read")
texts = st.text(max_size=3) | st.sampled_from(["x" * 200, "x" * 201, "x" * 2_000, "x" * 2_001, " ", "\u2003"])
anything = texts | st.none() | st.integers() | st.lists(texts, max_size=11)


@given(st.dictionaries(st.sampled_from(["question", "choices", "other"]), anything))
@example({"question": "Which?", "choices": ["x"] * 10})
@example({"question": "Which?", "choices": ["x"] * 11})
@example({"question": "x" * 2_001})
@example({"question": "Which?", "choices": ["x" * 200]})
@example({"question": "Which?", "other": 1})
@example({"question": "Which?", "choices": [["x"]]})
@example({"question": "\x1c"})
def test_coordinator_and_dispatcher_agree_on_valid_questions(arguments: dict[str, Any]) -> None:
    """The coordinator reads the arguments, the dispatcher holds them against the schema."""
    is_accepted = not isinstance(arguments_of(ASK, arguments), ToolError)
    assert (read_question(arguments) is not None) is is_accepted
