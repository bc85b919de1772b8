"""The effects of events on a run, node by node."""

import pytest

from coordinator.workflows.decide import UnfitParams
from coordinator.workflows.messages import AskPerson, StopRequested, Succeeded, TimerFired
from tests.coordinator.workflows.world import World, a_plan, a_world, arguments, call

UNDO = {"call": "drop", "args": {"id": "$a.id"}}


class TestOrder:
    def test_a_node_starts_when_its_dependencies_have_settled(self) -> None:
        world = a_world({"a": call(), "b": call("look", "a"), "c": call("look", "a", "b")}).start()
        assert [*world.open] == ["a"]
        world.ok("a")
        assert [*world.open] == ["b"]
        world.ok("b").ok("c")
        assert (world.status, world.end.output if world.end else None) == ("completed", {"of": "c"})

    def test_without_an_output_the_last_nodes_count(self) -> None:
        world = a_world({"a": call(), "b": call()}).start().finish()
        assert world.end is not None
        assert world.end.output == {"a": {"of": "a"}, "b": {"of": "b"}}

    def test_arguments_may_refer_to_results_and_params(self) -> None:
        graph = {"a": call(), "b": call("look", "a", args={"id": "$a.of", "n": "$n", "text": "no ${n}!"})}
        world = a_world(graph, params={"n": {"type": "int", "default": 3}}, output={"all": "$b"}).start()
        world.ok("a")
        assert arguments(world, "b") == {"id": "a", "n": 3, "text": "no 3!"}
        world.ok("b")
        assert world.end is not None
        assert world.end.output == {"all": {"of": "b"}}

    def test_params_that_do_not_fit_begin_no_run(self) -> None:
        for given, why in (
            ({}, "'n' is required"),
            ({"n": None}, "'n' is required"),
            ({"n": "3"}, "int is required"),
            ({"n": 1, "m": 1}, "no param 'm'"),
        ):
            with pytest.raises(UnfitParams, match=why):
                a_world({"a": call()}, params={"n": {"type": "int", "required": True}}).start(**given)

    def test_a_reference_to_nothing_fails_its_node(self) -> None:
        world = a_world({"a": call(), "b": call("look", "a", args={"x": "$a.nothing"})}).start().ok("a")
        assert world.status == "failed"
        assert world.end is not None
        assert world.end.failure is not None
        assert world.end.failure.kind == "reference_missing"
        assert "has the keys of" in world.end.failure.message

    def test_a_late_or_duplicate_event_changes_nothing(self) -> None:
        world = a_world({"a": call(), "b": call("look", "a")}).start().ok("a")
        before = world.statuses()
        for late in (Succeeded("a", 1, {}), Succeeded("b", 2, {}), TimerFired("b", 1), TimerFired("a", 0)):
            world.happens(late)
        assert world.statuses() == before
        world.ok("b")
        world.happens(Succeeded("b", 1, {}))


class TestChoices:
    GRAPH = {
        "a": call(),
        "way": {
            "type": "branch",
            "depends_on": ["a"],
            "on": [{"when": "$a.of == 'x'", "goto": "b"}, {"default": "c"}],
        },
        "b": call(),
        "c": call(),
        "d": call("look", "b", "c"),
        "e": call("look", "b"),
    }

    def test_a_branch_activates_its_target_and_the_others_are_skipped(self) -> None:
        world = a_world(self.GRAPH).start().ok("a", {"of": "x"})
        assert [*world.open] == ["b"]
        world.ok("b")
        assert sorted(world.open) == ["d", "e"]
        world.finish()
        assert world.statuses()["c"] == "skipped"

    def test_a_node_that_depends_only_on_skipped_nodes_is_skipped(self) -> None:
        world = a_world(self.GRAPH).start().ok("a").finish()
        assert world.statuses() | {"b": "skipped", "e": "skipped", "d": "done"} == world.statuses()

    def test_without_a_match_and_a_default_a_branch_fails(self) -> None:
        graph = {"way": {"type": "branch", "on": [{"when": "false", "goto": "b"}]}, "b": call()}
        world = a_world(graph).start()
        assert world.end is not None
        assert world.end.failure is not None
        assert (world.status, world.end.failure.kind) == ("failed", "no_branch_matched")

    def test_a_false_condition_skips_and_one_that_fails_fails(self) -> None:
        world = a_world({"a": call(when="1 > 2"), "b": call()}).start().finish()
        assert world.statuses() == {"a": "skipped", "b": "done"}
        assert a_world({"a": call(when="'2' > 1")}).start().status == "failed"


