"""The peer: LangGraph with its SQLite or its in-memory checkpointer, doing the same rounds and calls.

The same session: two rounds of two no-op tool calls and a final reply, a stub for the model, text of the same
length. Each process keeps its checkpoints in a database of its own, which is the faster way, or in its memory, where
they end with the process.
"""

import asyncio
import multiprocessing
import operator
import tempfile
import time
from contextlib import AbstractAsyncContextManager
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

TOOL_ROUNDS = 2
CALLS = 2
CONCURRENCY = 16

Checkpointer = Literal["SQLite", "memory"]


class Measured(NamedTuple):
    """The combined results of so many processes."""

    rate: float
    """Sessions per second."""
    cpu_s: float
    """CPU seconds per session."""


class State(TypedDict):
    """The state that LangGraph checkpoints after every step."""

    round: int
    messages: Annotated[list[dict[str, Any]], operator.add]


def measure(
    sessions: int, processes: int, reply: str, result: dict[str, Any], checkpointer: Checkpointer = "SQLite"
) -> Measured:
    """Run the sessions in so many processes, an equal share in each."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(processes + 1)
    share, costs = sessions // processes, context.SimpleQueue()
    workers = [
        context.Process(target=_work, args=(share, reply, result, checkpointer, ready, costs), daemon=True)
        for _ in range(processes)
    ]
    for worker in workers:
        worker.start()
    ready.wait(timeout=120)
    started = time.perf_counter()
    for worker in workers:
        worker.join()
    seconds = time.perf_counter() - started
    cpu_s = sum(costs.get() for _ in workers)
    return Measured(share * processes / seconds, cpu_s / (share * processes))


def _work(
    sessions: int,
    reply: str,
    result: dict[str, Any],
    checkpointer: Checkpointer,
    ready: Any,
    costs: "SimpleQueue[float]",
) -> None:
    costs.put(asyncio.run(_run(sessions, reply, result, checkpointer, ready)))


async def _run(
    sessions: int, reply: str, result: dict[str, Any], checkpointer: Checkpointer, ready: Any
) -> float:
    """Return the CPU seconds of all sessions."""
    from langgraph.graph import END, START, StateGraph

    async def model(state: State) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply, "tool_calls": []}
        if state["round"] < TOOL_ROUNDS:
            message["tool_calls"] = [{"name": "search", "args": {"q": n}} for n in range(CALLS)]
        return {"messages": [message], "round": state["round"] + 1}

    async def tools(state: State) -> dict[str, Any]:
        calls = state["messages"][-1]["tool_calls"]
        return {"messages": [{"role": "tool", "content": result} for _ in calls]}

    graph = StateGraph(State)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda s: "tools" if s["messages"][-1]["tool_calls"] else END)
    graph.add_edge("tools", "model")
    with tempfile.TemporaryDirectory() as folder:
        async with _saver(checkpointer, Path(folder)) as saver:
            app = graph.compile(checkpointer=saver)
            places = asyncio.Semaphore(CONCURRENCY)

            async def session(n: int) -> None:
                question = {"role": "user", "content": "What does the stub say?"}
                async with places:
                    await app.ainvoke(
                        {"messages": [question], "round": 0}, {"configurable": {"thread_id": str(n)}}
                    )

            await session(-1)
            ready.wait()
            before = time.process_time()
            await asyncio.gather(*(session(n) for n in range(sessions)))
            return time.process_time() - before


def _saver(checkpointer: Checkpointer, folder: Path) -> AbstractAsyncContextManager[Any]:
    if checkpointer == "memory":
        from langgraph.checkpoint.memory import InMemorySaver

        in_memory: AbstractAsyncContextManager[Any] = InMemorySaver()
        return in_memory
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    in_file: AbstractAsyncContextManager[Any] = AsyncSqliteSaver.from_conn_string(
        str(folder / "checkpoints.db")
    )
    return in_file
