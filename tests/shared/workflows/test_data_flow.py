"""Published workflows show which tool uses the result of another."""

from typing import Any

from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.workflows.data_flow import with_flow_hints
from antiphon_shared.workflows.specification import Workflow


def a_tool(name: str, description: str = "") -> ToolDefinition:
    return ToolDefinition(
        name=name, description=description or f"Does {name}.", input_schema={"type": "object"}, effect="read"
    )


def a_workflow(**graph: Any) -> Workflow:
    return Workflow.model_validate({"description": "A test.", "graph": graph})


BOOKING = a_workflow(
    flights={"call": "search", "args": {"to": "$to"}},
    booked={
        "call": "book",
        "args": {"flight": "$flights.0.flight_id"},
        "depends_on": ["flights"],
        "output": "b",
    },
    paid={"call": "pay", "args": {"note": "for ${b.booking_id}, $$5"}, "depends_on": ["booked"]},
)
NAMES = ("search", "book", "pay", "other")


def described(*workflows: Workflow, **texts: str) -> dict[str, list[str]]:
    """Return the lines behind each tool's own description."""
    tools = [a_tool(name, texts.get(name, "")) for name in NAMES]
    return {tool.name: tool.description.splitlines()[1:] for tool in with_flow_hints(tools, workflows)}


def test_a_tool_names_its_requirements_and_its_successors() -> None:
    assert described(BOOKING) == {
        "search": ["Next: book."],
        "book": ["Requires: search (needs flight_id).", "Next: pay."],
        "pay": ["Requires: book (needs booking_id)."],
        "other": [],
    }


def test_parts_of_a_parallel_and_the_step_of_a_foreach_count() -> None:
    graph = {
        "found": {"call": "search"},
        "each": {"type": "foreach", "items": "$found.list", "as": "i", "depends_on": ["found"],
                 "step": {"call": "book", "args": {"id": "$i.id", "in": "$found.place"}}},
    }  # fmt: skip  # a graph reads better in lines of its own
    assert described(a_workflow(**graph))["book"] == ["Requires: search (needs place)."]


def test_a_hint_already_in_the_description_is_not_repeated() -> None:
    found = described(BOOKING, book="Books.\nRequires: search first; its `flight_id`.\nNext: pay.")
    assert found["book"] == ["Requires: search first; its `flight_id`.", "Next: pay."]


def test_the_three_most_frequent_predecessors_are_named() -> None:
    def taking(giver: str) -> Workflow:
        return a_workflow(a={"call": giver}, b={"call": "pay", "args": {"x": "$a.id"}, "depends_on": ["a"]})

    workflows = [taking(giver) for giver in ("d", "e", "f", "g", "g")]
    assert described(*workflows)["pay"] == [f"Requires: {giver} (needs id)." for giver in ("g", "d", "e")]


def test_a_workflow_of_one_call_adds_no_hint() -> None:
    alone = a_workflow(a={"call": "book", "args": {"x": "$p", "y": "broken ${"}})
    assert not any(described(alone).values())
