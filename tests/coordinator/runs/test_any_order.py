"""Over random graphs: a run ends after any events in any order, and the stored state agrees."""

from typing import Any

from antiphon_shared.events import (
    ApprovalDecided,
    CancellationRequested,
    ComponentFailed,
    InputGiven,
    OutcomeSettled,
    ResumeRequested,
    ToolsRequested,
)
from antiphon_shared.process.errors import ErrorInfo
from hypothesis import given
from hypothesis import strategies as st

from tests.coordinator.runs.live import Live, a_pinned
from tests.coordinator.workflows.drawn import FAILURES, TOOLS, WORKFLOWS, graphs
from tests.coordinator.workflows.world import a_plan

STEPS_MAX = 500
KINDS = st.sampled_from([None, None, None, *FAILURES])


def one_step(live: Live, data: st.DataObject, stops: bool) -> None:
    """Let something happen: an answer, a timer, a person, a dead letter, something late, or the end from outside."""
    if stops and data.draw(st.integers(0, 15)) == 15:
        live.happens(CancellationRequested(reason="enough"))
        return
    if data.draw(st.integers(0, 5)) == 5:
        live.arrives(live.log[data.draw(st.integers(0, len(live.log) - 1))])
        return
    waits: list[Any] = [*sorted(live.state.open), *sorted(f"!{name}" for name in live.timers)]
    chosen = data.draw(st.sampled_from(waits))
    if chosen.startswith("!"):
        live.fire(chosen[1:])
        return
    open = live.state.open[chosen]
    match open.kind:
        case "call" | "reason":
            asked = live.asked[open.number]
            if isinstance(asked, ToolsRequested) and data.draw(st.integers(0, 7)) == 7:
                lost = ComponentFailed(
                    component="tool_dispatcher",
                    failed_event=live.log[-1].id,
                    error=ErrorInfo(code="lost", message="Lost."),
                )
                live.happens(lost, named=asked)
            else:
                live.happens(live.answer_to(open.number, data.draw(KINDS)))
        case "person":
            values = data.draw(st.sampled_from([{"yes": True}, {"yes": 1}, {}]))
            live.happens(InputGiven(round=open.number, values=values))
        case "approval":
            live.happens(ApprovalDecided(round=open.number, is_approved=not data.draw(st.booleans())))
        case "timer":
            live.fire(f"node:{chosen}")


def run_through(live: Live, data: st.DataObject, stops: bool) -> Live:
    """Let a run that has begun come to its next end."""
    ends = len(live.answers)
    for _ in range(STEPS_MAX):
        if len(live.answers) > ends:
            return live
        one_step(live, data, stops)
    raise AssertionError(f"it hangs: {live.state.open}")


@given(graphs(), st.sampled_from(["", *TOOLS, "drop"]), st.booleans(), st.data())
def test_a_run_ends_once_after_any_sequence_of_events(
    graph: dict[str, Any], approve: str, stops: bool, data: st.DataObject
) -> None:
    live = Live(a_pinned(a_plan(graph, **WORKFLOWS), approve)).begin()
    if not live.answers:
        run_through(live, data, stops)
    for index in data.draw(st.lists(st.integers(0, len(live.log) - 1), max_size=5)):
        assert live.arrives(live.log[index]) is None, "events after the end change nothing"
    assert len(live.answers) == 1
    assert live.answers[0].run is not None


@given(graphs(), st.data())
def test_a_run_that_is_resumed_ends_again(graph: dict[str, Any], data: st.DataObject) -> None:
    live = Live(a_pinned(a_plan(graph, **WORKFLOWS))).begin()
    for _ in range(3):
        if live.state.run.ended is None:
            run_through(live, data, stops=False)
        outcome = live.answers[-1].run
        assert outcome is not None
        if not outcome.is_resumable:
            return
        ends = len(live.answers)
        for path in outcome.unknown:
            live.happens(OutcomeSettled(node=path, happened=data.draw(st.booleans()), result={"of": path}))
        done = {path: one.order for path, one in live.state.run.nodes.items() if one.status == "done"}
        assert live.happens(ResumeRequested()) is not None
        assert live.state.run.ended != outcome.status or len(live.answers) > ends, "the run continues"
        for path, one in live.state.run.nodes.items():
            assert one.status != "done" or path not in done or one.order == done[path]