class TestFailing:
    def test_a_transient_failure_is_retried_after_a_delay(self) -> None:
        on_error = {"retry": 2, "delay": 100, "backoff": "exponential"}
        world = a_world({"a": call("look", on_error=on_error)}).start().fails("a", "timeout")
        world.ok("a").fails("a", "timeout").ok("a")
        assert [timer.seconds for timer in world.timers] == [0.1, 0.2]
        assert [(one.attempt, one.key) for one in world.calls] == [(1, 1), (2, 2), (3, 3)]
        assert world.fails("a", "timeout").status == "failed"

    @pytest.mark.parametrize(
        ("backoff", "delays_s"),
        [
            ("fixed", [25, 25, 25, 25]),
            ("linear", [25, 50, 60, 60]),
            ("exponential", [25, 50, 60, 60]),
        ],
    )
    def test_delays_grow_by_their_backoff_up_to_a_minute(self, backoff: str, delays_s: list[int]) -> None:
        on_error = {"retry": 4, "delay": 25_000, "backoff": backoff}
        world = a_world({"a": call("look", on_error=on_error)}).start()
        for _ in delays_s:
            world.fails("a", "timeout").ok("a")
        assert [timer.seconds for timer in world.timers] == delays_s

    def test_a_permanent_failure_is_not_retried(self) -> None:
        world = a_world({"a": call("look", on_error={"retry": 2})}).start().fails("a", "not_found")
        assert world.status == "failed"

    def test_an_unknown_outcome_is_tried_again_only_under_the_same_key_of_an_idempotent_tool(self) -> None:
        paid = (
            a_world({"a": call("pay", on_error={"retry": 1})}).start().fails("a", "outcome_unknown").ok("a")
        )
        assert [(one.attempt, one.key) for one in paid.calls] == [(1, 1), (2, 1)]
        booked = a_world({"a": call("book", on_error={"retry": 1})}).start().fails("a", "outcome_unknown")
        assert booked.status == "needs_review"
        assert booked.end is not None
        assert booked.end.unknown == ("a",)

    def test_a_failure_remains_when_the_condition_of_its_fallback_is_false(self) -> None:
        done = call("book", compensate={"call": "drop", "args": {}})
        graph = {
            "first": done,
            "a": call("look", "first", on_error={"fallback": "b"}),
            "b": {**call(), "when": "1 > 2"},
        }
        world = World(a_plan(graph)).start().ok("first").fails("a")
        assert world.ok("first~undo").status == "compensated"
        assert world.run.nodes["b"].status == "skipped"

    def test_an_arm_of_a_branch_may_be_skipped(self) -> None:
        graph = {
            "a": {"type": "branch", "on": [{"default": "b"}]},
            "b": {**call(), "when": "1 > 2"},
            "c": call("look"),
        }
        assert World(a_plan(graph)).start().ok("c").status == "completed"

    def test_a_fallback_runs_in_place_of_a_failed_node(self) -> None:
        graph = {"a": call(on_error={"fallback": "b"}), "b": call(), "c": call("look", "a", "b")}
        world = a_world(graph).start().fails("a").ok("b").ok("c")
        assert world.status == "completed"
        unused = a_world(graph).start().ok("a")
        assert unused.statuses()["b"] == "skipped"

    def test_after_an_unknown_outcome_nothing_does_the_work_a_second_time(self) -> None:
        graph = {"a": call("book", on_error={"fallback": "b"}), "b": call("book")}
        world = a_world(graph).start().fails("a", "outcome_unknown")
        assert [one.path for one in world.calls] == ["a"]
        assert world.status == "needs_review"

    def test_calls_in_flight_are_waited_for_and_nothing_new_begins(self) -> None:
        world = a_world({"a": call(), "b": call("book"), "c": call("look", "b")}).start().fails("a")
        assert world.end is None
        world.ok("b")
        assert world.status == "failed"
        assert world.end is not None
        assert world.end.standing == ("b",)


