"""The calls and answers of the offline model, whole, over a table of questions: golden/replies.md.

After an intended change, run `python -m tests.reasoning_engine.offline.test_golden`, and review the output.
"""

import json
from pathlib import Path
from typing import Any

from antiphon_shared.events import ReasoningCompleted, ToolsCompleted
from antiphon_shared.tools.calls import ToolCall

from context_synthesizer.session_index import SessionIndex
from reasoning_engine.offline.reasoner import Reply, Request, reply_to
from reasoning_engine.offline.schema import Tool
from tests.reasoning_engine.offline.course_tools import COURSE_TOOLS
from tests.reasoning_engine.offline.rounds import TOKENS_MAX, OfferedTool, run_call
from tests.reasoning_engine.offline.town_tools import TOWN_TOOLS

GOLDEN = Path(__file__).parent / "golden" / "replies.md"
_ROUNDS_MAX = 5
_STRING: dict[str, Any] = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)[:1]}


def _echo(**arguments: Any) -> Any:
    """Return some records that match the search, and some that do not."""
    return [
        {"id": 7, "name": "Brass nut M4", "kind": "nut", "stock": 120, "tags": ["small", "round"]},
        {"id": 9, "name": "Steel bolt", "kind": "bolt", "stock": 0, "updated": "2024-03-01"},
        {"told": json.dumps(arguments, sort_keys=True)},
    ]


ODD_TOOLS = (
    OfferedTool(
        "find_parts",
        "Find parts by kind, colour and size.",
        _object(
            query=_STRING,
            kind={"type": "string", "enum": ["nut", "bolt", "washer"]},
            amount={"type": "integer", "minimum": 1, "maximum": 50},
            in_stock={"type": "boolean"},
            weight_kg={"type": "number"},
            colours={"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}},
            since={"type": "string", "format": "date"},
        ),
        _echo,
    ),
    OfferedTool(
        "route",
        "The way from one place to another.",
        _object(origin=_STRING, destination=_STRING, at={"type": "string", "format": "time"}),
        _echo,
    ),
    OfferedTool("weather", "The weather of a city.", _object(city=_STRING, days={"type": "integer"}), _echo),
    OfferedTool("count_parts", "How many parts there are.", _object(), _echo),
    OfferedTool("nothing", "Search the archive.", _object(text=_STRING), lambda **arguments: []),
)
QUESTIONS: dict[str, tuple[tuple[OfferedTool, ...], tuple[str, ...]]] = {
    "courses": (
        COURSE_TOOLS,
        (
            'Find a course that discusses the same topic as lesson 4 of course "Designing Web APIs"',
            "Which other course covers the topic of the fourth lesson of Kitchen Microbiology?",
            "What is the second lesson of Databases from First Principles about?",
            "Compare lesson 2 of Designing Web APIs with lesson 3 of Kitchen Microbiology.",
            "What does the last lesson of the course statistcs for curous peple say?",
            "Is there anything on fermentation, or on indexes?",
            "How many lessons has Designing Web APIs, and who teaches it?",
            "Summarise lesson 1 of Gardening for Nobody.",
            "Find all courses that do not mention baking.",
        ),
    ),
    "a town": (
        TOWN_TOOLS,
        (
            "Which books does Ada Lovelace have on loan?",
            "When are the books of Grace Hopper due?",
            "What is the Roman Bread Oven made of?",
            "Which trains go from Oslo to Bergen on 2026-12-24?",
            "Is there a train from Oslo to Bergen on 24 December 2026 for at most 700?",
            "Reserve a seat from Bergen to Oslo on 2026-12-24.",
            "Who wrote Dune, and what else did he write?",
            "Compare the Blue Whale Skeleton with the Roman Bread Oven.",
            "What does Adda Lovelace have on loan?",
            "Which books are about desert ecology?",
            "What is in room 4 of the museum?",
        ),
    ),
    "odd parameters": (
        ODD_TOOLS,
        (
            "Find 3 red nuts that weigh 0.5 kg and are in stock since 2024-02-01.",
            "Find blue and red bolts which are not in stock.",
            "How do I get from Holm to Nes at 08:30?",
            'Which way is it from "Old Mole" to the Harbour of Vik?',
            "What is the weather in Oslo for the next 3 days?",
            "How many parts are there?",
            "What do we know of 1,200 brass washers of last year?",
            "find twelve small nuts",
            "Is the part with id 7 updated on 2024-03-01?",
            "And what about the archive of the third king?",
            "",
            "???",
        ),
    ),
    "no tools": ((), ("What is the capital of Norway?", "Compare A and B.")),
}


def asked(question: str, tools: tuple[OfferedTool, ...]) -> list[Reply]:
    """Return the replies to each round, the last of which may call no tool."""
    index, replies = SessionIndex(question or " ", TOKENS_MAX), list[Reply]()
    by_name = {tool.name: tool for tool in tools}
    offered = tuple(Tool(tool.name, tool.description, tool.schema) for tool in tools)
    for number in range(1, _ROUNDS_MAX + 1):
        text = index.briefing(number, _ROUNDS_MAX).text
        reply = reply_to(Request(text, offered if number < _ROUNDS_MAX else ()))
        replies.append(reply)
        if not reply.tool_uses:
            break
        calls = tuple(ToolCall(id=use.id, name=use.name, arguments=use.input) for use in reply.tool_uses)
        results = tuple(run_call(index, call, by_name[call.name]) for index, call in enumerate(calls))
        reasoning = ReasoningCompleted(
            round=number, text=reply.text, tool_calls=calls, stop_reason="tool_use", model="offline"
        )
        index.file(reasoning, ToolsCompleted(round=number, results=results))
    return replies


def _as_text(reply: Reply) -> str:
    calls = [f"    {use.name} {json.dumps(use.input, ensure_ascii=False)}" for use in reply.tool_uses]
    return "\n".join((reply.text, *calls))


def whole() -> str:
    """Return every question with all replies to it."""
    parts = ["Made by `python -m tests.reasoning_engine.offline.test_golden`."]
    for name, (tools, questions) in QUESTIONS.items():
        for question in questions:
            parts.append(f"# {name}: {question}")
            parts += map(_as_text, asked(question, tools))
    return "\n\n".join(parts) + "\n"


def test_the_replies_of_the_offline_model_are_unchanged() -> None:
    assert whole() == GOLDEN.read_text()


if __name__ == "__main__":
    GOLDEN.write_text(whole())
