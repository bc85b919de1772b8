"""Every error that a workflow file can have, one per row: the fault, its position, and the text of the error."""

import textwrap

from antiphon_shared.tools.calls import Catalogue, ToolDefinition
from antiphon_shared.tools.contract import CONTRACT_KEYWORD
from antiphon_shared.workflows.form import read_file
from antiphon_shared.workflows.problem import Problem
from antiphon_shared.workflows.validate import problems_of

from tests.rows import each_row


def a_tool(
    name: str, effect: str = "read", required: tuple[str, ...] = (), **properties: object
) -> ToolDefinition:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }
    return ToolDefinition.model_validate(
        {"name": name, "description": name, "input_schema": schema, "effect": effect}
    )


FILTERS = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["room", "seat"]},
        "days": {"type": "array", "items": {"type": "integer", "maximum": 9}},
    },
}
LATER = a_tool("later").model_copy(
    update={
        "input_schema": {
            "type": "object",
            "properties": {},
            CONTRACT_KEYWORD: {"depends_on": [{"tool": "find"}]},
        }
    }
)
CATALOGUE = Catalogue(
    tools=(
        a_tool("look"),
        a_tool(
            "find", required=("place",), place={"type": "string"}, count={"type": "integer", "maximum": 9}
        ),
        a_tool("book", "write", filters=FILTERS),
        LATER,
    )
)


def problems_in(graph: str, *, params: str = "{}", more: str = "", rest: str = "") -> list[Problem]:
    """Return the problems of one workflow: its graph, its params, further keys of it, further workflows."""
    text = f"domain: d\nversion: '1'\nworkflows:\n  w:\n    description: W\n    params: {params}\n"
    text += f"    graph:\n{textwrap.indent(textwrap.dedent(graph).strip(), ' ' * 6)}\n"
    text += textwrap.indent(textwrap.dedent(more).strip(), " " * 4) + "\n"
    text += textwrap.indent(textwrap.dedent(rest).strip(), " " * 2)
    return problems_of_text(text)


def problems_of_text(text: str) -> list[Problem]:
    file = read_file(text, "f.yaml")
    of_meaning = problems_of(file.specification, CATALOGUE) if file.specification else ()
    return [*file.problems, *map(file.located, of_meaning)]


SUB = """
sub:
  description: S
  params: {n: {type: int, required: true}, f: {type: float}}
  graph: {a: {call: look, when: $n > 1 || $f > 1}}
"""
SHAPED = "shaped: {description: S, graph: {n: {call: look}}, output: {r: $n}}\n"
ASKS = "asks: {description: A, graph: {y: {type: yield, message: m, expects: {ok: bool}}}}"

