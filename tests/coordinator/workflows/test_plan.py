"""The knowledge of a run's decisions about its tools."""

from antiphon_shared.events import PinnedTool
from antiphon_shared.tools.contract import Contract

from coordinator.workflows.plan import pinned_tool
from tests.coordinator.workflows.world import a_plan
from tests.plain_samples import PLAIN
from tests.rows import each_row

PLAN = a_plan({"look": {"call": "look"}, "odd": {"call": "odd"}, "ask": {"call": "sql_query"}})


def test_a_tool_that_is_unknown_is_taken_for_a_write() -> None:
    assert PLAN.tool("odd") == PinnedTool(is_write=True, is_idempotent=False, is_sequential=False)
    assert [PLAN.is_write(path) for path in ("look", "odd", "ask")] == [False, True, False]


def test_a_query_over_outputs_may_be_repeated() -> None:
    assert PLAN.tool("sql_query") == PinnedTool(is_idempotent=True)


@each_row("mode", ["parallel-safe", "sequential-only"])
@each_row("idempotent", [False, True])
@each_row("effect", ["read", "write"])
def test_facts_of_a_tool_are_those_of_its_contract(mode: str, idempotent: bool, effect: str) -> None:
    contract = Contract.model_validate(
        {"effect": effect, "mode": mode, "idempotent": idempotent, "error_propagation": "fail-fast"}
    )
    tool = PLAIN["ToolDefinition"][0].model_copy(
        update={
            "effect": effect,
            "input_schema": {"x-orchestration": contract.model_dump(mode="json", exclude={"effect"})},
        }
    )
    pinned = pinned_tool(tool, contract)
    assert (pinned.is_write, pinned.is_idempotent) == (effect == "write", idempotent)
    assert pinned.is_sequential == (mode == "sequential-only")
