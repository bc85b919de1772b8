"""A run with enough workers takes no longer than its longest path."""

import heapq
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.coordinator.workflows.world import World, a_plan, call

DURATIONS = st.integers(1, 9)


@st.composite
def timed_graphs(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, int]]:
    """Draw a graph of calls, parallels and foreaches, and how long each of its calls takes, by path."""
    graph: dict[str, Any] = {}
    durations: dict[str, int] = {}
    for number in range(draw(st.integers(1, 12))):
        id = f"n{number}"
        after = draw(st.lists(st.sampled_from([*graph]), unique=True, max_size=3)) if graph else []
        kind, parts = draw(st.integers(0, 4)), draw(st.integers(1, 4))
        if kind == 0:
            branches = {f"b{part}": call() for part in range(parts)}
            graph[id] = {"type": "parallel", "depends_on": after, "branches": branches}
            durations |= {f"{id}/{name}": draw(DURATIONS) for name in branches}
        elif kind == 1:
            items = {"items": f"range(0, {parts})", "as": f"i{number}", "concurrency": 10}
            graph[id] = {"type": "foreach", "depends_on": after, "step": call(), **items}
            durations |= {f"{id}/{part}": draw(DURATIONS) for part in range(parts)}
        else:
            graph[id] = call("look", *after)
            durations[id] = draw(DURATIONS)
    return graph, durations


def longest_way(graph: dict[str, Any], durations: dict[str, int]) -> int:
    """Return the longest sum of durations along the edges; of parts that run at once the longest counts."""
    ends: dict[str, int] = {}
    for id, node in graph.items():
        takes = max(one for path, one in durations.items() if path == id or path.startswith(f"{id}/"))
        ends[id] = max((ends[needed] for needed in node["depends_on"]), default=0) + takes
    return max(ends.values())


@given(timed_graphs())
def test_the_makespan_is_the_longest_path(drawn: tuple[dict[str, Any], dict[str, int]]) -> None:
    graph, durations = drawn
    world = World(a_plan(graph)).start()
    now, under_way = 0, [(durations[path], path) for path in world.open]
    heapq.heapify(under_way)
    while under_way:
        now, path = heapq.heappop(under_way)
        before = {*world.open}
        world.ok(path)
        for begun in {*world.open} - before:
            heapq.heappush(under_way, (now + durations[begun], begun))
    assert world.status == "completed"
    assert now == longest_way(graph, durations)
