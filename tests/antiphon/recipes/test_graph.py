"""The calls that become nodes, and the dependencies of each."""

import pytest

from antiphon.recipes.chain import NotLearnable
from antiphon.recipes.learn import differences, learn
from antiphon.workflows import Specification, build
from tests.antiphon.recipes.chains import a_call, a_chain, a_tool, args_of, edges_of, learned, params_of


def test_reads_of_one_round_stay_parallel_and_a_write_follows_them() -> None:
    made = learned(
        "Go.",
        a_call("a", {}, {"id": "A-17"}, 1, is_cited=True),
        a_call("b", {}, {"id": "B-17"}, 1, is_cited=True),
        a_call("c", {"of": "A-17"}, {}, 2, is_cited=True),
        a_call("d", {}, {}, 3, effect="write"),
    )
    assert edges_of(made) == {"a": [], "b": [], "c": ["a"], "d": ["b", "c"]}


def test_writes_keep_their_order_and_later_reads_follow_them() -> None:
    made = learned(
        "Go.",
        a_call("a", {}, {}, 1, effect="write"),
        a_call("b", {}, {}, 2, effect="write"),
        a_call("look", {}, {}, 3, is_cited=True),
        a_call("c", {}, {}, 4, effect="write"),
    )
    assert edges_of(made) == {"a": [], "b": ["a"], "look": ["b"], "c": ["look"]}


def test_writes_of_one_round_stay_parallel_unless_their_contract_is_sequential() -> None:
    for mode, expected in (("parallel-safe", []), ("sequential-only", ["put"])):
        tool = a_tool("put", "write", mode=mode)
        made = learned("Go.", a_call(tool, {"x": 1}, {}, 1), a_call(tool, {"x": 2}, {}, 1))
        assert edges_of(made) == {"put": [], "put_2": expected}


def test_a_dependency_of_the_contract_is_an_edge() -> None:
    later = a_tool("pay", "write", mode="dependent", depends_on=[{"tool": "quote"}])
    made = learned("Go.", a_call("quote", {}, {}, 1, is_cited=True), a_call(later, {}, {}, 1))
    assert edges_of(made) == {"quote": [], "pay": ["quote"]}


def test_an_unused_read_is_left_out() -> None:
    made = learned(
        "Go.",
        a_call("a", {}, {"id": "A-17"}, 1),
        a_call("unused", {}, {"id": "Z-99"}, 1),
        a_call("b", {"id": "A-17"}, {}, 2, effect="write"),
    )
    assert [*args_of(made)] == ["a", "b"]
    assert made.left_out == (("unused", "its result was not used"),)


def test_a_deliberately_repeated_write_is_made_twice() -> None:
    call = a_call("put", {"x": "same"}, {}, 1, effect="write")
    again = a_call("put", {"x": "same"}, {}, 2, effect="write")
    assert edges_of(learned("Go.", call, again)) == {"put": [], "put_2": ["put"]}


def test_constant_arguments_are_listed() -> None:
    made = learned("Go.", a_call("put", {"x": "fixed", "y": {"z": [1]}}, {}, 1, effect="write"))
    assert made.fixed == (("put", "x", "fixed"), ("put", "y", 1))


def test_names_of_nodes_and_params_never_clash() -> None:
    made = learned(
        "Put place into Lisbon.",
        a_call("find-it", {"find_it": "place"}, {}, 1, is_cited=True),
        a_call("2nd", {"find_it": "Lisbon"}, {}, 2, effect="write"),
    )
    assert [*args_of(made)] == ["find_it", "_2nd"]
    assert [*params_of(made)] == ["find_it_2", "find_it_3"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"x": "half a \ud800"}, "not valid"),
        ({"x": "a" * 1_100_000}, "it cannot be written as a workflow file"),
        ({"x": 2**70}, "it cannot be written as a workflow file"),
    ],
    ids=["surrogate", "large", "number"],
)
def test_a_value_that_a_file_cannot_hold_is_refused(arguments: dict[str, object], why: str) -> None:
    with pytest.raises(NotLearnable, match=why):
        learned("Go.", a_call("put", arguments, {}, 1, effect="write"))


def test_a_session_without_writes_is_learned_from_its_cited_calls() -> None:
    made = learned("Go.", a_call("a", {}, {}, 1), a_call("b", {}, {}, 1, is_cited=True))
    assert [*args_of(made)] == ["b"]
    with pytest.raises(NotLearnable, match="contributed to the answer"):
        learned("Go.", a_call("a", {}, {}, 1))


def test_a_huge_result_is_searched_in_passing() -> None:
    rows = [{"id": f"row-{n}", "n": n} for n in range(50_000)]
    made = learned(
        "Go.", a_call("a", {}, {"rows": rows}, 1), a_call("b", {"id": "row-49999"}, {}, 2, effect="write")
    )
    assert args_of(made)["b"] == {"id": "$a.rows.49999.id"}


def a_workflow(**graph: dict[str, object]) -> Specification:
    return build({"domain": "d", "version": "1", "workflows": {"w": {"description": "W", "graph": graph}}})


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"a": {"call": "a"}}, ["b is not called"]),
        (
            {"a": {"call": "a"}, "b": {"call": "b", "args": {"id": "other"}, "depends_on": ["a"]}},
            ['b is called with {"id":"other"} instead of {"id":"A-17"}'],
        ),
        ({"a": {"call": "a"}, "b": {"call": "c", "depends_on": ["a"]}}, ["b calls c instead of b"]),
        (
            {"b": {"call": "b", "args": {"id": "A-17"}}, "a": {"call": "a", "depends_on": ["b"]}},
            ["b is called before a"],
        ),
        (
            {
                "a": {"call": "a"},
                "b": {"call": "b", "args": {"id": "$a.id"}, "depends_on": ["a"]},
                "x": {"call": "x"},
            },
            ["x is called, but was not called in the session"],
        ),
        ({"a": {"call": "a"}, "b": {"call": "b", "args": {"id": "$a.id"}, "depends_on": ["a"]}}, []),
    ],
)
def test_the_check_names_every_difference_of_a_workflow_from_its_sessions(
    graph: dict[str, dict[str, object]], expected: list[str]
) -> None:
    made = {
        "a": a_call("a", {}, {"id": "A-17"}, 1),
        "b": a_call("b", {"id": "A-17"}, {}, 2, effect="write"),
    }
    assert [*differences(a_workflow(**graph), "w", made, {})] == expected


def test_the_description_names_params_instead_of_values() -> None:
    made = learned("Fly to Lisbon\nand stay.", a_call("book", {"to": "Lisbon"}, {}, 1, effect="write"))
    workflow = made.recipe.workflow
    assert workflow.description == "Fly to <to> and stay."


def test_sessions_whose_detours_differ_share_a_recipe() -> None:
    book = a_call("book", {"x": 1}, {}, 3, effect="write")
    detour = a_call("look", {}, {}, 1)
    both = [a_chain("Go.", detour, book), a_chain("Go.", book, session_id="s2")]
    assert [*args_of(learn(both, "w"))] == ["book"]
