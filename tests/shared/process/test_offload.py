"""Work on large values, in a thread; small ones stay on the event loop."""

import threading
from typing import Any

import pytest
from antiphon_shared.process.offload import PARTS_MAX, in_pieces, is_large, json_of, json_up_to, offload
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_core import to_json

ROWS = [{"id": n, "name": f"row {n}", "tags": ["a", 'b"'], "none": None} for n in range(3_000)]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Model(BaseModel):
    rows: list[int]


async def thread_of(value: Any) -> str:
    return await offload(lambda _: threading.current_thread().name, value)


async def test_small_values_stay_on_the_event_loop_and_large_ones_do_not() -> None:
    here = threading.current_thread().name
    assert await thread_of({"id": 1}) == here
    assert await thread_of(ROWS) != here


async def test_an_exception_of_the_work_is_raised_in_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        await offload(lambda rows: len(rows) / 0, ROWS)


@pytest.mark.parametrize(
    "value",
    [
        ROWS,
        {"rows": ROWS},
        [[ROWS]],
        "x" * 100 * (PARTS_MAX + 1),
        Model(rows=list(range(PARTS_MAX + 1))),
        (1, ROWS),
    ],
)
def test_a_value_with_many_parts_or_long_texts_is_large(value: Any) -> None:
    assert is_large(value)


@pytest.mark.parametrize("value", [None, 1, "text", [1] * 100, {"a": {"b": ["c"] * 100}}, Model(rows=[1])])
def test_a_value_with_few_parts_is_small(value: Any) -> None:
    assert not is_large(value)


def test_a_recursive_value_is_large() -> None:
    circle: list[Any] = []
    circle.append(circle)
    assert is_large(circle)


@pytest.mark.parametrize(
    "value",
    [ROWS, {"rows": ROWS, "count": 3, 'k"ey': {"deep": [ROWS, "x"]}}, [ROWS], [], {}, ["a" * 300_000] * 3],
)
def test_json_in_pieces_is_the_same_json(value: Any) -> None:
    assert json_of(value) == to_json(value)


@given(JSON)
def test_json_of_anything_around_long_lists_is_the_same_json(value: Any) -> None:
    whole = {"before": value, "rows": [value] * 501 + [1] * PARTS_MAX, "after": value}
    assert json_of(whole) == to_json(whole)


def test_json_that_would_be_too_large_is_given_up() -> None:
    size = len(to_json(ROWS))
    assert json_up_to(ROWS, size) == to_json(ROWS)
    assert json_up_to(ROWS, size // 2) is None


def test_pieces_hold_all_parts() -> None:
    assert sum(in_pieces({"rows": ROWS}, lambda part: len(part) if isinstance(part, list) else 0)) == len(
        ROWS
    )
