"""Conditions: CEL's meaning, within bounds."""

from typing import Any

import pytest
from antiphon_shared.workflows.condition import ConditionFailed, is_true
from antiphon_shared.workflows.condition_syntax import read_condition, variables
from antiphon_shared.workflows.condition_tokens import ConditionSyntax
from antiphon_shared.workflows.references import Reference, ReferenceMissing

from tests.rows import each_row

VALUES: dict[str, Any] = {
    "a": {"b": 1, "s": "hello", "l": [1, 2.0, "x"], "t": True, "none": None},
    "f": 2.5,
    "long": "a" * 100_000 + "b",
    "big": 2**63 - 1,
    "deep": [[[[1]]]],
}


@each_row(
    "text",
    [
        "$a.b == 1 && $a.b == 1.0 && $a.b != true && $a.b < 1.5",
        "1 + 1.5 == $f",
        '!("2" == 2)',
        "[1, [2]] == [1.0, [2]] && $deep == [[[[1.0]]]] && $a == $a",
        "-7 / 2 == -3 && -7 % 2 == -1 && 7 % -2 == 1 && 7.5 % 2 == 1.5",
        "2 + 3 * 4 == 14 && (2 + 3) * 4 == 20 && 10 - 3 - 2 == 5",
        "0x10 == 16 && 1e2 == 100.0",
        '$a.s.startsWith("he") && endsWith($a.s, "lo") && $a.s.contains("ell")',
        '$a.s.matches("^h.*o$") && "x7".matches(r"\\d") && !$a.s.matches("z")',
        '!$long.matches("^(a|a)*$")',
        'size($a.l) == 3 && $a.l.size() == 3 && $a.l.length == 3 && size("é") == 1',
        '2.0 in $a.l && "b" in $a && !("z" in $a) && !(true in [1]) && !(1 in $a)',
        'has($a.none) && !has($a.x) && !has($nobody) && !has($nobody?.x) && has($a["b"]) && !has($a["l"][9])',
        "$nobody.x || true",
        "!($nobody.x && false)",
        "1 / 0 == 1 || 1 < 2",
        "true ? $a.t : $nobody",
        "$nobody? == null && $nobody?.x == null",
        '$a["l"][0] == 1 && $a.l[0] == 1',
        "'it\\'s' == \"it's\" && '\\u0041' == 'A'",
        "false < true && 'a' < 'b' && 1 <= 1.0",
        "${a.b} == 1",
        "true" + " && true" * 150,
    ],
)  # fmt: skip
def test_a_true_condition_is_true(text: str) -> None:
    assert is_true(text, VALUES) is True


@each_row(
    ("text", "why"),
    [
        ('"2" > 1', 'not "2" (str) and 1 (int)'),
        ("$a.none < 1", "two numbers, two texts or two bools"),
        ("true + 1 == 2", "+ takes numbers, not true"),
        ("1", "the condition is 1, and must be true or false"),
        ("$a.s", 'the condition is "hello"'),
        ("1 && true", "&& takes true or false, not 1"),
        ("!1", "! takes true or false"),
        ("1 / 0 == 1", "1 / 0 has no value"),
        ("1.0 / 0 == 1", "1.0 / 0 has no value"),
        ("$big + 1 > 0", "not a 64-bit number"),
        ("1e308 * 10 > 0", "not a 64-bit number"),
        ('"x" in "xyz"', "contains()"),
        ("$a.l[5] == 1", "no item 5 in a list of 3"),
        ("$a.l[-1] == 1", "no item -1"),
        ('$a["x"] == 1', 'there is no key "x"'),
        ("size(1) == 1", "size() of int has no value"),
        ('$a.b.contains("x")', "contains() takes two texts"),
        ('$a.s.matches("(?=a)")', "linear time"),
        ('$a.s.matches("(a{1000}){1000}")', "large repetitions"),
        ("1 ? true : false", "? takes true or false"),
    ],
)
def test_a_condition_without_a_value_fails_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ConditionFailed) as failed:
        is_true(text, VALUES)
    assert why in str(failed.value)


def test_a_condition_with_a_missing_reference_fails() -> None:
    with pytest.raises(ReferenceMissing, match="nothing named nobody"):
        is_true("$nobody.x == 1 && true", VALUES)


@each_row(
    ("text", "why"),
    [
        ("", "a value is missing (character 1)"),
        ("a == 1", "$a for a reference (character 1)"),
        ("$a.b ==", "a value is missing (character 8)"),
        ("((1)", "')' is expected"),
        ("1 2", "'2' is not expected"),
        ("1 = 2", "'= 2' cannot be read"),
        ("$", "after $ comes a name"),
        ("$flag?1:2", "is not expected"),
        ("[1].map(x, x)", "there is no function map"),
        ("$a.all(x, x > 1)", "there is no function all"),
        ("string(1) == '1'", "there is no function string"),
        ("has(1)", "has() takes a reference"),
        ("size()", "size takes 1 values, not 0"),
        ('$a.contains("x", "y")', "contains takes 1 values, not 2"),
        ("99999999999999999999 > 1", "more than 64 bits"),
        (r"'\x' == 'a'", "there is no escape"),
        ("(" * 100 + "1" + ")" * 100, "more than 32 levels"),
        ("[" * 100, "more than 32 levels"),
        ("!" * 1_000 + "true", "more than 32 levels"),
        ("-" * 1_000 + "1", "more than 32 levels"),
        ("1" + "+1" * 100, "more than 32 levels"),
        ("$a" + "[0]" * 100, "more than 32 levels"),
        ("true ? " * 100 + "true", "more than 32 levels"),
        ("true || " * 1_000, "2,000"),
        ("__import__('os')", "there is no function __import__"),
        ("'unclosed", "cannot be read"),
    ],
)
def test_an_invalid_condition_is_refused_with_its_position(text: str, why: str) -> None:
    with pytest.raises(ConditionSyntax) as refused:
        read_condition(text)
    assert why in str(refused.value)


def test_every_reference_of_a_condition_is_listed() -> None:
    found = variables(read_condition("has($a.b) && ($c ? $d[$e] : [$f][0]) && $g.startsWith('x') && -$h < 1"))
    assert [(reference.name, is_asked) for reference, is_asked in found] == [
        ("a", True),
        *((name, False) for name in "cdefgh"),
    ]
    assert found[0][0] == Reference("a", ("b",))
