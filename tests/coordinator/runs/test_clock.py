"""The time limit of a run: only its work counts, and undoing has a limit of its own."""

from datetime import timedelta

from antiphon_shared.events import DeadlineReached, InputGiven, InputRefused, InputRequested, ResumeRequested

from coordinator.requests import DEADLINE
from tests.coordinator.runs.live import TIMEOUT_S, Live, a_pinned
from tests.coordinator.workflows.world import a_plan, call

ASK = {"type": "yield", "message": "Which?", "expects": {"n": "int"}}


def left_s(live: Live) -> float:
    return (live.timers[DEADLINE][0] - live.now).total_seconds()


def answer(live: Live, path: str, kind: str | None = None) -> None:
    live.happens(live.answer_to(live.state.open[path].number, kind))


def status(live: Live) -> str:
    run = live.answers[-1].run
    assert run is not None
    return run.status


def test_the_clock_of_a_run_stops_while_only_people_are_awaited() -> None:
    graph = {"a": call(), "ask": {**ASK, "depends_on": ["a"]}, "b": call("look", "ask")}
    live = Live(a_pinned(a_plan(graph))).begin()
    assert left_s(live) == TIMEOUT_S
    live.now += timedelta(seconds=20)
    answer(live, "a")
    assert DEADLINE not in live.timers
    live.now += timedelta(days=3)
    live.happens(DeadlineReached())
    assert not live.answers, "a timer that fired as the clock was stopped means nothing"
    live.happens(InputGiven(round=live.state.open["ask"].number, values={"n": 1}))
    assert left_s(live) == TIMEOUT_S - 20


def test_the_clock_of_a_run_continues_while_a_call_is_in_flight() -> None:
    live = Live(a_pinned(a_plan({"ask": ASK, "a": call()}))).begin()
    live.fire(DEADLINE)
    answer(live, "a")
    assert status(live) == "timed_out"


def test_compensation_has_its_own_time_limit() -> None:
    graph = {"a": call("book", compensate={"call": "drop", "args": {}}), "b": call("look", "a")}
    live = Live(a_pinned(a_plan(graph))).begin()
    answer(live, "a")
    answer(live, "b", "not_found")
    assert DEADLINE not in live.timers
    live.now += timedelta(seconds=2 * TIMEOUT_S)
    live.happens(DeadlineReached())
    answer(live, "a~undo")
    assert status(live) == "compensated"


def test_a_run_that_was_out_of_time_has_all_of_it_when_it_is_resumed() -> None:
    live = Live(a_pinned(a_plan({"a": call()}))).begin()
    live.fire(DEADLINE)
    answer(live, "a", "not_found")
    live.happens(ResumeRequested())
    assert left_s(live) == TIMEOUT_S


def test_a_person_has_seven_days_and_the_first_values_that_fit_win() -> None:
    live = Live(a_pinned(a_plan({"ask": ASK}, output={"n": "$ask.n"}))).begin()
    asked = next(event for event in live.events if isinstance(event, InputRequested))
    assert asked.until - live.now == timedelta(days=7)
    live.happens(InputGiven(round=asked.round, values={"n": "1"}))
    assert any(isinstance(event, InputRefused) for event in live.events)
    live.happens(InputGiven(round=asked.round, values={"n": 2}))
    live.happens(InputGiven(round=asked.round, values={"n": 3}))
    assert [one.result for one in live.answers] == [{"n": 2}]
    assert "node:ask" not in live.timers


def test_an_answer_after_the_timeout_of_its_node_is_ignored() -> None:
    late = {**ASK, "on_error": {"fallback": "b"}}
    live = Live(a_pinned(a_plan({"ask": late, "b": call()}))).begin()
    number = live.state.open["ask"].number
    live.fire("node:ask")
    assert live.happens(InputGiven(round=number, values={"n": 2})) is None
    answer(live, "b")
    assert status(live) == "completed"
