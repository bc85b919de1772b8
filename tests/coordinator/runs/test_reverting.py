"""Changes of a run are reverted exactly."""

from copy import deepcopy
from dataclasses import fields
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coordinator.runs.reverting import replaced_by, revert
from coordinator.runs.state import Open, RunChange, RunState
from coordinator.workflows.state import NodeState, Run, ScopeState

PATHS = st.sampled_from(["a", "b", "c", "each/0", "each/1"])
NODES = st.builds(NodeState, st.sampled_from(["active", "done"]), attempt=st.integers(0, 3))
QUEUES = st.dictionaries(
    st.sampled_from(["pay", "book"]), st.dictionaries(PATHS, st.booleans(), min_size=1), max_size=2
)


def opens(number: int) -> st.SearchStrategy[dict[str, Open | None]]:
    """Draw what a change opens, under the number of the change, so that no two have the same one."""
    kinds = st.sampled_from(["call", "timer", "person"])
    one = st.builds(Open, kind=kinds, number=st.just(number), attempt=st.just(1))
    return st.dictionaries(PATHS, st.none() | one, max_size=1)


@st.composite
def changes(draw: st.DrawFn) -> list[RunChange]:
    numbers = range(1, draw(st.integers(1, 8)) + 1)
    return [
        RunChange(
            nodes=draw(st.dictionaries(PATHS, NODES, max_size=3)),
            scopes=draw(st.dictionaries(PATHS, st.builds(ScopeState, st.just("working"), st.integers(0, 3)))),
            queues=draw(QUEUES),
            undo=draw(st.dictionaries(PATHS, st.tuples(PATHS), max_size=2)),
            done=draw(st.integers(0, 9)),
            values=draw(st.dictionaries(PATHS, st.none() | st.integers(), max_size=2)),
            wholes=draw(st.dictionaries(PATHS, st.text("ab", min_size=1), max_size=2)),
            logged=draw(st.dictionaries(PATHS, st.just("1-1"), max_size=2)),
            open=draw(opens(number)),
            number=number,
            worked_s=draw(st.floats(0, 9)),
            has_untrusted=draw(st.booleans()),
            succeeded=draw(st.tuples(st.sampled_from(["pay", "book"]))),
        )
        for number in numbers
    ]


def shown(state: RunState) -> Any:
    """Return the whole state of a run, with its queues in their order."""
    queues = {tool: list(queue) for tool, queue in state.run.queues.items()}
    counts = {kind: count for kind, count in state.counts.items() if count}
    return deepcopy(state), queues, counts


@given(changes())
def test_reverting_changes_restores_the_earlier_state_of_a_run(made: list[RunChange]) -> None:
    state = RunState()
    before, replaced = [], []
    for change in made:
        before.append(shown(state))
        replaced.append(replaced_by(state, change))
        state.apply(change)
    while replaced:
        revert(state, replaced.pop())
        assert shown(state) == before.pop()


def test_each_field_of_a_run_that_holds_entries_is_drawn_and_reverted() -> None:
    """A field that is new here has to be added to `replaced_by`, and to `changes` above."""
    names = {one.name for kind in (Run, RunState) for one in fields(kind) if "dict[" in str(one.type)}
    of_graph = {"nodes", "scopes", "queues", "undo"}
    assert names == of_graph | {"values", "logged", "wholes", "open", "paths", "counts", "succeeded"}
