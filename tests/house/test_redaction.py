"""Logs go through the one redactor: every process gives its secrets to the logging set-up, and there is no other."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "antiphon",
    "coordinator",
    "reasoning_engine",
    "tool_dispatcher",
    "context_synthesizer",
    "response_assembler",
    "shared",
)
LOGS = ROOT / "shared/antiphon_shared/process/logs.py"
SET_UP = ("structlog.configure", "logging.basicConfig", "logging.StreamHandler", "logging.FileHandler")


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls in a file, by the name as it is written."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def sources(names: Iterable[str]) -> list[Path]:
    """Return the files that contain the last word of one of the names: only these can call it."""
    words = {name.rpartition(".")[2] for name in names}
    paths = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    return [path for path in paths if any(word in path.read_text() for word in words)]


def test_logging_is_set_up_in_one_file() -> None:
    elsewhere = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources(SET_UP)
        if path != LOGS
        for name, _ in calls(path)
        if name in SET_UP
    ]
    assert elsewhere == []
    assert {name for name, _ in calls(LOGS)} >= {"structlog.configure", "logging.basicConfig"}


def test_every_process_gives_its_secrets_to_its_logs() -> None:
    name = "logs.configure"
    set_up = [(path, call) for path in sources([name]) for found, call in calls(path) if found == name]
    assert {path.name for path, _ in set_up} >= {"runner.py", "processes.py"}
    without = [path for path, call in set_up if "secret_values(" not in ast.unparse(call)]
    assert without == []


@pytest.mark.parametrize(
    "component",
    ["coordinator", "reasoning_engine", "tool_dispatcher", "context_synthesizer", "response_assembler"],
)
def test_every_component_is_started_by_the_runner_that_sets_up_its_logs(component: str) -> None:
    main = ROOT / component / "__main__.py"
    assert any(name in ("run", "runner.run", "main") for name, _ in calls(main)), main
