"""Files of steps: their content, and the positions of their faults."""

from pathlib import Path

import pytest
from antiphon_shared.output.step_file import UnfitSteps, read_steps
from antiphon_shared.text.yaml_text import read_yaml
from typer.testing import CliRunner

from antiphon.cli import app
from tests.rows import each_row

STEP = "{name: a, instructions: b, tools: [c]}"


def test_a_file_is_read_by_the_rules_of_json() -> None:
    (step,) = read_steps("steps: [{name: on, instructions: 2020-01-01, tools: [yes, off]}]")
    assert (step.name, step.instructions, step.tools) == ("on", "2020-01-01", ("yes", "off"))
    assert (step.max_rounds, step.attempts, step.output) == (10, 3, None)


def test_an_alias_repeats_a_value() -> None:
    text = "steps:\n- {name: a, instructions: b, tools: &t [c]}\n- {name: d, instructions: e, tools: *t}"
    assert [step.tools for step in read_steps(text)] == [("c",), ("c",)]


def test_every_fault_is_named_with_its_line_and_column() -> None:
    text = "steps:\n - name: a\n   instructions: b\n   tools: []\n   outptu: 3\n - name: a b\n   tools: [x]\n"
    with pytest.raises(UnfitSteps) as refused:
        read_steps(text)
    faults = str(refused.value).splitlines()
    assert [fault.partition(":")[0] for fault in faults] == [
        "line 4, column 11",
        "line 5, column 12",
        "line 6, column 10",
        "line 6, column 4",
    ]
    assert "steps.0.outptu: there is no such field. Did you mean output?" in faults[1]


_LEVELS = [
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]" for before, name in zip("abcd", "bcde", strict=True)
]


@each_row(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("steps: [", "line "),
        ("steps: &x [*x]", "line 1, column 12: the value contains itself"),
        ("\n".join(["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]", *_LEVELS]), "more than 100,000 values"),
        ("[" * 5_000, "or 64 levels"),
        ("steps: !!python/object:os.system x", "the tag tag:yaml.org,2002:python/object:os.system is not supported"),
        ("steps: !!binary aGk=", "the tag tag:yaml.org,2002:binary is not supported"),
        ("steps: *x", "line 1, column 8: there is no anchor &x"),
        ("steps: 9223372036854775808", "is not a 64-bit number"),
        ("steps: 1e999", "is not a 64-bit number"),
        ("- 1\n---\n- 2", "a second document"),
        ("steps: 1\nsteps: 2", "line 2, column 1: 'steps' is repeated"),
        ("{? [a] : b}", "a key must be a text"),
        ("\x00", "characters are not allowed"),
        ("steps: .inf", "Input should be a valid array"),
        ("steps: []", "there are 0 steps; give 1 to 20"),
        (f"steps: [{', '.join([STEP] * 21)}]", "there are 21 steps"),
        (f"steps: [{STEP}, {STEP}]", "two steps are named 'a'"),
        ("steps: [{name: a, instructions: b, tools: [c, c]}]", "'c' is listed twice"),
        ("steps: [{name: a, instructions: b, tools: [c], max_rounds: 4}]", "greater than or equal to 5"),
        ("steps: [{name: a, instructions: b, tools: [c], output: {$ref: 'http://x'}}]", "outside the document"),
        ("steps: [{name: a, instructions: b, tools: [c], output: {enum: []}}]", "no value satisfies it"),
        ("steps: [{name: a, instructions: b, tools: [c], validation_tools: [c]}]", "need an output"),
        (
            "steps: [{name: a, instructions: b, tools: [c], output: {}, validation_tools: [d]}]",
            "'d' is not among the step's tools",
        ),
        (f"# {'x' * 1_000_000}", "more than 1,000,000 bytes"),
    ],
)  # fmt: skip
def test_an_unusable_step_file_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(UnfitSteps) as refused:
        read_steps(text)
    assert why in str(refused.value)


def test_json_may_escape_any_character() -> None:
    text = (
        '{"a": "\\ud83d\\ude00\\u00e9", "b": "\\\\ud83d\\\\ude00", "c": "\\\\\\ud83d\\ude00\\ud83d\\ude01"}'
    )
    assert read_yaml(text).value == {"a": "\U0001f600é", "b": r"\ud83d\ude00", "c": "\\\U0001f600\U0001f601"}
    assert read_yaml(r"a: \ud83d\ude00").value == {"a": r"\ud83d\ude00"}


def test_a_missing_value_has_the_position_of_its_parent() -> None:
    assert str(read_yaml("a:\n  b: 1").position(("a", "c", 3))) == "line 2, column 3"


def test_the_command_names_the_file_and_all_its_faults(tmp_path: Path) -> None:
    path = tmp_path / "steps.yaml"
    path.write_text("steps:\n- {name: a, tools: [c]}\n- {name: b c, instructions: b, tools: [c]}\n")
    done = CliRunner().invoke(app, ["submit", "Which?", "--steps", str(path)])
    assert done.exit_code == 3
    assert f"--steps: {path} does not contain valid steps." in done.output
    assert f"{path}: line 2, column 3: steps.0.instructions: Field required" in done.output
    assert f"{path}: line 3, column 10: steps.1.name" in done.output
    missing = CliRunner().invoke(app, ["submit", "Which?", "--steps", str(tmp_path / "none.yaml")])
    assert "none.yaml does not exist." in missing.output
