"""`antiphon tools check` distinguishes clean tools from faulty ones, in text, in JSON and by its exit code."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.antiphon.conftest import InProcess

FAULTY = '''
from typing import Annotated
from pydantic import Field
from antiphon import ToolFailed, tool

print("a module that talks")


@tool(effect="read")
def divide(by: int) -> int:
    """Divides a hundred."""
    print("a tool that talks")
    return 100 // by


@tool(effect="read")
def leak(word: str) -> str:
    """Leaks."""
    raise ValueError("no access with correct-horse-battery")


@tool(effect="write")
def enter(name: Annotated[str, Field(max_length=50)]) -> str:
    """Enters a name."""
    with open("entered", "a") as book:
        book.write("x")
    return "entered"
'''


@pytest.fixture
def checked(run: InProcess, folder: Path) -> Iterator[InProcess]:
    """Yield the command line with a faulty tool in a module next to the correct ones."""
    (folder / "faulty.py").write_text(FAULTY)
    yield run
    sys.modules.pop("faulty", None)


def reports(run: InProcess, *arguments: str) -> dict[str, Any]:
    """Return the output of `--json`, by tool."""
    printed = run("tools", "check", *arguments, "--examples-max", "5", "--json").stdout
    return {report["tool"]: report for report in orjson.loads(printed)}


def test_clean_tools_are_counted_and_the_exit_code_is_0(checked: InProcess) -> None:
    done = checked("tools", "check", "recipes", "--examples-max", "5")
    assert done.exit_code == 0
    heading, row = done.stdout.splitlines()
    assert heading.split() == ["tool", "effect", "cases", "refused", "ran", "not", "run", "failures"]
    name, effect, cases, refused, ran, not_run, failures = row.split()
    assert (name, effect, not_run, failures) == ("find_recipe", "read", "0", "0")
    assert int(cases) == int(refused) + int(ran) > 50


def test_a_failure_is_reported_once_with_its_cases_and_the_remedy(checked: InProcess) -> None:
    done = checked("tools", "check", "faulty", "--examples-max", "5")
    assert done.exit_code == 1
    output = done.stdout
    assert output.count("divide: the model receives internal_error: ZeroDivisionError (") == 1
    assert 'by: zero: {"by": 0}' in output
    assert "ZeroDivisionError: integer division or modulo by zero (faulty.py:13)" in output
    assert "change: Return JSON values. For a failure raise ToolFailed(" in output
    assert "talks" not in output
    assert "a tool that talks" in done.stderr


def test_a_fault_is_shown_as_soon_as_it_is_found(checked: InProcess) -> None:
    """The order on stderr: a fault of the first tool precedes the beginning of the next one, and is shown once."""
    stderr = checked("tools", "check", "faulty", "--examples-max", "5").stderr
    found = "  divide: the model receives internal_error: ZeroDivisionError: integer division"
    assert stderr.count(found) == 1
    assert stderr.index("checking divide") < stderr.index(found) < stderr.index("checking enter")


def test_the_json_report_holds_every_case_with_what_the_model_sees(checked: InProcess) -> None:
    divide = reports(checked, "faulty")["divide"]
    assert divide["cases"] == divide["refused"] + divide["ran"] == len(divide["checked"])
    cases = {case["label"]: case for case in divide["checked"]}
    zero = cases["by: zero"]
    assert (zero["happened"], zero["schema_says"], zero["arguments"]) == ("ran", "valid", '{"by": 0}')
    assert zero["told"]["error_type"] == "internal_error"
    assert zero["faults"][0]["detail"].startswith("ZeroDivisionError")
    null = cases["by: null"]
    assert (null["happened"], null["schema_says"], null["faults"]) == ("refused", "invalid", [])
    assert null["told"]["fields"]["by"]
    assert null["told"]["example_valid_call"] == {"by": 1}
    assert divide["failures"] == sum(bool(case["faults"]) for case in divide["checked"])


def test_writes_run_only_on_request(checked: InProcess, folder: Path) -> None:
    enter = reports(checked, "faulty:enter")["enter"]
    assert (enter["ran"], enter["failures"]) == (0, 0)
    assert enter["not_run"] > 20
    assert not (folder / "entered").exists()
    ran = reports(checked, "faulty:enter", "--runs-writes")["enter"]
    assert ran["not_run"] == 0
    assert len((folder / "entered").read_text()) == ran["ran"] > 20


def test_the_same_seed_gives_the_same_report(checked: InProcess) -> None:
    assert reports(checked, "recipes", "--seed", "3") == reports(checked, "recipes", "--seed", "3")
    assert reports(checked, "recipes", "--seed", "3") != reports(checked, "recipes", "--seed", "4")


def test_a_secret_of_the_environment_is_found_and_not_printed(checked: InProcess) -> None:
    key = "correct-horse-battery"
    report = checked("tools", "check", "faulty:leak", "--examples-max", "0", "--json", ANTHROPIC_API_KEY=key)
    assert "it shows a secret" in report.stdout
    assert "[redacted]" in report.stdout
    assert key not in report.output


def test_every_case_can_be_shown(checked: InProcess) -> None:
    output = checked("tools", "check", "recipes", "--examples-max", "0", "--cases").stdout
    assert "message to the model" in output
    assert (
        "validation_error: The arguments of find_recipe are not valid. query: required, but missing."
        in output
    )


def test_several_modules_and_single_tools_can_be_named(checked: InProcess) -> None:
    assert set(reports(checked, "recipes", "faulty:enter")) == {"find_recipe", "enter"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_module"], "no_such_module cannot be imported"),
        (["recipes:nothing"], "nothing"),
        (["recipes", "--examples-max", "-1"], "--examples-max"),
        ([], "MODULE"),
    ],
)
def test_a_tool_that_cannot_be_checked_exits_2(run: InProcess, arguments: list[str], message: str) -> None:
    assert message in run.refused("tools", "check", *arguments)


def test_a_missing_library_is_reported_with_the_install_command(
    run: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis_jsonschema", None)
    assert "pip install 'antiphon[check]'" in run.refused("tools", "check", "recipes")
