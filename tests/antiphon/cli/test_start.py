"""A command imports only what it needs, so that it starts quickly."""

import inspect
import json
import subprocess
import sys
from functools import cache

import pytest
import typer
from antiphon_shared.events import COMPONENTS
from antiphon_shared.process import logs

from antiphon.__main__ import main
from antiphon.cli.output import result_of
from tests.antiphon.conftest import ROOT, clean_environment

HEAVY = (
    "anthropic",
    "asyncio",
    "fakeredis",
    "httpx2",
    "jsonschema",
    "mcp",
    "prometheus_client",
    "pydantic_settings",
    "redis",
    "rich",
    "structlog",
    "tiktoken",
)
A_RECORDING = "tests/recordings/a_single_round.jsonl"
PROGRAM = """
import gc, sys
from antiphon.cli import app
try:
    app(sys.argv[1:])
finally:
    print("collector:", gc.isenabled(), gc.get_threshold()[0], gc.get_freeze_count() > 0)
    print("imported:", *sorted(sys.modules))
"""


def imported(*arguments: str) -> set[str]:
    """Return the modules that a command has imported by its end."""
    return set(output(*arguments).rpartition("imported:")[2].split())


@cache
def output(*arguments: str) -> str:
    """Return the output of a command, and the state of its process at its end."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, *arguments],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout


@pytest.mark.parametrize("arguments", [("replay", "verify", A_RECORDING), ("--version",)], ids=" ".join)
def test_no_command_imports_unused_libraries(arguments: tuple[str, ...]) -> None:
    """Check one recording; tests/recordings/test_lines_run.py checks all of them."""
    packages = {name.partition(".")[0] for name in imported(*arguments)}
    assert not packages.intersection(HEAVY)


def test_the_help_imports_no_command_and_no_library_but_typer() -> None:
    modules = imported("--help")
    assert not {"pydantic", *HEAVY}.intersection(modules)
    assert {name for name in modules if name.startswith("antiphon.")} == {
        "antiphon.cli",
        "antiphon.cli.on_demand",
    }


def test_a_command_imports_rich_only_to_print() -> None:
    assert "rich.console" not in imported("dead", "--help")


def test_the_verification_of_a_plain_recording_imports_no_pool_no_xml_and_no_expressions_for_secrets() -> (
    None
):
    unused = ("multiprocessing", "concurrent.futures", "xml", "antiphon_shared.redaction.credentials")
    assert not imported("replay", "verify", A_RECORDING).intersection(unused)


def test_the_collector_does_not_look_through_the_program_while_recordings_are_verified() -> None:
    printed = output("replay", "verify", A_RECORDING)

    assert "collector: True 50000 True" in printed.splitlines()


STEPS = {
    "a client of a running pipeline imports no component": (
        "import antiphon; antiphon.Antiphon",
        ("coordinator", "reasoning_engine", "tool_dispatcher", "jsonschema", "typer", "anthropic"),
    ),
    **{
        f"the {component} imports no model SDK and nothing that verifies grants": (
            "import antiphon_shared.process.runner\n"
            "from antiphon_shared.bus.redis_bus import Bus\n"
            f"from {component}.component import build\n"
            "build(Bus.from_settings())",
            ("anthropic", "jwt"),
        )
        for component in COMPONENTS
        if component != "reasoning_engine"
    },
    "an engine imports the model SDK only once it chooses a model": (
        "import reasoning_engine.component",
        ("anthropic",),
    ),
    **{
        f"{module} imports no model SDK": (f"import {module}", ("anthropic",))
        for module in (
            "antiphon.client",
            "antiphon.cli.ask",
            "antiphon.cli.sessions",
            "antiphon.supervisor",
            "antiphon.replay.testing.recorded_question",
        )
    },
    "an offline answer imports no model SDK": (
        "from antiphon.cli import app\n"
        'sys.argv = ["antiphon", "ask", "What is idempotency?", "--tools", "examples.courses"]\n'
        "try:\n    app()\nexcept SystemExit as ended:\n    assert not ended.code",
        ("anthropic", "openai"),
    ),
}
"""The imports in order, each with those that it must not cause."""
IMPORTER = """
import json, sys
found = {}
for name, (code, unwanted) in json.loads(sys.argv[1]).items():
    exec(code)
    found[name] = sorted({*unwanted} & {*sys.modules})
print("found:", json.dumps(found))
"""


def test_components_import_neither_each_other_nor_the_model_sdk() -> None:
    """One process takes all steps: a module that is missing after the last one was imported by none."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", IMPORTER, json.dumps(STEPS)],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.rpartition("found:")[2]) == {name: [] for name in STEPS}


def test_ctrl_c_while_the_command_line_is_imported_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        @property
        def app(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "antiphon.cli", Interrupted())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


def test_ctrl_c_before_the_work_of_a_command_begins_exits_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    async def nothing() -> None:
        raise AssertionError("it has begun")

    monkeypatch.setattr(logs, "silence", interrupted)
    work = nothing()
    with pytest.raises(typer.Exit) as ended:
        result_of(work)
    assert (ended.value.exit_code, inspect.getcoroutinestate(work)) == (130, inspect.CORO_CLOSED)
