"""Memories to answer from, made by hand, without the filing that makes them in earnest."""

from typing import Any

from antiphon_shared.events import AssemblyRequested, ReasoningCompleted
from antiphon_shared.events.session import Status, TerminationReason
from antiphon_shared.memory.layers import (
    Document,
    Fact,
    MemoryDelta,
    ReasoningNote,
    Summary,
    ToolUse,
)
from antiphon_shared.memory.note import Note
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.tools.calls import ToolCall
from antiphon_shared.values import Usage
from pydantic_core import to_json

from tests.envelopes import START

Statement = str | dict[str, Any] | list[Any]


def a_document(
    title: str, *statements: Statement, tool: str = "search", first: int = 1, **fact: Any
) -> MemoryDelta:
    """Return a document with a fact for each statement: text as a sentence, a structure as JSON."""
    document = Document(
        id=f"D{first}", round=1, call_id=f"toolu_{first}", tool=tool, position="$", title=title
    )
    facts = tuple(
        Fact(
            id=f"F{number}",
            document=document.id,
            position=f"$[{number}]",
            statement=statement if isinstance(statement, str) else to_json(statement).decode(),
            is_json=not isinstance(statement, str),
            **fact,
        )
        for number, statement in enumerate(statements, first)
    )
    return MemoryDelta(documents=(document,), facts=facts)


def a_use(tool: str = "search", outcome: str = "ok", **fields: Any) -> ToolUse:
    arguments = {"query": fields["query"]} if "query" in fields else {}
    return ToolUse(
        **{"round": 1, "call_id": f"u_{tool}", "arguments": arguments, **fields}, tool=tool, outcome=outcome
    )


def a_memory(*deltas: MemoryDelta | ToolUse | Note | Summary, query: str = "Why?") -> Memory:
    """Return the deltas and the other documents, folded in their order."""
    memory = Memory(query)
    for one in deltas:
        match one:
            case ToolUse():
                one = MemoryDelta(tool_usage=(one,))
            case Note():
                one = MemoryDelta(reasoning=(ReasoningNote(round=1, note=one),))
            case Summary():
                one = MemoryDelta(summaries=(one,))
        memory = memory.plus(one)
    return memory


def a_request(
    status: Status = "complete", reason: TerminationReason = "natural_completion", **fields: Any
) -> AssemblyRequested:
    return AssemblyRequested(
        question="1-0",
        status=status,
        termination_reason=reason,
        rounds_used=2,
        tool_calls_used=3,
        usage=Usage(input_tokens=7),
        opened=START,
        **fields,
    )


def a_reply(text: str, calls: int = 0) -> ReasoningCompleted:
    asked = tuple(ToolCall(id=f"c{n}", name="t") for n in range(calls))
    return ReasoningCompleted(round=2, text=text, tool_calls=asked, stop_reason="end_turn", model="m")


def some_facts(count: int, query: str = "Why?") -> Memory:
    """Return a memory with the facts `text 1`, `text 2` and so on."""
    return a_memory(a_document("", *(f"text {n}\nmore" for n in range(1, count + 1))), query=query)


def courses() -> Memory:
    """Return a memory of two courses, with a conclusion, an open question and a failure."""
    mcp, agents = "MCP: Build Rich-Context Apps", "Agents in Practice"
    return a_memory(
        a_document(
            mcp,
            "MCP lets a model use tools over one protocol.",
            "It was introduced in November 2024 by a company that makes models.",
            "Lesson 4 treats authentication: tokens, scopes and how a server checks them.",
            tool="search_course_content",
        ),
        a_document(
            agents,
            "A server offers tools, resources and prompts; a client lists them and calls them.",
            "The chapter on MCP covers authentication by OAuth 2.1.",
            tool="search_course_content",
            first=4,
        ),
        a_document(
            mcp,
            {"course": mcp, "lesson_count": 12, "instructor": None},
            {"number": 4, "title": "Authentication", "course": mcp},
            tool="get_course_outline",
            first=6,
        ),
        a_use("search_course_content", query="MCP", facts=("F1-F5",)),
        a_use("get_course_outline", arguments={"course": mcp}, facts=("F6", "F7")),
        a_use("get_course_outline", "not_found", arguments={"course": "MPC"}, call_id="u2"),
        a_use("search_course_content", query="MCP course teachers", call_id="u3"),
        a_use("search_rooms", query="rooms in May", call_id="u4"),
        a_use(
            "search_teachers",
            "timeout",
            message="No answer within 10 s. Ask for less at once.",
            what_happened="No answer within 10 s.",
            arguments={"course": agents},
        ),
        a_use("enrol", "outcome_unknown", message="The line was cut.", arguments={"course": agents}),
        Note(
            concluded=("Agents in Practice covers the same topic as lesson 4 [F5, F3]",),
            answered=("What is lesson 4 about? Authentication [F7]",),
            open=("Which other course covers it?", "Who teaches the MCP course?", "What does it cost?"),
        ),
        query="Which course covers the same topic as lesson 4 of the MCP course, who teaches it, and what does "
        "it cost?",
    )


def a_disagreement() -> Memory:
    """Return a memory in which F1 and F3 contradict each other, and F5 supersedes F4."""
    return a_memory(
        a_document("Course page", "The course takes six hours.", "Bring a laptop."),
        a_document(
            "Catalogue", "The course takes eight hours and has an exam.", first=3, contradicts=("F1",)
        ),
        a_document("Old flyer", "The course price is 200 euros.", first=4),
        a_document(
            "Price list", "The course price is 240 euros since May 2024.", first=5, supersedes=("F4",)
        ),
        Note(open=("How long does the course take?", "What is its price?")),
        query="How long does the course take, and what is its price?",
    )
