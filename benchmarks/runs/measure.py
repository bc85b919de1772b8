"""The rows about runs of workflows: nodes per second against the floor and two peers, cost per node, memory, hops."""

import importlib.util
import multiprocessing
import statistics
from collections.abc import Callable

from antiphon_shared.workflows.specification import Specification

from benchmarks import floor
from benchmarks.floor import Hop
from benchmarks.runs import dbos_peer, graphs, hops, langgraph_peer
from benchmarks.runs.graphs import Graph
from benchmarks.runs.processes import Processes, processes
from tests.redis_server import running

Row = tuple[str, str, str, str]

_GRAPHS = {
    "a chain of 100 nodes": graphs.chain(100),
    "a fan of 1,000 nodes": graphs.fan(1_000),
    "a drawn graph of 1,000 nodes": graphs.drawn(1_000),
}
_PEERS: dict[str, tuple[str, Callable[[Graph], float]]] = {
    "LangGraph": ("langgraph", langgraph_peer.nodes_per_second),
    "DBOS": ("dbos", dbos_peer.nodes_per_second),
}
_SIZES = (100, 10_000)
_NODES_MIN = 2_000
"""The minimum number of nodes of the runs of one size together."""
_ITEMS, _CONCURRENCY = (1_000, 10_000), 100
_ASKED_BYTES, _ANSWERED_BYTES = 600, 450
"""The approximate size of the two events of a node."""


def measure(runs: int, peer_runs: int = 1) -> list[Row]:
    """Return every row. The peers run with the first `peer_runs` of the runs; 0 leaves them out."""
    rows = hops.measure()
    with processes() as measured:
        measured.seconds(graphs.specification_of(graphs.chain(100)))
        rows += [_speed(measured, name, graph, runs, peer_runs) for name, graph in _GRAPHS.items()]
        rows += _costs(measured)
    rows += _memory()
    with processes(copies=2) as measured:
        rows += _of_two(measured)
    return rows


def _speed(measured: Processes, name: str, graph: Graph, runs: int, peer_runs: int) -> Row:
    """Return nodes per second, each run paired with one of the floor and of each peer."""
    specification = graphs.specification_of(graph)
    rates: dict[str, list[float]] = {"ours": [], "floor": []}
    for run in range(runs):
        rates["ours"].append(len(graph) / measured.seconds(specification))
        rates["floor"].append(_floor(measured, graph))
        for peer, (package, nodes_per_second) in _PEERS.items():
            if run < peer_runs and importlib.util.find_spec(package):
                rates.setdefault(peer, []).append(_alone(nodes_per_second, graph))
    ours = rates.pop("ours")
    details = [
        f"{peer} {statistics.median(found):,.0f}: "
        f"{statistics.median(a / b for a, b in zip(ours, found, strict=False)):.2f}"
        for peer, found in rates.items()
    ]
    return name, f"{statistics.median(ours):,.0f} nodes/s", "; ".join(details), ""


def _floor(measured: Processes, graph: Graph) -> float:
    """Measure the two messages of each node by bare redis-py, as many at once as a level has on average."""
    asked = Hop("tool_dispatcher", measured.keys.inbox(0, "tool_dispatcher"), _ASKED_BYTES)
    answered = Hop("coordinator", measured.keys.inbox(0, "coordinator"), _ANSWERED_BYTES)
    with running() as server:
        in_flight = len(graph) // graphs.levels(graph)
        return floor.measure(server.port, [asked, answered], len(graph), in_flight)


def _alone(nodes_per_second: Callable[[Graph], float], graph: Graph) -> float:
    """Measure a peer in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(nodes_per_second, (graph,))


def _costs(measured: Processes) -> list[Row]:
    """Return the CPU of all processes per node, in runs of few and many: the state grows, a decision's cost does not.

    As many nodes are in flight at once in either, and one run after the other: commits at once share their round trips.
    """
    shapes: dict[str, Callable[[int], Specification]] = {
        "chain": lambda size: graphs.specification_of(graphs.chain(size)),
        "foreach, 20 at once": lambda size: graphs.foreach_of(size, 20),
    }
    return [_cost(measured, name, shape) for name, shape in shapes.items()]


def _cost(measured: Processes, name: str, shape: Callable[[int], Specification]) -> Row:
    """Run few, many and few again: a machine that is busier for a while shows in both."""
    few, many = _SIZES
    first, large, second = (_microseconds(measured, shape(size), size) for size in (few, many, few))
    small = (first + second) / 2
    details = f"{few}: {first:.0f} and {second:.0f} us, {many:,}: {large:.0f} us"
    return f"CPU per node, {name}, {many:,} over {few}", f"{large / small:.2f}", details, "<= 1.3"


def _microseconds(measured: Processes, specification: Specification, size: int) -> float:
    runs = max(1, _NODES_MIN // size)
    before = sum(measured.on_cpu_s().values())
    for _ in range(runs):
        measured.seconds(specification)
    return (sum(measured.on_cpu_s().values()) - before) / (runs * size) * 1e6


def _memory() -> list[Row]:
    """Return the peak resident memory of a coordinator, after a foreach."""
    peaks: dict[int, float] = {}
    for items in _ITEMS:
        with processes() as measured:
            measured.seconds(graphs.specification_of(graphs.chain(3)))
            measured.seconds(graphs.foreach_of(items, _CONCURRENCY))
            peaks[items] = measured.peak_mb("coordinator 1")
    few, many = peaks.values()
    details = f"of {_ITEMS[0]:,}: {few:.0f} MB"
    return [(f"coordinator's memory, foreach of {_ITEMS[1]:,} items", f"{many:.0f} MB", details, "")]


def _of_two(measured: Processes) -> list[Row]:
    """Measure the same with two coordinators and two dispatchers, which decide on the same run by turns."""
    rows: list[Row] = []
    shapes: dict[str, tuple[int, Specification]] = {
        "a fan of 1,000 nodes": (1_000, graphs.specification_of(graphs.fan(1_000))),
        "a foreach of 5,000 items": (5_000, graphs.foreach_of(5_000, _CONCURRENCY)),
    }
    for name, (nodes, specification) in shapes.items():
        before = measured.on_cpu_s()
        took_s = measured.seconds(specification)
        cpu_s = {part: cpu - before[part] for part, cpu in measured.on_cpu_s().items()}
        details = ", ".join(f"{part} {cpu / nodes * 1e6:.0f} us" for part, cpu in cpu_s.items())
        rows.append((f"{name}, two of each process", f"{nodes / took_s:,.0f} nodes/s", details, ""))
    return rows
