"""Oversized results: the shown part is a true beginning, fits, and explains how to read on."""

import re
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic_core import from_json, to_json

from tool_dispatcher.results.oversize import fit_data, read_part

BYTES_MAX = 1_000
HANDLE = "r/1/c1"
RECORDS = [{"id": n, "title": f"Lesson {n}", "text": "é" * 40} for n in range(100)]
PROSE = "One sentence here. Another one there.\nA new line.\n\n" * 100


def shown(data: Any, bytes_max: int = BYTES_MAX) -> Any:
    """Return the shown part of a value that does not fit, which is stored whole."""
    fitted = fit_data(data, bytes_max, HANDLE)
    assert fitted.whole is not None
    assert from_json(fitted.whole) == data
    assert len(to_json(fitted.data)) <= bytes_max
    return fitted.data


def start_in(note: str) -> int:
    """Return the position at which the note tells `read_result` to continue."""
    found = re.search(rf'read_result\(handle="{HANDLE}", start=(\d+)\) reads on\.', note)
    assert found is not None, note
    return int(found[1])


def rest_of(data: Any, note: str) -> str:
    return str(read_part(to_json(data), start_in(note), 10**9, 10**9)["text"])


def parted(text: str) -> tuple[str, str]:
    beginning, _, note = text.rpartition("\n\n[Shown: ")
    return beginning, note


@pytest.mark.parametrize(
    "data", ["text", [1, 2], {"a": None}, None, "x" * (BYTES_MAX - 2), ["x" * (BYTES_MAX - 4)]]
)
def test_data_that_fits_is_shown_unchanged(data: Any) -> None:
    fitted = fit_data(data, BYTES_MAX, HANDLE)
    assert fitted.data is data
    assert fitted.whole is None


def test_text_is_cut_where_a_paragraph_ends() -> None:
    beginning, note = parted(shown(PROSE))
    assert beginning.endswith("A new line.\n\n")
    assert beginning + rest_of(PROSE, note) == PROSE
    assert note == (
        f"the first {len(beginning)} of {len(PROSE)} characters. "
        f'read_result(handle="{HANDLE}", start={len(beginning)}) reads on.]'
    )


def test_text_without_a_sensible_break_is_cut_at_the_bound() -> None:
    for letter in ("x", "é", "😀", '"', "\n"):
        beginning, note = parted(shown(letter * 5_000))
        assert set(beginning) == {letter}
        assert len(to_json(beginning)) > 0.8 * BYTES_MAX
        assert beginning + rest_of(letter * 5_000, note) == letter * 5_000


def test_a_shortened_list_of_records_keeps_its_first_items_and_stays_a_list() -> None:
    *kept, last = shown(RECORDS)
    assert len(kept) > 5
    assert kept == RECORDS[: len(kept)]
    assert last["note"].startswith(f"Shown: the first {len(kept)} of 100 items. read_result(")
    rest = rest_of(RECORDS, last["note"])
    assert from_json(f"[{rest}") == RECORDS[len(kept) :]


@pytest.mark.parametrize("content", [PROSE, {"é": RECORDS}, RECORDS])
def test_the_one_item_of_a_list_within_is_looked_into(content: Any) -> None:
    data = {"id": "F1", "parts": [{"position": "$", "content": content}]}
    cut = shown(data)
    (part,) = cut["parts"]
    kept, whole = part["content"], content
    if isinstance(content, dict):
        kept, whole = kept["é"], content["é"]
    assert 0 < len(kept) < len(whole)
    assert kept == whole[: len(kept)]
    assert f'of "parts.0.content{".é" if isinstance(content, dict) else ""}". ' in cut["note"]
    everything = to_json(data).decode()
    rest = rest_of(data, cut["note"])
    assert everything.endswith(rest)
    assert everything.removesuffix(rest).rstrip(",").endswith(to_json(kept[-1:]).decode()[1:-1])


def test_a_list_of_texts_or_numbers_ends_with_a_text() -> None:
    for items in (["some words"] * 500, list(range(1_000))):
        *kept, note = shown(items)
        assert kept == items[: len(kept)]
        assert from_json(f"[{rest_of(items, note)}") == items[len(kept) :]


@pytest.mark.parametrize("key", ["documents", "a.b", 'odd "key"', "é"])
def test_an_object_around_one_long_list_keeps_its_shape(key: str) -> None:
    data = {"total": 100, "query": "ünïcödé", key: RECORDS, "next": {"page": 2}, "note": "mine"}
    cut = shown(data)
    assert list(cut) == [*data, "_note"]
    kept = cut[key]
    assert 0 < len(kept) < 100
    assert cut == {**data, key: RECORDS[: len(kept)], "_note": cut["_note"]}
    assert f'the first {len(kept)} of 100 items of "{key}".' in cut["_note"]
    assert rest_of(data, cut["_note"]).startswith(to_json(RECORDS[len(kept)]).decode())


