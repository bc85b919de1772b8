"""The peer: LangGraph, the same graph as a StateGraph with its asynchronous SQLite checkpointer.

Its nodes are functions in the same process, and a checkpoint holds a whole step: all nodes that have nothing to wait
for. The recursion limit is raised to the steps of the graph; as it comes, it ends a graph after 25 of them, or so.
"""

import asyncio
import operator
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

from benchmarks.runs.graphs import Graph, levels


class State(TypedDict):
    """The state that is checkpointed after every step."""

    done: Annotated[int, operator.add]


def nodes_per_second(graph: Graph) -> float:
    """Run a graph once, after it was compiled and a run of one node has been made."""
    return asyncio.run(_run(graph))


async def _run(graph: Graph) -> float:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    with tempfile.TemporaryDirectory() as folder:
        async with AsyncSqliteSaver.from_conn_string(str(Path(folder) / "checkpoints.db")) as saver:
            warm, measured = _built({"one": ()}).compile(saver), _built(graph).compile(saver)
            await warm.ainvoke({"done": 0}, {"configurable": {"thread_id": "warm"}})
            begun = time.perf_counter()
            config = {"configurable": {"thread_id": "measured"}, "recursion_limit": levels(graph) + 5}
            found = await measured.ainvoke({"done": 0}, config)
            took_s = time.perf_counter() - begun
    assert found["done"] == len(graph), "every node has run"
    return len(graph) / took_s


def _built(graph: Graph) -> Any:
    from langgraph.graph import START, StateGraph

    async def nothing(state: State) -> dict[str, int]:
        return {"done": 1}

    built = StateGraph(State)
    for node, before in graph.items():
        built.add_node(node, nothing)
        if len(before) > 1:
            built.add_edge(list(before), node)
        else:
            built.add_edge(before[0] if before else START, node)
    return built