ROWS = [
    # The form of a node.
    ("a: {}", "node_kind", "graph.a", "it has none of `call`, `workflow` and `type`. Give exactly one"),
    ("a: {call: look, type: wait}", "node_kind", "graph.a", "it has call and type"),
    ("a: {type: brnch}", "unknown_type", "graph.a.type", "there is no type 'brnch' here. Did you mean branch?"),
    ("a: look", "wrong_type", "graph.a", "a node is an object"),
    ("a: ", "wrong_type", "graph.a", "a node is an object"),
    ("a: {call: look, arguments: {}}", "unknown_key", "graph.a.arguments", "there is no such key"),
    ("a: {call: look, depend_on: []}", "unknown_key", "graph.a.depend_on", "Did you mean depends_on?"),
    ("a: {call: 12}", "wrong_type", "graph.a.call", "12 is not text. Put it in quotes"),
    ("a: {call: }", "wrong_type", "graph.a.call", "the value is missing"),
    ("a: {call: look, depends_on: b}", "tuple_type", "graph.a.depends_on", "it should be a valid array"),
    ("1a: {call: look}", "bad_name", "graph.1a", "'1a' is not a valid name"),
    ("é: {call: look}", "bad_name", "graph.é", "'é' is not a valid name"),
    ('"a b": {call: look}', "bad_name", "graph.a b", "'a b' is not a valid name"),
    ("a: {call: look, on_error: {retry: 11}}", "less_than_equal", "graph.a.on_error.retry", "less than or equal to 10"),
    ("a: {call: look, on_error: {backof: fixed}}", "unknown_key", "graph.a.on_error.backof", "Did you mean backoff?"),
    ("a: {call: look, timeout_s: 0}", "greater_than", "graph.a.timeout_s", "greater than 0"),
    ("a: {type: error}", "missing_key", "graph.a.message", "message is missing"),
    ("a: {type: error, message: m, output: x}", "unknown_key", "graph.a.output", "there is no such key"),
    ("a: {type: branch, on: []}", "too_short", "graph.a.on", "at least 1 item"),
    ("a: {type: yield, message: m, expects: {ok: boolean}}", "literal_error", "graph.a.expects.ok", "'bool'"),
    ("a: {type: yield, message: m, expects: {}}", "too_short", "graph.a.expects", "at least 1 item"),
    ("a: {type: reason, question: q, expects: {enum: []}}", "value_error", "graph.a.expects", "no value satisfies it"),
    ("a: {type: parallel, branches: {b: {type: wait, seconds: 1}}}", "unknown_type", "graph.a.branches.b.type", "There are: reason"),
    ("a: {type: foreach, items: $p, as: i, step: {type: yield}}", "unknown_type", "graph.a.step.type", "no type 'yield' here"),
    # The rules between the keys of a node.
    ("a: {type: wait}", "wait", "graph.a", "either seconds or until"),
    ("a: {type: wait, seconds: 1, until: $p}", "wait", "graph.a", "exactly one of them"),
    ("a: {type: wait, seconds: ten}", "wait", "graph.a.seconds", "'ten' is not a number or one reference"),
    ("a: {type: wait, until: 10000-01-01T00:00:00Z}", "wait", "graph.a.until", "is not a date-time"),
    ("a: {type: yield, message: m, expects: {ok: bool}, on_error: {retry: 1}}", "retry", "graph.a.on_error.retry", "only calls are retried"),
    ("a: {type: branch, on: [{default: b}, {when: 'true', goto: b}]}\nb: {call: look}", "default_not_last", "graph.a.on.0", "Put it last"),
    ("a: {type: branch, on: [{default: b, goto: b}]}\nb: {call: look}", "unknown_key", "graph.a.on.0.default", "there is no such key"),
    ("a: {type: parallel, branches: {b: {call: look, depends_on: [c]}}}\nc: {call: look}", "inner_edge", "graph.a.branches.b.depends_on", "begins with it"),
    ("a: {type: parallel, branches: {b: {call: look, on_error: {fallback: c}}}}\nc: {call: look}", "inner_edge", "graph.a.branches.b.on_error.fallback", "on_partial_failure"),
    ("a: {type: foreach, items: $p, as: i, step: {call: look, output: x}}", "step_output", "graph.a.step.output", "Put it on the foreach"),
    ("a: {type: parallel, on_partial_failure: rollback_all, branches: {b: {call: look}}}", "nothing_to_roll_back", "graph.a.on_partial_failure", "no compensate node named rollback_all"),
    # Edges.
    ("a: {call: look, depends_on: [bb]}\nb: {call: look}", "unknown_node", "graph.a.depends_on.0", "there is no node bb. Did you mean b?"),
    ("a: {type: branch, on: [{default: bb}]}\nb: {call: look}", "unknown_node", "graph.a.on.0.goto", "there is no node bb"),
    ("a: {call: look, on_error: {fallback: c}}", "unknown_node", "graph.a.on_error.fallback", "there is no node c"),
    ("a: {type: parallel, on_partial_failure: stop, branches: {b: {call: look}}}", "unknown_node", "graph.a.on_partial_failure", "There are: abort, continue, rollback_all"),
    ("a: {type: parallel, on_partial_failure: c, branches: {b: {call: look}}}\nc: {call: look}", "not_compensate", "graph.a.on_partial_failure", "c is not a compensate node"),
    ("a: {call: look, depends_on: [b]}\nb: {call: look, depends_on: [a]}", "cycle", "graph.a.depends_on", "a -> b -> a"),
    ("a: {call: look, depends_on: [a]}", "cycle", "graph.a.depends_on", "a -> a"),
    ("a: {call: look}\nb: {type: branch, depends_on: [a], on: [{default: a}]}", "goto_ancestor", "graph.b.on.0.goto", "b activates a, which runs before it"),
    ("a: {call: look, on_error: {fallback: a}}", "goto_ancestor", "graph.a.on_error.fallback", "on_error.retry"),
    ("a: {call: look, depends_on: [e]}\ne: {type: error, message: m}", "depends_on_end", "graph.a.depends_on.0", "nothing runs after it"),
    ("a: {type: compensate, steps: [{call: look}]}", "unreachable", "graph.a", "nothing activates a"),
    # Names.
    ("p: {call: look}", "name_clash", "graph.p", "p is a param and a node"),
    ("a: {call: look, output: p}", "name_clash", "graph.a.output", "p is a param and an output"),
    ("a: {call: look, output: b}\nb: {call: look}", "name_clash", "graph.a.output", "b is a node and the output of another"),
    ("a: {call: look, output: e, on_error: {fallback: e}}\ne: {type: error, message: m}", "name_clash", "graph.a.output", "e is a node and the output of another"),
    ("a: {call: look, output: x}\nb: {call: look, output: x}", "name_clash", "graph.b.output", "both can succeed"),
    ("a: {type: parallel, branches: {b: {call: look, output: x}, c: {call: look, output: x}}}", "name_clash", "graph.a.branches.c.output", "two branches of a"),
    ("a: {type: foreach, items: $p, as: p, step: {call: look}}", "name_clash", "graph.a.as", "it hides nothing"),
    # References.
    ("a: {call: find, args: {place: $q}}", "unknown_reference", "graph.a.args.place", "$q: there is nothing named q"),
    ("a: {call: find, args: {place: '${p'}}", "malformed_reference", "graph.a.args.place", "write ${name.path}, or $${"),
    ("a: {call: find, args: {place: $b.x}}\nb: {call: look}", "missing_edge", "graph.a.args.place", "the edge from b to a is missing"),
    ("a: {call: find, args: {place: $b.x}}\nb: {call: look, depends_on: [a]}", "missing_edge", "graph.a.args.place", "b runs after a"),
    ("a: {call: find, args: {place: $a.x}}", "missing_edge", "graph.a.args.place", "a result of a itself"),
    ("a: {call: find, args: {place: $e}, depends_on: [b]}\nb: {call: look, on_error: {fallback: e}}\ne: {type: error, message: m}", "reference_missing", "graph.a.args.place", "e ends the workflow and has no result"),
    ("a: {call: look, when: 'true'}\nb: {call: look}\nc: {call: sql_query, args: {sql: SELECT * FROM a}, depends_on: [a, b]}", "may_be_missing", "graph.c.args.sql", "a may not have succeeded when c runs. Put the query behind a alone"),
    ("a: {call: look, when: 'true'}\nb: {call: look}\nc: {call: find, args: {place: $a.x}, depends_on: [a, b]}", "may_be_missing", "graph.c.args.place", "a may not have succeeded when c runs. Write ${a?.x}"),
    ("a: {call: find, args: {place: $n.x}}", "reference_missing", "graph.a.args.place", "leads into the param n, which is int"),
    ("a: {type: yield, message: m, expects: {ok: bool}}\nb: {call: find, depends_on: [a], args: {place: $a.okay}}", "reference_missing", "graph.b.args.place", "the result of a has no okay. Did you mean ok?"),
    ("a: {type: parallel, branches: {c: {call: look}}}\nb: {call: find, depends_on: [a], args: {place: $a.d}}", "reference_missing", "graph.b.args.place", "the result of a has no d"),
    ("a: {workflow: shaped}\nb: {call: find, depends_on: [a], args: {place: $a.s}}", "reference_missing", "graph.b.args.place", "the result of a has no s"),
    # Conditions and items.
    ("a: {call: look, when: $p}", "not_a_bool", "graph.a.when", "$p is str"),
    ("a: {type: foreach, items: $p, as: i, step: {call: look}}", "bad_items", "graph.a.items", "$p is str, but a list is required"),
    ("a: {call: look, when: '$p =='}", "condition_syntax", "graph.a.when", "a value is missing (character 6)"),
    ("a: {call: look, when: 'p == 1'}", "condition_syntax", "graph.a.when", 'write "p" for a text, $p for a reference'),
    ("a: {call: look, when: '[1].map(x, x)'}", "condition_syntax", "graph.a.when", "there is no function map"),
    ("a: {call: look, when: '1'}", "not_a_bool", "graph.a.when", "always 1"),
    ("a: {call: look, when: '$p.matches(\"(?=x)\")'}", "bad_pattern", "graph.a.when", "linear time"),
    ("a: {type: branch, on: [{when: '(', goto: b}]}\nb: {call: look}", "condition_syntax", "graph.a.on.0.when", "a value is missing"),
    ("a: {type: foreach, items: p, as: i, step: {call: look}}", "bad_items", "graph.a.items", "neither a reference to a list nor a range"),
    ("a: {type: foreach, items: 'range(1, x)', as: i, step: {call: look}}", "bad_items", "graph.a.items", "is not a bound of a range"),
    ("a: {type: foreach, items: 'range(1, 2030-01-01)', as: i, step: {call: look}}", "bad_items", "graph.a.items", "two integers or two dates"),
    ("a: {type: foreach, items: 'range(9999-12-31, 9999-12-31 + 2 days)', as: i, step: {call: look}}", "bad_items", "graph.a.items", "beyond the calendar"),
    ("a: {type: foreach, items: 'range(10000-01-01, 10000-01-02)', as: i, step: {call: look}}", "bad_items", "graph.a.items", "is not a bound of a range"),
    ("a: {type: foreach, items: 'range(0, 999999999999)', as: i, step: {call: look}}", "too_many_items", "graph.a.items", "999,999,999,999 items"),
    # Tools.
    ("a: {call: lok}", "unknown_tool", "graph.a.call", "there is no tool lok. Did you mean look?"),
    ("a: {call: find}", "missing_argument", "graph.a.args", "find needs place"),
    ("a: {call: find, args: {plase: x, place: y}}", "unknown_argument", "graph.a.args.plase", "Did you mean place?"),
    ("a: {call: find, args: {place: 1}}", "wrong_type", "graph.a.args.place", "1 is not of type"),
    ("a: {call: find, args: {place: x, count: 10}}", "wrong_type", "graph.a.args.count", "maximum of 9"),
    ("a: {call: find, args: {place: x, count: '3'}}", "wrong_type", "graph.a.args.count", "not of type"),
    ("a: {call: find, args: {place: x, count: n $n}}", "wrong_type", "graph.a.args.count", "this is text, but integer is required"),
    ("a: {call: find, args: {place: $n}}", "wrong_type", "graph.a.args.place", "$n is int, but string is required"),
    ("a: {call: book, args: {filters: [$p]}}", "wrong_type", "graph.a.args.filters", "but object is required"),
    ("a: {call: look, compensate: {call: undo}}", "unknown_tool", "graph.a.compensate.call", "there is no tool undo"),
    ("a: {call: look, on_error: {fallback: c}}\nc: {type: compensate, steps: [{call: look, args: {x: 1}}]}", "unknown_argument", "graph.c.steps.0.args.x", "look has no parameter x"),
    ("a: {type: reason, question: q, tools: [book]}", "not_a_read", "graph.a.tools.0", "book is a write"),
    ("a: {type: reason, question: q, validation_tools: [check]}", "unknown_tool", "graph.a.validation_tools.0", "there is no tool check"),
    ("a: {call: book, args: {filters: {kind: boat, id: $p}}}", "wrong_type", "graph.a.args.filters", "kind: \"boat\" is not one of"),
    ("a: {call: book, args: {filters: {days: [$n, 12]}}}", "wrong_type", "graph.a.args.filters", "days: 1: 12 is greater than"),
    ("a: {call: book, args: {filters: {days: [$n, $p]}}}", "wrong_type", "graph.a.args.filters", "days: 1: $p is str"),
    ("a: {call: later}", "missing_call", "graph.a.call", "later may be called once find has succeeded, and nothing here calls find"),
    # SQL.
    ("a: {call: book, compensate: {call: sql_query, args: {sql: SELECT 1}}}", "undoes_nothing", "graph.a.compensate.call", "only reads"),
    ("a: {call: look, on_error: {fallback: c}}\nc: {type: compensate, steps: [{call: sql_query, args: {sql: SELECT 1}}]}", "undoes_nothing", "graph.c.steps.0.call", "only reads"),
    ("a: {call: sql_query}", "missing_argument", "graph.a.args", "sql_query needs sql"),
    ("a: {call: sql_query, args: {sql: SELECT 1, limit: 3}}", "unknown_argument", "graph.a.args.limit", "takes sql alone"),
    ("a: {call: sql_query, args: {sql: SELECT FROM WHERE}}", "bad_sql", "graph.a.args.sql", "cannot be read as SQL"),
    ("a: {call: sql_query, args: {sql: SELECT 1; SELECT 2}}", "bad_sql", "graph.a.args.sql", "not one SELECT"),
    ("a: {call: sql_query, args: {sql: DROP TABLE x}}", "bad_sql", "graph.a.args.sql", "not one SELECT"),
    ("a: {call: sql_query, args: {sql: \"SELECT '$p'\"}}", "bad_sql", "graph.a.args.sql", "outside of the quotes"),
    ("a: {call: sql_query, args: {sql: \"SELECT * FROM 'x.csv'\"}}", "unknown_reference", "graph.a.args.sql", "nothing named x.csv"),
    ("a: {call: sql_query, args: {sql: \"SELECT * FROM read_csv('x')\"}}", "bad_sql", "graph.a.args.sql", "files and functions cannot be read"),
    ("a: {call: sql_query, args: {sql: SELECT * FROM main.b}}\nb: {call: look}", "bad_sql", "graph.a.args.sql", "has a schema"),
    ("a: {call: sql_query, args: {sql: SELECT * FROM b}}\nb: {call: look}", "missing_edge", "graph.a.args.sql", "the edge from b to a is missing"),
    # Workflows inside workflows.
    ("a: {workflow: subb}", "unknown_workflow", "graph.a.workflow", "there is no workflow subb. Did you mean sub?"),
    ("a: {workflow: sub}", "missing_argument", "graph.a.args", "sub needs n"),
    ("a: {workflow: sub, args: {n: 1, m: 2}}", "unknown_argument", "graph.a.args.m", "sub has no param m"),
    ("a: {workflow: sub, args: {n: '1'}}", "wrong_type", "graph.a.args.n", '"1" is str, but int is required'),
    ("a: {workflow: sub, args: {n: $p}}", "wrong_type", "graph.a.args.n", "$p is str, but int is required"),
    ("a: {workflow: w}", "workflow_cycle", "workflows.w", "w -> w"),
    ("a: {type: foreach, items: $l, as: i, step: {workflow: asks}}", "yield_in_foreach", "graph.a.step.workflow", "asks waits for a person"),
]  # fmt: skip


