"""Waits that a run has ended: no person is asked, and no timer fires for them."""

from antiphon_shared.events import ApprovalDecided, CancellationRequested, ResumeRequested, ToolsRequested

from tests.coordinator.runs.live import Live, a_pinned
from tests.coordinator.workflows.world import a_plan, call


def waiting_for_approval() -> Live:
    return Live(a_pinned(a_plan({"a": call("book")}), approve="book")).begin()


def test_a_run_that_is_cancelled_does_not_wait_for_approvals() -> None:
    live = waiting_for_approval()
    live.happens(CancellationRequested())
    live.fire("node:a")
    assert live.now == live.log[0].time, "at once"
    (answer,) = live.answers
    assert answer.run is not None
    assert answer.run.status == "cancelled"
    assert "before a person had approved it" in answer.run.nodes[0].message


def test_a_call_that_is_approved_after_its_run_was_cancelled_is_not_made() -> None:
    live = waiting_for_approval()
    live.happens(CancellationRequested())
    live.happens(ApprovalDecided(round=1, is_approved=True))
    assert live.answers
    assert not any(isinstance(event, ToolsRequested) for event in live.events)


def test_a_node_that_is_done_in_time_leaves_no_timer() -> None:
    each = {"type": "foreach", "items": "range(0, 1)", "as": "i", "step": {"call": "look"}, "timeout_s": 50}
    live = Live(a_pinned(a_plan({"each": each, "b": call("look", "each")}))).begin()
    assert "limit:each" in live.timers
    live.happens(live.answer_to(live.state.open["each/0"].number))
    assert "limit:each" not in live.timers


def test_a_timer_set_before_a_resumption_is_ignored() -> None:
    graph = {"w": {"type": "wait", "seconds": 1}, "a": call("look"), "b": call("look", "w", "a")}
    live = Live(a_pinned(a_plan(graph))).begin()
    due = live.timers["node:w"][1]
    live.happens(live.answer_to(live.state.open["a"].number, "not_found"))
    live.happens(ResumeRequested())
    assert live.happens(due) is None
    assert live.state.open["w"].kind == "timer"