class TestUndoing:
    GRAPH = {
        "a": call("book", compensate={"call": "drop", "args": {"id": "$a.of"}}),
        "b": call("book", "a", compensate={"call": "drop", "args": {"id": "$b.of"}}),
        "c": call("look", "b"),
    }

    def test_completed_nodes_are_undone_in_reverse_order(self) -> None:
        world = a_world(self.GRAPH).start().ok("a").ok("b").fails("c")
        assert [*world.open] == ["b~undo"]
        world.ok("b~undo").ok("a~undo")
        assert arguments(world, "a~undo") == {"id": "a"}
        assert world.status == "compensated"
        assert world.end is not None
        assert (world.end.undone, world.end.standing) == (("a", "b"), ())

    def test_all_compensations_are_attempted_and_remaining_effects_are_named(self) -> None:
        world = a_world(self.GRAPH).start().ok("a").ok("b").fails("c").fails("b~undo").ok("a~undo")
        assert world.status == "compensation_failed"
        assert world.end is not None
        assert world.end.standing == ("b",)

    def test_an_ignored_failure_to_undo_still_leaves_a_write(self) -> None:
        graph = {"a": call("book", compensate={"call": "drop", "ignore_error": True}), "b": call("look", "a")}
        world = a_world(graph).start().ok("a").fails("b").fails("a~undo")
        assert world.end is not None
        assert (world.status, world.end.standing) == ("failed", ("a",))

    def test_cancelling_undoes_too(self) -> None:
        world = a_world(self.GRAPH).start().ok("a")
        world.happens(StopRequested("cancelled", "enough"))
        assert world.end is None, "b is in flight"
        world.ok("b").ok("b~undo").ok("a~undo")
        assert world.status == "cancelled"

    def test_a_compensate_node_replaces_the_compensations_of_the_nodes_it_refers_to(self) -> None:
        steps = [{"call": "drop", "args": {"id": "$a.of"}}, {"call": "drop", "args": {"id": "$never.of"}}]
        graph = {
            "a": call("book", compensate={"call": "drop", "args": {}}),
            "b": call("book", "a", compensate={"call": "drop", "args": {"id": "$b.of"}}),
            "never": call("book", "b", when="false"),
            "c": call("look", "b", on_error={"fallback": "back"}),
            "back": {"type": "compensate", "steps": steps},
        }
        world = a_world(graph).start().ok("a").ok("b").fails("c")
        assert [*world.open] == ["back~undo0"]
        world.ok("back~undo0")
        assert [*world.open] == ["b~undo"], "the second step has nothing to undo"
        assert world.ok("b~undo").status == "compensated"


class TestWaiting:
    def test_a_person_is_asked_and_answers_once(self) -> None:
        graph = {
            "ok": {"type": "yield", "message": "Pay $n?", "expects": {"yes": "bool"}},
            "b": call("look", "ok"),
        }
        world = a_world(graph, params={"n": {"type": "int", "default": 5}}).start()
        asked = world.open["ok"]
        assert isinstance(asked, AskPerson)
        assert (asked.message, asked.timeout_s) == ("Pay 5?", 604_800.0)
        world.ok("ok", {"yes": True})
        world.happens(Succeeded("ok", 1, {"yes": False}))
        assert world.kept["ok"] == {"yes": True}
        assert world.ok("b").status == "completed"

    def test_a_wait_node_continues_when_its_time_has_come(self) -> None:
        world = a_world({"w": {"type": "wait", "seconds": 5}, "b": call("look", "w")}).start()
        assert world.timers[0].seconds == 5
        assert world.ok("w").ok("b").status == "completed"

    def test_waits_are_withdrawn_when_the_workflow_fails(self) -> None:
        graph = {"w": {"type": "wait", "seconds": 5}, "a": call()}
        assert a_world(graph).start().fails("a").status == "failed"

    def test_a_container_out_of_time_fails_once_its_calls_have_settled(self) -> None:
        graph = {"p": {"type": "parallel", "timeout_s": 3, "branches": {"x": call("book")}}}
        world = a_world(graph).start()
        world.happens(TimerFired("p", 0))
        assert world.end is None
        world.ok("p/x")
        assert world.end is not None
        assert world.end.failure is not None
        assert (world.status, world.end.failure.kind) == ("failed", "timeout")

    def test_an_error_node_ends_its_workflow_with_its_message(self) -> None:
        graph = {"a": call(), "no": {"type": "error", "message": "No $a.of."}}
        branch = {"type": "branch", "depends_on": ["a"], "on": [{"default": "no"}]}
        world = a_world({**graph, "way": branch}).start().ok("a")
        assert world.end is not None
        assert world.end.failure is not None
        assert (world.status, world.end.failure.message) == ("failed", "No a.")