@each_row(("graph", "code", "path", "words"), ROWS, ids=[f"{row[1]}-{row[2]}" for row in ROWS])
def test_an_error_names_its_path_and_the_fix(graph: str, code: str, path: str, words: str) -> None:
    params = "{p: {type: str}, n: {type: int}, l: {type: list}}"
    errors = [
        one for one in problems_in(graph, params=params, rest=SUB + SHAPED + ASKS) if one.severity == "error"
    ]
    found = [one for one in errors if one.code == code and ".".join(map(str, one.path)).endswith(path)]
    assert found, [str(one) for one in errors]
    assert words in found[0].text, found[0].text
    assert found[0].position is not None
    assert found[0].position.line > (4 if path != "workflows.w" else 3)


PARAMS = [
    ("{p: {type: string}}", "literal_error", "params.p.type", "'str', 'int'"),
    ("{p: {type: int, default: '7'}}", "bad_default", "params.p.default", '"7" is str, but int is required'),
    ("{p: {type: int, default: 7.0}}", "bad_default", "params.p.default", "7.0 is float"),
    ("{p: {type: int, default: true}}", "bad_default", "params.p.default", "true is bool"),
    ("{p: {type: str, default: 012x, enum: [a]}}", "bad_default", "params.p.default", 'is none of "a"'),
    ("{p: {type: str, enum: [a, 1]}}", "bad_enum", "params.p.enum.1", "1 is int, but str is required"),
    ("{p: {type: int, format: date}}", "bad_format", "params.p.format", "a format of str"),
    (
        "{p: {type: str, format: date, default: 2030-02-30}}",
        "bad_default",
        "params.p.default",
        "is not a valid date",
    ),
    (
        "{p: {type: str, format: date, default: 10000-01-01}}",
        "bad_default",
        "params.p.default",
        "is not a valid date",
    ),
    (
        "{p: {type: str, format: email, default: a@}}",
        "bad_default",
        "params.p.default",
        "is not a valid email",
    ),
    ("{p: str}", "wrong_type", "params.p", "a param is an object. Write {type: str}."),
    ("{p: {type: str, default: $a[0].b}}", "syntax", "", "quote a text that contains one of [ ]"),
    ("{p: {type: int, default: 9223372036854775808}}", "syntax", "", "is not a 64-bit number"),
]


