"""Files that mean harm: each ends in a clear error, within bounds."""

from collections.abc import Callable

from antiphon_shared.workflows.form import read_file

from tests.antiphon.workflows.test_rows import problems_of_text
from tests.rows import each_row

HEAD = "domain: d\nversion: '1'\nworkflows:\n  w:\n    description: W\n    graph:\n"
_LEVELS = [
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]" for before, name in zip("abcd", "bcde", strict=True)
]


def in_graph(node: str) -> str:
    return f"{HEAD}      a: {node}\n"


def chained(count: int, times: int) -> str:
    """Return workflows of which each calls the next several times."""
    lines = ["domain: d", "version: '1'", "workflows:"]
    for n in range(count):
        calls = ", ".join(f"n{m}: {{workflow: w{n + 1}}}" for m in range(times))
        lines.append(f"  w{n}: {{description: W, graph: {{{calls}}}}}")
    return "\n".join([*lines, f"  w{count}: {{description: W, graph: {{a: {{call: look}}}}}}"])


HOSTILE: dict[str, tuple[Callable[[], str], str]] = {
    "a billion laughs": (lambda: "\n".join(["a: &a [1, 1]", *_LEVELS]), "the anchor &a is not supported"),
    "an alias": (lambda: in_graph("{call: *x}"), "there is no anchor &x"),
    "a tag that runs code": (lambda: in_graph("{call: !!python/object/apply:os.system [x]}"), "is not supported"),
    "a merge key": (lambda: in_graph("{<<: {call: look}}"), "it has none of `call`"),
    "deep nesting": (lambda: in_graph("[" * 100_000), "or 64 levels"),
    "deep arguments": (lambda: in_graph("{call: look, args: {x: " + "[" * 60 + "]" * 60 + "}}"), "or 64 levels"),
    "too many values": (lambda: in_graph("{call: look, args: {x: [" + "1," * 150_000 + "]}}"), "more than 100,000 values"),
    "more than 1 MB": (lambda: HEAD + "#" * 1_000_000, "more than 1,000,000 bytes"),
    "more than 1 MB of bytes": (lambda: HEAD + "# " + "é" * 600_000, "more than 1,000,000 bytes"),
    "a key twice": (lambda: in_graph("{call: look, call: find}"), "is repeated"),
    "a list as a key": (lambda: in_graph("{? [x] : y}"), "a key must be a text"),
    "two documents": (lambda: HEAD + "---\n", "a second document begins"),
    "a control character": (lambda: in_graph('{call: "\x00"}'), "not allowed"),
    "half a character": (lambda: in_graph("{call: '\ud800'}"), "lone surrogate"),
    "an empty file": (lambda: "", "it is empty"),
    "only null": (lambda: "null", "it is empty"),
    "a list": (lambda: "[]", "it should be an object"),
    "a long name": (lambda: HEAD + f"      {'a' * 65}: {{call: look}}\n", "is not a valid name"),
    "a name of other letters": (lambda: HEAD + "      \u0430: {call: look}\n", "is not a valid name"),
    "a name in quotes": (lambda: HEAD + "      'a\"; --': {call: look}\n", "is not a valid name"),
    "a name that is a path": (lambda: HEAD + "      a/b: {call: look}\n", "is not a valid name"),
    "a tool without a name": (lambda: in_graph("{call: ''}"), "there is no tool "),
    "a pattern that explodes": (
        lambda: in_graph("{call: look, when: '\"x\".matches(\"(a{1000}){1000}\")'}"), "linear time"),
    "a condition that is too long": (lambda: in_graph(f"{{call: look, when: '{'true || ' * 500}true'}}"), "at most 2000 characters"),
    "a condition that is too deep": (lambda: in_graph(f"{{call: look, when: '{'(' * 500}'}}"), "32 levels"),
    "a range without end": (
        lambda: in_graph("{type: foreach, items: 'range(-999999999999999999, 999999999999999999)', as: i, step: {call: look}}"),
        "1,999,999,999,999,999,998 items"),
    "the year 10000": (lambda: in_graph("{type: wait, until: '10000-01-01T00:00:00Z'}"), "is not a date-time"),
    "a huge number": (lambda: in_graph(f"{{call: look, args: {{x: {'9' * 5_000}}}}}"), "is not a 64-bit number"),
    "infinity": (lambda: in_graph("{call: look, timeout_s: 1e999}"), "is not a 64-bit number"),
    "workflows in a deep chain": (lambda: chained(500, 1), "workflows deep, more than the limit of 8"),
    "workflows that multiply": (lambda: chained(6, 10), "more than the limit of 10,000"),
    "workflows that multiply without end": (lambda: chained(500, 10), "more than the limit of 10,000"),
    "deep SQL": (lambda: in_graph(f"{{call: sql_query, args: {{sql: 'SELECT {'(' * 5_000}1'}}}}"), "sql:"),
    "long SQL": (lambda: in_graph(f"{{call: sql_query, args: {{sql: 'SELECT {'1,' * 20_000}1'}}}}"), "more than the limit of 20,000"),
    "SQL that writes in a WITH": (
        lambda: in_graph("{call: sql_query, args: {sql: 'WITH q AS (DELETE FROM a) SELECT * FROM q'}}"), "sql:"),
    "a deep schema": (
        lambda: in_graph("{type: reason, question: q, expects: " + "{items: " * 40 + "{}" + "}" * 40 + "}"), "more than 32 levels"),
}  # fmt: skip


