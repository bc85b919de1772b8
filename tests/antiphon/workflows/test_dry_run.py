"""Dry runs: samples that a workflow can work with, and every way through it."""

from typing import Any

from hypothesis import given

from antiphon.workflows.dry_run import Coverage, cover, dry_run
from antiphon.workflows.stubs import samples
from coordinator.workflows.messages import AskPerson, CallTool
from tests.coordinator.workflows.drawn import WORKFLOWS, graphs
from tests.coordinator.workflows.world import a_plan, call

UNDO = {"call": "drop", "args": {"id": "$a.id"}}


def endings(coverage: Coverage) -> dict[str, str]:
    return {run.scenario.name: run.end.status for run in coverage.runs}


def test_a_sample_has_the_fields_that_the_workflow_reads() -> None:
    inner: dict[str, Any] = {
        "description": "Inner.",
        "params": {"n": {"type": "int", "required": True}},
        "graph": {"x": call("look", args={"n": "$n"})},
        "output": {"found": "$x"},
    }
    graph = {
        "a": call(),
        "sub": {"workflow": "inner", "depends_on": ["a"], "args": {"n": "$a.count"}},
        "each": {
            "type": "foreach",
            "depends_on": ["a"],
            "items": "$a.rows",
            "as": "row",
            "step": call(args={"id": "$row.id"}),
        },
        "p": {"type": "parallel", "depends_on": ["a"], "branches": {"x": call(), "y": call()}},
        "b": call(
            "look",
            "sub",
            "each",
            "p",
            args={"deep": "$sub.found.name", "first": "$each.0.title", "x": "$p.x.id"},
            when="$a.price < 10.0 && $a.names.length > 0",
        ),
    }
    found = samples(a_plan(graph, inner=inner))
    assert found["a"] == {
        "count": 1,
        "rows": [{"id": "<a.rows.0.id>"}],
        "price": 1.5,
        "names": ["<a.names.0>"],
    }
    assert found["sub/x"] == {"name": "<sub/x.name>"}
    assert found["each/*"] == {"title": "<each/*.title>"}
    assert found["p/x"] == {"id": "<p/x.id>"}
    assert dry_run(a_plan(graph, inner=inner), {}, {}).end.status == "completed"


def test_results_and_params_that_are_given_decide() -> None:
    graph = {
        "a": call(args={"n": "$n"}),
        "way": {
            "type": "branch",
            "depends_on": ["a"],
            "on": [{"when": "$a.n > 3", "goto": "b"}, {"default": "c"}],
        },
        "b": call(),
        "c": call(),
    }
    plan = a_plan(graph, params={"n": {"type": "int", "required": True}})
    run = dry_run(plan, {"n": 5}, {"a": {"n": 4}})
    assert [(one.path, dict(one.arguments)) for one in run.commands if isinstance(one, CallTool)] == [
        ("a", {"n": 5}),
        ("b", {}),
    ]
    assert dry_run(plan, {"n": 5}, {}).nodes["c"] == "done"


def test_every_path_is_walked_once() -> None:
    graph = {
        "a": call("book", compensate=UNDO),
        "way": {
            "type": "branch",
            "depends_on": ["a"],
            "on": [{"when": "$a.x", "goto": "b"}, {"default": "c"}],
        },
        "b": call("look", when="$a.y"),
        "c": call("look", on_error={"fallback": "d"}),
        "d": call("book"),
    }
    coverage = cover(a_plan(graph), {}, {})
    assert endings(coverage) == {
        "everything succeeds": "completed",
        "a fails": "failed",
        "way goes to c": "completed",
        "b is skipped": "completed",
        "b fails": "compensated",
        "way goes to c, c fails": "completed",
        "way goes to c, c fails, d fails": "compensated",
    }
    assert (coverage.never_reached, coverage.is_cut) == ((), False)


