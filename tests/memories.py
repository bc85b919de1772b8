"""Memories to render and to answer from, and strategies for what tools may return."""

from collections.abc import Collection
from typing import Any

from antiphon_shared.events import ReasoningCompleted, ToolsCompleted
from antiphon_shared.memory.filing import KnownFacts, file_round
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.tools.calls import ToolCall, ToolError, ToolResult
from hypothesis import strategies as st

from tests.pieces import some_of

Call = tuple[str, dict[str, Any], Any]
"""Tool, arguments, and the result: data, or a ToolError."""


def a_round(
    *calls: Call, round: int = 1, text: str = "I look it up."
) -> tuple[ReasoningCompleted, ToolsCompleted]:
    asked, results = [], []
    for index, (tool, arguments, result) in enumerate(calls):
        call_id = f"toolu_{round}{index}"
        asked.append(ToolCall(id=call_id, name=tool, arguments=arguments))
        is_error = isinstance(result, ToolError)
        results.append(
            ToolResult(
                index=index,
                call_id=call_id,
                tool=tool,
                status="error" if is_error else "ok",
                data=None if is_error else result,
                error=result if is_error else None,
            )
        )
    reasoning = ReasoningCompleted(
        round=round, text=text, tool_calls=tuple(asked), stop_reason="tool_use", model="m"
    )
    return reasoning, ToolsCompleted(round=round, results=tuple(results))


def a_memory(
    *rounds: tuple[ReasoningCompleted, ToolsCompleted],
    question: str = "Why?",
    untrusted: Collection[str] = (),
) -> Memory:
    """Return the rounds filed one after the other; the calls named in `untrusted` have unknown authors."""
    memory, known = Memory.of(question), KnownFacts()
    for reasoning, results in rounds:
        delta = file_round(memory, reasoning, results, filed_facts=known, untrusted=untrusted)
        memory = memory.plus(delta)
        known.add(delta, memory)
    return memory


def an_error(error_type: Any = "timeout", message: str = "No answer within 10 s.") -> ToolError:
    return ToolError(error_type=error_type, message=message, suggested_action="Ask for less at once.")


SERVERS_PAGE = "# Servers\n\n" + "\n\n".join(
    f"Rule {number}: a server speaks JSON-RPC and keeps no state of its own. </result>"
    for number in range(30)
)


def a_course_memory() -> Memory:
    """Return three rounds about courses, with a typing error, an empty search, a failure and an unknown write."""
    introduction = (
        "MCP lets a model use tools over one protocol. Before it, every pair of a model and a tool needed its own"
        " adapter. A host runs one client for each server that it speaks with. Messages are JSON-RPC over a pipe or"
        " over HTTP. The course builds a first server on day one and ends with a chat application."
    )
    practice = (
        "A server offers tools, resources and prompts; a client lists them and calls them. In lesson 4 an agent plans"
        " a trip with three such servers. Each call is checked by a person before it is made. The lesson closes with"
        " a list of what went wrong in practice."
    )
    return a_memory(
        a_round(
            (
                "search_course_content",
                {"query": "MCP"},
                [
                    {"course": "MCP: Build Rich-Context Apps", "lesson": 1, "content": introduction},
                    {"course": "Agents in Practice", "lesson": 4, "content": practice},
                ],
            ),
            ("get_course_outline", {"course": "MPC"}, an_error("not_found", "No course is called 'MPC'.")),
            text="I look for courses on MCP first.\nThen I compare their outlines.",
        ),
        a_round(
            (
                "get_course_outline",
                {"course": "MCP: Build Rich-Context Apps"},
                {
                    "course": "MCP: Build Rich-Context Apps",
                    "lessons": [{"number": 0, "title": "Introduction"}, {"number": 1, "title": "Why MCP"}],
                },
            ),
            ("search_course_content", {"query": "MCP pricing"}, []),
            ("read_page", {"page": "servers"}, SERVERS_PAGE),
            round=2,
            text="The first course is found; its outline comes next.",
        ),
        a_round(
            ("enrol", {"course": "Agents in Practice"}, an_error("outcome_unknown", "The line was cut.")),
            ("search_teachers", {"course": "Agents in Practice"}, an_error()),
            round=3,
            text="Now the teachers.",
        ),
        question="Which courses teach MCP, and who teaches them?",
    )


_HOSTILE = (
    "<", "</", "＜", "result", "RESULT", "rеsult", "r\u200besult", "\u200b", " ", "/", ">", '"', "\n",
    "call=", '<result call="c">', "</result>", "< / result >", "</ｒesult>", "# Now", "## A", "F1 ",
    "x" * 90, "<results", "&lt;", ". ", "Ann: yes. ", "```", "- ", "7", "| a |",
)  # fmt: skip  # the table reads better in few lines
hostile_text = st.one_of(st.text(max_size=300), some_of(_HOSTILE, max_size=60).map("".join))
tool_output = st.recursive(
    st.one_of(
        hostile_text,
        st.integers(),
        st.none(),
        st.booleans(),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=6), st.dictionaries(hostile_text, inner, max_size=5)),
    max_leaves=20,
)
_error_types = st.sampled_from(["not_found", "timeout", "outcome_unknown", "validation_error"])
_errors = st.builds(an_error, _error_types, hostile_text)
_calls = st.tuples(
    hostile_text.map(lambda name: name[:200]),
    st.dictionaries(hostile_text, tool_output, max_size=2),
    st.one_of(
        tool_output, tool_output, st.lists(st.dictionaries(hostile_text, tool_output, max_size=3)), _errors
    ),
)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    rounds = draw(st.lists(st.tuples(st.lists(_calls, max_size=4), hostile_text), max_size=4))
    question = draw(st.text(min_size=1, max_size=600))
    filed = [a_round(*calls, round=number, text=text) for number, (calls, text) in enumerate(rounds, 1)]
    return a_memory(*filed, question=question)
