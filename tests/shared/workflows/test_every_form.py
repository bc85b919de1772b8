"""The reading of every form of a condition, a reference and a range: every_form.json.

After an intended change, run `python -m tests.shared.workflows.test_every_form`, and review the output.
"""

from pathlib import Path
from typing import Any

from antiphon_shared.workflows import condition, condition_syntax, condition_tokens, items, references

from tests.kept_forms import Reader, differences, readers_of, write
from tests.rows import each_row

KEPT = Path(__file__).with_name("every_form.json")
_VALUES: dict[str, Any] = {"a": 1, "b": "text", "c": [1, 2], "d": {"e": None}, "f": True}
_CONDITIONS = (
    *(
        f"{left} {sign} {right}"
        for left in ("$a", "$b", "$c")
        for sign in ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or")
        for right in ("1", "2", "'text'", "$c", "true", "null")
    ),
    *(
        "not $f",
        "not not $f",
        "($a == 1)",
        "exists($a)",
        "exists($x)",
        "$x",
        "$d.e",
        "$d.x",
        "$c.0",
        "$c.9",
        "len($c) == 2",
        "$b matches 't.*'",
        "$b =~ 't'",
    ),
)
_SYNTAX = (condition, condition_syntax, condition_tokens, references)


def _is_true(text: str) -> bool:
    return condition.is_true(text, _VALUES)


READERS = (
    Reader("tokens", condition_tokens.tokens, _SYNTAX, _CONDITIONS),
    Reader("read_condition", condition_syntax.read_condition, _SYNTAX, _CONDITIONS),
    Reader("is_true", _is_true, _SYNTAX, _CONDITIONS),
    Reader("resolve", lambda text: references.resolve(text, _VALUES), (references,), _CONDITIONS),
    Reader(
        "resolve_items",
        lambda text: items.resolve_items(text, _VALUES, 3),
        (items, references),
        ("$c", "$a", "range(0, 3)", "range(0, 4)", "range(2, 1)", "range($a, 3)", "range($b, 3)"),
    ),
    *readers_of(condition, "check_pattern"),
    *readers_of(references, "read_template"),
    *readers_of(items, "read_items"),
)


@each_row("reader", READERS, ids=str)
def test_the_reading_of_every_form_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
