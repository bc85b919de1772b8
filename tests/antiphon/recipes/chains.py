"""Chains of calls for tests, without a session behind them."""

from collections.abc import Mapping
from typing import Any

from antiphon_shared.tools.calls import ToolDefinition
from antiphon_shared.tools.contract import CONTRACT_KEYWORD, Contract

from antiphon.recipes.chain import Chain, SuccessfulCall
from antiphon.recipes.learn import Learned, learn
from antiphon.recipes.values import ValuePath


def a_tool(
    name: str, effect: Any = "read", schema: Mapping[str, Any] | None = None, **contract: Any
) -> ToolDefinition:
    keyword = Contract(effect=effect, **contract).as_keyword()
    fields = {"type": "object", "additionalProperties": True, **(schema or {}), CONTRACT_KEYWORD: keyword}
    return ToolDefinition(name=name, description=name, input_schema=fields, effect=effect)


def a_call(
    tool: str | ToolDefinition,
    arguments: dict[str, Any],
    result: Any,
    round: int,
    *,
    effect: Any = "read",
    is_cited: bool = False,
    placeholders: Mapping[ValuePath, tuple[int, ValuePath]] | None = None,
    **more: Any,
) -> SuccessfulCall:
    definition = tool if isinstance(tool, ToolDefinition) else a_tool(tool, effect)
    return SuccessfulCall(
        definition.name, round, arguments, result, definition, placeholders or {}, is_cited, **more
    )


def a_chain(question: str, *calls: SuccessfulCall, session_id: str = "s1") -> Chain:
    return Chain(session_id, question, calls, ())


def learned(question: str, *calls: SuccessfulCall) -> Learned:
    return learn([a_chain(question, *calls)], "w")


def args_of(learned: Learned) -> dict[str, dict[str, Any]]:
    """Return the arguments of each node, as the file has them."""
    graph = learned.recipe.file["workflows"]["w"]["graph"]
    return {name: node.get("args", {}) for name, node in graph.items()}


def edges_of(learned: Learned) -> dict[str, list[str]]:
    graph = learned.recipe.file["workflows"]["w"]["graph"]
    return {name: [*node.get("depends_on", [])] for name, node in graph.items()}


def params_of(learned: Learned) -> dict[str, Any]:
    params: dict[str, Any] = learned.recipe.file["workflows"]["w"].get("params", {})
    return params