def test_a_write_that_nothing_undoes_is_named() -> None:
    graph = {"p": {"type": "parallel", "branches": {"x": call("book"), "y": call("book", compensate=UNDO)}}}
    coverage = cover(a_plan({**graph, "a": call()}), {}, {})
    writes_left = {run.scenario.name: run.end.standing for run in coverage.runs}
    assert writes_left["p/x fails"] == ()
    assert writes_left["p/y fails"] == ("p/x",)


def test_the_items_of_a_foreach_have_samples_with_the_fields_of_their_compensation() -> None:
    each = {
        "type": "foreach",
        "items": "range(0, 2)",
        "as": "n",
        "step": call("book", compensate={"call": "drop", "args": {"id": "$each.id", "n": "$n"}}),
    }
    plan = a_plan({"each": each, "b": call("look", "each", args={"first": "$each.0.title"})})
    assert samples(plan)["each/*"] == {"title": "<each/*.title>", "id": "<each/*.id>"}
    failing = next(run for run in cover(plan, {}, {}).runs if run.scenario.name == "b fails")
    assert (failing.end.status, failing.end.standing) == ("compensated", ())


def test_a_node_that_no_run_reaches_is_named() -> None:
    back = {"type": "compensate", "steps": [{"call": "drop"}]}
    coverage = cover(a_plan({"a": call(), "back": back}), {}, {})
    assert coverage.never_reached == ("back",)


def test_the_first_item_fails_and_people_answer_with_samples() -> None:
    graph = {
        "ok": {
            "type": "yield",
            "message": "Go?",
            "expects": {"yes": "bool", "day": {"type": "str", "format": "date"}},
        },
        "each": {
            "type": "foreach",
            "depends_on": ["ok"],
            "items": "range(0, 2)",
            "as": "n",
            "step": call("pay"),
        },
    }
    plan = a_plan(graph)
    run = dry_run(plan, {}, {})
    assert isinstance(run.commands[0], AskPerson)
    failing = next(run for run in cover(plan, {}, {}).runs if run.scenario.name == "each/* fails")
    assert (failing.nodes["each/0"], failing.end.status) == ("failed", "failed")


def test_a_dry_run_uses_the_given_answers_of_a_person() -> None:
    graph = {
        "ask": {"type": "yield", "message": "Pay?", "expects": {"yes": "bool", "why": "str"}},
        "b": call("look", "ask", args={"yes": "$ask.yes", "why": "$ask.why"}),
    }
    run = dry_run(a_plan(graph), {}, {"ask": {"yes": False, "why": "costly"}})
    assert isinstance(run.commands[1], CallTool)
    assert run.commands[1].arguments == {"yes": False, "why": "costly"}


def test_samples_fit_waits_ranges_and_params() -> None:
    inner: dict[str, Any] = {
        "description": "Inner.",
        "params": {
            "day": {"type": "str", "format": "date", "required": True},
            "kind": {"type": "str", "enum": ["one", "two"], "required": True},
        },
        "graph": {"x": call("look", args={"day": "$day"})},
    }
    graph = {
        "a": call(),
        "w": {"type": "wait", "seconds": "$a.seconds", "depends_on": ["a"]},
        "u": {"type": "wait", "until": "$a.until", "depends_on": ["a"]},
        "sub": {"workflow": "inner", "args": {"day": "$a.day", "kind": "$a.kind"}, "depends_on": ["a"]},
        **{
            f"each{n}": {
                "type": "foreach",
                "items": items,
                "as": f"i{n}",
                "step": call(),
                "depends_on": ["a"],
            }
            for n, items in enumerate(
                [
                    "range($a.from, $a.to)",
                    "range($a.first, $a.first + $a.days days)",
                    "range(2030-01-01, $a.end)",
                ]
            )
        },
    }
    assert dry_run(a_plan(graph, inner=inner), {}, {}).end.status == "completed"


@given(graphs())
def test_every_path_through_any_workflow_ends(graph: dict[str, Any]) -> None:
    coverage = cover(a_plan(graph, **WORKFLOWS), {}, {})
    assert coverage.runs