@each_row(("text", "why"), HOSTILE.values(), ids=HOSTILE)
def test_harm_ends_in_a_clear_error(text: Callable[[], str], why: str) -> None:
    found = [str(one) for one in problems_of_text(text()) if one.severity == "error"]
    assert any(why in one for one in found), found[:3]
    assert all(len(one) < 2_000 for one in found)


def test_ten_thousand_nodes_pass_and_one_more_does_not() -> None:
    """Both consist of nested workflows, because one file may not contain so many nodes."""
    leaf = "leaf: {description: L, graph: {" + ", ".join(f"n{n}: {{call: look}}" for n in range(99)) + "}}"
    calls = ", ".join(f"n{n}: {{workflow: leaf}}" for n in range(100))
    head = f"domain: d\nversion: '1'\nworkflows:\n  {leaf}\n  w: {{description: W, graph: {{{calls}"
    assert problems_of_text(f"{head}}}}}") == []
    (problem,) = problems_of_text(f"{head}, more: {{call: look}}}}}}")
    assert problem.code == "too_large"
    assert "it has 10,001 nodes once sub-workflows are inlined" in str(problem)


def test_scalars_are_those_of_json() -> None:
    text = in_graph(
        "{call: look, args: {a: on, b: yes, c: 012, d: 2026-01-01, e: , f: 1:30, g: .inf, h: 1e2, i: ~, j: True}}"
    )
    specification = read_file(text, "f").specification
    assert specification is not None
    node = specification.workflows["w"].graph["a"]
    assert node.args == {  # type: ignore[union-attr]  # the node is a call
        "a": "on",
        "b": "yes",
        "c": "012",
        "d": "2026-01-01",
        "e": None,
        "f": "1:30",
        "g": ".inf",
        "h": 100.0,
        "i": "~",
        "j": "True",
    }


def test_every_fault_of_a_text_is_named_at_once() -> None:
    text = in_graph("{call: &x look, call: !t find}") + "      a: {call: 1e999}\n"
    assert [str(one).partition(" error: ")[0] for one in read_file(text, "f").problems] == [
        *("f:7:17:", "f:7:26:", "f:7:32:", "f:8:7:", "f:8:17:"),
    ]


def test_a_value_that_is_wrong_by_itself_hides_nothing_else() -> None:
    text = """domain: d
version: 1.0
workflows:
  w:
    params: { version: { type: int, example: [1] } }
    graph:
      a: { call: look, args: { x: $nope }, timeout_s: 0, on_error: { retry: 11, backoff: none } }
      b: { type: foreach, items: "range(0, 3)", as: i, max_iterations: 0, step: { call: look, args: { x: $gone } } }
"""
    codes = {(one.code, one.path[-1]) for one in problems_of_text(text)}
    assert codes >= {
        ("wrong_type", "version"),
        ("missing_key", "description"),
        ("greater_than", "timeout_s"),
        ("less_than_equal", "retry"),
        ("greater_than_equal", "max_iterations"),
        ("unknown_reference", "x"),
        ("unused", "version"),
    }


def test_a_name_that_is_also_a_key_is_not_a_slip() -> None:
    """If the param were missing, the reference to it would be a mistake too."""
    text = in_graph("{call: look, args: {x: $version}}").replace(
        "    graph:", "    params: {version: 3}\n    graph:"
    )
    assert [one.code for one in problems_of_text(text)] == ["model_type"]
