"""The nodes that have certainly succeeded when a node runs: no warning for these, an error for others."""

from tests.antiphon.workflows.test_rows import SUB, problems_in
from tests.rows import each_row

HALVES = """
b: {type: branch, on: [{when: 1 < 2, goto: x}, {default: y}]}
x: {call: look, output: half}
y: {call: look, output: half}
"""

SURE = {
    "a direct dependency": "a: {call: look}\nz: {call: find, depends_on: [a], args: {place: $a}}",
    "one further up": "a: {call: look}\nb: {call: look, depends_on: [a]}\nz: {call: find, depends_on: [b], args: {place: $a.0}}",
    "one of several that all run": "a: {call: look}\nb: {call: look}\nz: {call: find, depends_on: [a, b], args: {place: $a}}",
    "the only dependency, though it may be skipped": "a: {call: look, when: 'true'}\nz: {call: find, depends_on: [a], args: {place: $a}}",
    "what a skipped node stood on": "a: {call: look}\nb: {call: look, depends_on: [a], when: $a.x}\nz: {call: find, depends_on: [b], args: {place: $a}}",
    "what both ways out of a branch lead from": f"{HALVES}\nz: {{call: find, depends_on: [x, y], args: {{place: $b}}, when: has($half)}}",
    "an output that both ways share": f"{HALVES}\nz: {{call: find, depends_on: [x, y], args: {{place: $half}}}}",
    "an output shared by one upstream": f"{HALVES}\nz: {{call: find, depends_on: [x], args: {{place: $half}}}}",
    "two below one that may be skipped": "t: {call: look, when: 'true'}\na: {call: look, depends_on: [t]}\nb: {call: look, depends_on: [t]}\n"
    "z: {call: find, depends_on: [a, b], args: {place: $a}}",
    "what activates": "a: {call: look}\nb: {type: branch, depends_on: [a], on: [{default: z}]}\nz: {call: find, args: {place: $a}}",
    "what stood before a failure": "a: {call: look}\nb: {call: look, depends_on: [a], on_error: {fallback: z}}\nz: {call: find, args: {place: $a}}",
    "a node whose failure ends the workflow": "a: {call: look, on_error: {fallback: e}}\ne: {type: error, message: m}\nb: {call: look}\n"
    "z: {call: find, depends_on: [a, b], args: {place: $a}}",
    "itself, when it is undone": "a: {call: look, compensate: {call: find, args: {place: $a.id}}}",
    "anything, in a compensate node": "a: {call: look}\nc: {type: compensate, steps: [{call: find, args: {place: $a.id}}]}\nb: {call: look, on_error: {fallback: c}}",
    "a branch of a parallel": "a: {type: parallel, branches: {b: {call: look, output: o}}}\nz: {call: find, depends_on: [a], args: {place: $o}}",
    "a table": "a: {call: look}\nz: {call: sql_query, depends_on: [a], args: {sql: \"WITH q AS (SELECT * FROM a) SELECT * FROM q WHERE x > $a.0.n\"}}",
    "an item": "a: {call: look}\nz: {type: foreach, depends_on: [a], items: $a.l, as: i, step: {call: find, when: $i.ok, args: {place: $i.name}}}",
    "what is asked for": "a: {call: look, when: 'true'}\nb: {call: look}\nz: {call: look, depends_on: [a, b], when: 'has($a.x) || $a?.y == 1'}",
    "numbers for floats": "z: {workflow: sub, args: {n: 1, f: 2}}",
}  # fmt: skip


@each_row("graph", SURE.values(), ids=SURE)
def test_a_reference_to_a_certain_result_has_no_findings(graph: str) -> None:
    assert [str(one) for one in problems_in(graph, rest=SUB)] == []


MAYBE = {
    "one of several that may be skipped": "a: {call: look, when: 'true'}\nb: {call: look}\nz: {call: find, depends_on: [a, b], args: {place: $a}}",
    "one with a fallback": "a: {call: look, on_error: {fallback: f}}\nf: {call: look}\nz: {call: find, depends_on: [a, f], args: {place: $a}}",
    "one way out of a branch": HALVES.replace("output: half", "timeout_s: 1") + "\nz: {call: find, depends_on: [x, y], args: {place: $x}}",
    "an output that only some ways have": HALVES.replace("y: {call: look, output: half}", "y: {call: look}") + "\nz: {call: find, depends_on: [x, y], args: {place: $half}}",
    "a way that may be skipped": HALVES.replace("y: {call: look, ", "y: {call: look, when: 'true', ") + "\nz: {call: find, depends_on: [b, x, y], args: {place: $half}}",
    "another way that has not settled": f"{HALVES}\nz: {{call: find, depends_on: [b, x], args: {{place: $half}}}}",
    "a branch of a parallel that goes on": "a: {type: parallel, on_partial_failure: continue, branches: {b: {call: look, output: o}}}\nz: {call: find, depends_on: [a], args: {place: $o}}",
    "what only one of two activators stood on": "a: {call: look}\nb: {type: branch, depends_on: [a], on: [{default: z}]}\nc: {type: branch, on: [{default: z}]}\nz: {call: find, args: {place: $a}}",
}  # fmt: skip


@each_row("graph", MAYBE.values(), ids=MAYBE)
def test_a_reference_that_may_be_missing_is_an_error(graph: str) -> None:
    assert [one.code for one in problems_in(graph)] == ["may_be_missing"]


@each_row(
    ("graph", "output", "codes"),
    [
        ("a: {call: look}", "{r: $a.x}", []),
        ("a: {call: look}", "$a", []),
        ("a: {call: look, when: 'true'}", "{r: $a.x}", ["may_be_missing"]),
        ("a: {call: look, when: 'true'}", "{r: '$a?.x'}", []),
        (HALVES, "{r: $half}", []),
        (HALVES.replace("y: {call: look, output: half}", "y: {type: error, message: m}"), "{r: $half}", []),
        (
            HALVES.replace("y: {call: look, output: half}", "y: {call: look}"),
            "{r: $half}",
            ["may_be_missing"],
        ),
        ("a: {call: look}", "all of $a", ["bad_output"]),
        ("a: {call: look}", "{r: $z}", ["unknown_reference"]),
    ],
)
def test_an_output_of_the_workflow_is_certain_when_it_is_done(
    graph: str, output: str, codes: list[str]
) -> None:
    assert [one.code for one in problems_in(graph, more=f"output: {output}")] == codes


def test_a_long_chain_and_a_wide_graph_are_no_deep_recursion() -> None:
    chain = "\n".join(
        f"n{n}: {{call: look, depends_on: [n{n - 1}], when: has($n{n - 1})}}" for n in range(1, 4_000)
    )
    assert problems_in(f"n0: {{call: look}}\n{chain}") == []
    wide = "\n".join(f"n{n}: {{call: look}}" for n in range(4_000))
    assert (
        problems_in(f"{wide}\nz: {{call: look, depends_on: [{', '.join(f'n{n}' for n in range(1_000))}]}}")
        == []
    )
