"""A command imports what it needs: the first result of a verification is not waited for."""

import inspect
import subprocess
import sys

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


@pytest.mark.parametrize(
    "arguments", [("replay", "verify", "tests/recordings", "-q", "--jobs", "1"), ("--version",)], ids=" ".join
)
def test_no_command_imports_what_it_has_no_use_for(arguments: tuple[str, ...]) -> None:
    """Every recording, so that no reply of a model and no error is read with the SDK's help."""
    packages = {name.partition(".")[0] for name in imported(*arguments)}
    assert not packages.intersection(HEAVY)


def test_the_verification_of_a_plain_recording_imports_no_pool_no_xml_and_no_expressions_for_secrets() -> (
    None
):
    recording = "tests/recordings/a_single_round.jsonl"
    unused = ("multiprocessing", "concurrent.futures", "xml", "antiphon_shared.redaction.credentials")
    assert not imported("replay", "verify", recording).intersection(unused)


def test_the_collector_does_not_look_through_the_program_while_recordings_are_verified() -> None:
    told = output("replay", "verify", "tests/recordings/a_single_round.jsonl")

    assert "collector: True 50000 True" in told.splitlines()


def run_alone(code: str) -> int:
    """Return the exit code of a program in an interpreter of its own."""
    command = [sys.executable, "-P", "-c", code]
    return subprocess.run(command, cwd=ROOT, env=clean_environment(), timeout=300).returncode


@pytest.mark.parametrize("component", [name for name in COMPONENTS if name != "reasoning_engine"])
def test_only_the_engine_imports_the_model_sdk_and_none_what_verifies_grants(component: str) -> None:
    assert not run_alone(
        "import sys, antiphon_shared.process.runner\n"
        "from antiphon_shared.bus.redis_bus import Bus\n"
        f"from {component}.component import build\n"
        "build(Bus.from_settings())\n"
        "sys.exit(bool({'anthropic', 'jwt'} & set(sys.modules)))"
    )


@pytest.mark.parametrize(
    "module", ["antiphon.client", "antiphon.cli.ask", "antiphon.cli.sessions", "antiphon.supervisor"]
)
def test_no_client_of_a_running_pipeline_imports_the_model_sdk(module: str) -> None:
    assert not run_alone(f"import sys, {module}; sys.exit('anthropic' in sys.modules)")


def test_an_engine_imports_the_model_sdk_only_once_it_chooses_a_model() -> None:
    assert not run_alone("import sys, reasoning_engine.component; sys.exit('anthropic' in sys.modules)")


def test_a_client_of_a_running_pipeline_imports_no_component() -> None:
    others = "'coordinator', 'reasoning_engine', 'tool_dispatcher', 'jsonschema', 'typer'"
    assert not run_alone(
        f"import sys, antiphon; antiphon.Antiphon; sys.exit(bool({{{others}}} & set(sys.modules)))"
    )


def test_an_offline_answer_imports_no_model_sdk() -> None:
    assert not run_alone(
        "import sys\nfrom antiphon.cli import app\n"
        'sys.argv = ["antiphon", "ask", "What is idempotency?", "--tools", "examples.courses"]\n'
        "try:\n    app()\nexcept SystemExit as ended:\n    assert not ended.code\n"
        "sys.exit(bool({'anthropic', 'openai'} & set(sys.modules)))"
    )


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