def test_a_nested_long_list_is_shortened() -> None:
    data = {"status": "ok", "data": {"took_ms": 3, "hits": RECORDS}}
    cut = shown(data)
    kept = cut["data"]["hits"]
    assert cut == {"status": "ok", "data": {"took_ms": 3, "hits": RECORDS[: len(kept)]}, "note": cut["note"]}
    assert f'the first {len(kept)} of 100 items of "data.hits".' in cut["note"]
    assert rest_of(data, cut["note"]).startswith(to_json(RECORDS[len(kept)]).decode())


def test_an_object_around_one_long_text_keeps_its_shape() -> None:
    data = {"id": 7, "text": PROSE, "language": "en"}
    cut = shown(data)
    assert PROSE.startswith(cut["text"])
    assert cut == {**data, "text": cut["text"], "note": cut["note"]}
    escaped = to_json(PROSE[len(cut["text"]) :]).decode()[1:-1]
    assert rest_of(data, cut["note"]).startswith(escaped)


@pytest.mark.parametrize(
    "data",
    [
        {str(n): {"name": "x" * 20} for n in range(200)},
        [{"text": "x" * 5_000}],
        {"first": RECORDS, "second": RECORDS},
        {"beside": list(range(1_000)), "list": [[{"a": 1}] * 500] * 3},
        [[["x" * 3_000]]],
    ],
)
def test_anything_else_is_shown_as_the_beginning_of_its_json(data: Any) -> None:
    cut = shown(data)
    beginning, note = parted(cut)
    assert "characters of its JSON. read_result(" in note
    assert from_json(beginning + rest_of(data, note)) == data
    assert len(to_json(cut)) > 0.7 * BYTES_MAX


def test_a_tiny_bound_is_still_respected() -> None:
    for bytes_max in (2, 3, 30, 100, 150):
        for data in (PROSE, RECORDS, {"a": RECORDS}):
            shown(data, bytes_max)


def test_data_outside_json_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates"):
        fit_data("\ud800", BYTES_MAX, HANDLE)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=20), inner),
    max_leaves=60,
)


@given(JSON, st.integers(300, 600))
def test_shown_data_fits_and_the_whole_can_be_restored(data: Any, bytes_max: int) -> None:
    fitted = fit_data(data, bytes_max, HANDLE)
    assert len(to_json(fitted.data)) <= bytes_max
    assert (from_json(fitted.whole) if fitted.whole else fitted.data) == data


@given(st.lists(JSON, min_size=1), st.integers(400, 800))
def test_the_first_items_or_characters_of_a_list_are_shown(items: list[Any], bytes_max: int) -> None:
    data = items * (bytes_max // len(to_json(items)) + 1)
    while len(to_json(data)) <= bytes_max:  # each repetition has two brackets fewer
        data += items
    cut = shown(data, bytes_max)
    if isinstance(cut, str):
        beginning, note = parted(cut)
        assert beginning + rest_of(data, note) == to_json(data).decode()
    else:
        note = cut[-1]["note"] if isinstance(cut[-1], dict) else cut[-1]
        assert cut[:-1] == data[: len(cut) - 1]
        assert from_json(f"[{rest_of(data, note)}") == data[len(cut) - 1 :]


@given(st.text(min_size=500, max_size=3_000), st.integers(200, 500))
def test_the_beginning_of_a_text_is_shown_and_the_rest_can_be_read(text: str, bytes_max: int) -> None:
    assume(len(to_json(text)) > bytes_max)
    beginning, note = parted(shown(text, bytes_max))
    assert beginning
    assert beginning + rest_of(text, note) == text


class TestReadPart:
    def test_a_part_states_its_position(self) -> None:
        assert read_part(to_json("abcdefghij"), 3, 4, 1_000) == {
            "text": "defg",
            "start": 3,
            "end": 7,
            "total_characters": 10,
        }

    def test_data_other_than_text_is_read_as_its_json(self) -> None:
        assert read_part(to_json({"a": [1, "é"]}), 0, 100, 1_000)["text"] == '{"a":[1,"é"]}'

    @pytest.mark.parametrize(
        ("start", "length", "text", "at"),
        [
            (8, 100, "ij", (8, 10)),
            (10, 5, "", (10, 10)),
            (99, 5, "", (10, 10)),
            (-5, 2, "ab", (0, 2)),
            (3, -1, "", (3, 3)),
        ],
    )
    def test_a_range_beyond_the_ends_is_clipped_to_them(
        self, start: int, length: int, text: str, at: tuple[int, int]
    ) -> None:
        part = read_part(to_json("abcdefghij"), start, length, 1_000)
        assert (part["text"], part["start"], part["end"]) == (text, *at)

    @given(JSON, st.integers(1, 50), st.integers(100, 300))
    def test_read_part_by_part_it_is_the_whole(self, data: Any, length: int, bytes_max: int) -> None:
        whole, parts = to_json(data), []
        end, total = 0, 1
        while end < total:
            part: Any = read_part(whole, end, length, bytes_max)
            assert len(to_json(part)) <= bytes_max
            assert part["end"] > end or part["total_characters"] == 0
            parts.append(part["text"])
            end, total = part["end"], part["total_characters"]
        assert "".join(parts) == (data if isinstance(data, str) else whole.decode())
