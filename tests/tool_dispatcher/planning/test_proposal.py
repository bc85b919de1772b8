"""A proposed workflow calls its tools with their requirements, and is valid."""

from typing import Any

from antiphon_shared.tools.calls import Catalogue, ToolDefinition
from antiphon_shared.tools.contract import Dependency
from antiphon_shared.workflows.specification import Workflow
from antiphon_shared.workflows.validate import problems_of
from hypothesis import given
from hypothesis import strategies as st

from tests.antiphon.recipes.chains import a_tool
from tool_dispatcher.planning.proposal import propose_workflow

TEXT = {"type": "string"}


def a_needy(name: str, effect: Any = "read", *, needs: dict[str, Any], **contract: Any) -> ToolDefinition:
    schema = {"properties": needs, "required": [*needs]}
    return a_tool(name, effect, schema, **contract)


def of(*tools: ToolDefinition, goal: str = "Do it.") -> Workflow:
    specification = propose_workflow(goal, tools)
    assert specification is not None
    assert [*problems_of(specification, Catalogue(tools=tools))] == []
    (workflow,) = specification.workflows.values()
    return workflow


def test_reads_come_before_writes_and_each_tool_after_those_that_it_needs() -> None:
    needy = a_needy("c", needs={}, mode="dependent", depends_on=(Dependency(tool="d"),))
    graph = of(a_needy("w", "write", needs={}), needy, a_needy("d", needs={})).graph
    assert {name: node.depends_on for name, node in graph.items()} == {"d": (), "c": ("d",), "w": ("c",)}


def test_arguments_of_one_name_and_form_are_one_param_and_others_have_their_own() -> None:
    number = {"type": "integer"}
    workflow = of(
        a_needy("a", needs={"x": TEXT}), a_needy("b", needs={"x": TEXT}), a_needy("c", needs={"x": number})
    )
    assert {name: param.type for name, param in workflow.params.items()} == {"x": "str", "c_x": "int"}
    assert [node.args for node in workflow.graph.values()] == [{"x": "$x"}, {"x": "$x"}, {"x": "$c_x"}]  # type: ignore[union-attr]  # calls


def test_an_argument_with_the_name_of_a_node_is_another_param() -> None:
    workflow = of(a_needy("hotel", needs={"hotel": TEXT, "hotel_hotel": TEXT}))
    assert len({*workflow.params, *workflow.graph}) == 3


def test_a_tool_whose_arguments_cannot_be_params_is_left_out() -> None:
    either = a_needy("either", needs={"x": {"anyOf": [TEXT, {"type": "null"}]}})
    unknown = a_needy("unknown", needs={"x": True})
    assert propose_workflow("Do it.", [either, unknown]) is None
    assert [*of(either, a_needy("a", needs={})).graph] == ["a"]


def test_no_tools_make_no_proposal() -> None:
    assert propose_workflow("Do it.", []) is None


def test_a_workflow_is_named_after_its_goal() -> None:
    for goal, name in (
        ("Book a trip!", "book_a_trip"),
        ("予約", "proposal"),
        ("\ud800 x", "x"),
        ("  ", "proposal"),
    ):
        specification = propose_workflow(goal, [a_needy("a", needs={})])
        assert specification is not None
        assert [*specification.workflows] == [name]


NAMES = st.text("ab-_1", min_size=1, max_size=5)
SCHEMAS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["string", "integer", "number", "boolean", "array", "object", "null", ["string", "null"]]
        )
    },
    optional={
        "description": st.text(max_size=20),
        "format": st.sampled_from(["date", "email", "ipv4"]),
        "enum": st.lists(st.sampled_from(["a", "b", 1, None]), max_size=3),
    },
)
NEEDS = st.dictionaries(NAMES, SCHEMAS, max_size=4)


@given(
    st.text(max_size=40),
    st.dictionaries(NAMES, st.tuples(st.sampled_from(["read", "write"]), NEEDS), max_size=5),
)
def test_a_proposal_is_valid_for_any_needs_of_the_tools(goal: str, tools: dict[str, tuple[str, Any]]) -> None:
    definitions = [a_needy(name, effect, needs=needs) for name, (effect, needs) in tools.items()]
    if propose_workflow(goal, definitions) is not None:
        of(*definitions, goal=goal)
