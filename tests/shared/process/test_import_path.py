"""The modules that an import finds."""

import os
import subprocess
import sys

import pytest
from antiphon_shared.events import COMPONENTS
from antiphon_shared.process.import_path import hidden


def test_a_hidden_library_cannot_be_imported_until_the_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "this", raising=False)

    with hidden("this"), pytest.raises(ModuleNotFoundError):
        import this  # noqa: F401  # it cannot be used

    assert "this" not in sys.modules


def test_a_library_in_use_is_not_hidden() -> None:
    with hidden("pytest"):
        assert sys.modules["pytest"] is pytest
    assert sys.modules["pytest"] is pytest


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_component_starts_without_libraries_that_it_never_uses(component: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", component],
        env={**os.environ, "ANTIPHON_REDIS_URL": "no address"},
        capture_output=True,
        text=True,
        check=False,
    )

    imported = {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}
    assert ended.returncode == 2, "it is refused at once"
    assert {"structlog", f"{component}.component"} <= imported
    assert not imported & {"rich.console", "anthropic", "openai"}