@each_row(("params", "code", "path", "words"), PARAMS)
def test_params_are_held_strictly_against_their_type(params: str, code: str, path: str, words: str) -> None:
    errors = [
        one for one in problems_in("a: {call: look, when: $p == 1}", params=params) if one.severity == "error"
    ]
    assert [(one.code, ".".join(map(str, one.path[2:]))) for one in errors] == [(code, path)]
    assert words in errors[0].text


WARNINGS = [
    ("a: {call: look}\ne: {type: error, message: m}", "{}", "", "always_fails", "graph.e", "it runs at once"),
    ("a: {call: look}", "{p: {type: str}}", "", "unused", "params.p", "nothing uses the param p"),
    ("a: {call: look, output: x}\nb: {call: look, depends_on: [a]}", "{}", "", "unused", "graph.a.output", "the output x"),
    ("a: {call: look, when: $p == 1}", "{p: {type: int, required: true, default: 1}}", "", "required_default", "params.p.required", "makes it optional"),
    ("a: {call: look, when: $p == 1}", "{p: {type: int, example: x}}", "", "bad_example", "params.p.example", "Correct the example"),
    ("a: {call: look}\nb: {call: look, depends_on: [a, a]}", "{}", "", "repeated", "graph.b.depends_on.1", "is listed twice"),
    ("a: {workflow: either}\nb: {call: find, args: {place: $a}, depends_on: [a]}", "{}",
     "either: {description: E, graph: {b: {type: branch, on: [{when: 1 > 2, goto: x}, {default: y}]}, x: {call: look}, y: {call: look}}}",
     "varying_output", "graph.a.workflow", "whichever last node succeeded"),
    ("a: {workflow: short}", "{}", "short: {description: S, timeout_s: 60, graph: {b: {call: look}}}",
     "timeout_not_applied", "graph.a.workflow", "Write timeout_s: 60 at the node"),
    ("a: {type: parallel, on_partial_failure: rollback_all, on_error: {fallback: c}, branches: {b: {call: look, compensate: {call: look}}}}\nc: {call: look}", "{}", "",
     "fallback_not_taken", "graph.a.on_error.fallback", "rollback_all fails the workflow"),
]  # fmt: skip


@each_row(("graph", "params", "rest", "code", "path", "words"), WARNINGS)
def test_a_suspicious_construct_is_a_warning(
    graph: str, params: str, rest: str, code: str, path: str, words: str
) -> None:
    (problem,) = problems_in(graph, params=params, rest=rest)
    assert (problem.severity, problem.code, ".".join(map(str, problem.path[2:]))) == ("warning", code, path)
    assert words in problem.text


def test_a_workflow_that_contains_itself_is_reported_as_a_cycle() -> None:
    rest = """
        outer: {description: O, graph: {b: {workflow: inner}}}
        inner: {description: I, graph: {c: {workflow: inner}}}
    """
    found = problems_in(
        "a: {type: foreach, items: '[1]', as: i, step: {workflow: outer}}", rest=textwrap.dedent(rest)
    )
    assert "workflow_cycle" in {one.code for one in found}
    assert "yield_in_foreach" not in {one.code for one in found}
