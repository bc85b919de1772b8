"""References in texts: their syntax and their values."""

from typing import Any

import pytest
from antiphon_shared.workflows.references import (
    MalformedReference,
    NotText,
    Reference,
    ReferenceMissing,
    read_template,
    resolve,
)

from tests.rows import each_row

VALUES: dict[str, Any] = {
    "a": {"b": [1, {"c": "x"}], "n": 1.5, "none": None, "odd-key": 7, "7": "seven", "yes": True},
    "l": [1, 2, 3],
    "s": "héllo",
    "o": {"length": "own"},
}


@each_row(
    ("text", "value"),
    [
        ("$a.b", [1, {"c": "x"}]),
        ("$a.b.1.c", "x"),
        ("${a.odd-key}", 7),
        ("$a.7", "seven"),
        ("$a.none", None),
        ("$l.length", 3),
        ("$s.length", 5),
        ("$o.length", "own"),
        ("n=$a.n, $a.yes, $a.none", "n=1.5, true, null"),
        ("Dear $s.", "Dear héllo."),
        ("${s}s and $$s and $5 and $", "héllos and $s and $5 and $"),
        ("$${s}", "${s}"),
        ("$$$s", "$héllo"),
        ("$nobody?", None),
        ("$nobody?.x.y", None),
        ("Is it $s?", "Is it héllo?"),
        ("Is it ${nobody?}?", "Is it null?"),
        ("$ä", "$ä"),
        ({"k": ["$l.0", {"$s": "$s"}], "n": 3}, {"k": [1, {"$s": "héllo"}], "n": 3}),
    ],
)
def test_a_reference_alone_keeps_its_type_and_inside_text_is_text(text: Any, value: object) -> None:
    assert resolve(text, VALUES) == value


@each_row(
    ("text", "why"),
    [
        ("$nobody.x", "$nobody.x is missing: nothing named nobody has succeeded; there are a, l, s, o"),
        ("$a.x", "$a.x is missing: a has the keys b, n, none, odd-key, 7, yes"),
        ("$a?.x", "$a?.x is missing: a has the keys b, n, none, odd-key, 7, yes"),
        ("$l.3", "$l.3 is missing: l is a list of 3"),
        ("$l.x", "$l.x is missing: l is a list of 3"),
        ("$a.n.x", "$a.n.x is missing: a.n is 1.5"),
        ("$s.x", "$s.x is missing: s is a text"),
        ("$a.none.x", "$a.none.x is missing: a.none is null"),
    ],
)
def test_a_missing_path_names_the_available_values(text: str, why: str) -> None:
    with pytest.raises(ReferenceMissing) as missing:
        resolve(f"{text}", VALUES)
    assert str(missing.value) == why


def test_a_list_inside_text_is_refused() -> None:
    with pytest.raises(NotText, match="is a list and is inside a text"):
        resolve("all: $l", VALUES)


@pytest.mark.parametrize("text", ["${", "${a", "${a b}", "${1}", "x ${a..b}", "${a.}"])
def test_a_brace_that_begins_no_reference_is_an_error(text: str) -> None:
    with pytest.raises(MalformedReference, match=r"write \$\{name.path\}"):
        read_template(text)


def test_a_read_reference_is_written_back() -> None:
    for text in ("$a", "$a.b.0", "$a?.b", "${a.odd-key}"):
        (reference,) = read_template(text).references
        assert str(reference) == text
    assert read_template("$a.007").references == (Reference("a", ("007",)),)


def test_a_long_text_of_dollars_is_read_in_passing() -> None:
    assert resolve("$" * 200_000, {}) == "$" * 100_000
