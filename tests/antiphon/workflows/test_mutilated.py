"""A valid file with parts taken out, exchanged or replaced ends in problems, never in an error; a file that stays valid compiles."""

import copy
import json
from collections.abc import Iterator
from typing import Any

from antiphon_shared.text.yaml_text import read_yaml
from antiphon_shared.workflows.form import read_file
from antiphon_shared.workflows.graph import compile_graph
from antiphon_shared.workflows.specification import Specification, canonical
from antiphon_shared.workflows.validate import problems_of
from hypothesis import given
from hypothesis import strategies as st

from antiphon.workflows.load import catalogue_of
from tests.antiphon.conftest import ROOT

TRAVEL = read_yaml((ROOT / "examples/travel/workflows.yaml").read_text()).value
CATALOGUE = catalogue_of(["examples.travel"])
ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        0,
        -1,
        1.5,
        2**62,
        "",
        "$",
        "${",
        "$$",
        "$nights",
        "$nights?",
        "$approval.approved",
        "$flights.0.flight",
    ),
    *(
        "range(0, 3)",
        "range($start, $day)",
        "1 < 2",
        "(",
        "has($x)",
        "book_trip",
        "rollback",
        "flights",
        "a/b",
        "\U0001f600",
    ),
    *(
        "SELECT * FROM flights",
        "SELECT",
        [],
        {},
        [[]],
        [None],
        ["flights"],
        {"": ""},
        {"call": "x"},
        {"type": "wait"},
    ),
    *(
        {"type": "branch", "on": [{"default": "approval"}]},
        {"workflow": "book_trip"},
        {"default": None},
        {"type": "object"},
    ),
    *(
        {"type": "foreach", "items": "$x", "as": "i", "step": {"call": "search_flights"}},
        {"fallback": "approval"},
    ),
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


PLACES = [path for path in places(TRAVEL) if path]
PARTS = [at(TRAVEL, path) for path in PLACES]


@st.composite
def mutilated(draw: st.DrawFn) -> Any:
    fields = copy.deepcopy(TRAVEL)
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(PLACES))
        try:
            around = at(fields, path[:-1])
            around[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
        if isinstance(around, str):
            continue
        match draw(st.sampled_from(["take", "odd", "part", "rename"])):
            case "take":
                del around[path[-1]]
            case "odd":
                around[path[-1]] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "part":
                around[path[-1]] = copy.deepcopy(draw(st.sampled_from(PARTS)))
            case "rename" if isinstance(around, dict):
                around[
                    draw(st.sampled_from(["approval", "x", "type", "when", "output", "as", "default"]))
                ] = around.pop(path[-1])
    return fields


@given(mutilated())
def test_a_mutilated_file_has_problems_or_compiles(fields: Any) -> None:
    file = read_file(json.dumps(fields, ensure_ascii=False), "f.json")
    if file.specification is None:
        assert file.problems
        assert all(one.position and one.message for one in file.problems)
        return
    found = [file.located(one) for one in problems_of(file.specification, CATALOGUE)]
    assert all(one.position and str(one) for one in found)
    if not [one for one in found if one.severity == "error"]:
        for name in file.specification.workflows:
            compile_graph(file.specification, name)
    assert Specification.model_validate_json(canonical(file.specification), strict=True) == file.specification
