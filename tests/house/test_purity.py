"""Modules that say "Pure." reach no clock, Redis, environment, settings or logs, however far their imports go."""

import ast
import re
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
PACKAGES = (
    "antiphon",
    "antiphon_shared",
    "coordinator",
    "reasoning_engine",
    "tool_dispatcher",
    "context_synthesizer",
    "response_assembler",
)
IMPURE = (
    "redis",
    "structlog",
    "antiphon_shared.bus.connection",
    "antiphon_shared.bus.redis_bus",
    "antiphon_shared.process.clock",
    "antiphon_shared.process.environment",
    "antiphon_shared.process.settings",
)
MARK = re.compile(r"\bPure\b")
PURE_MIN = 300


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(
        *PACKAGES, include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )


def path_of(module: str) -> Path:
    floor = ROOT / "shared" if module.startswith("antiphon_shared") else ROOT
    path = floor.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def pure_modules() -> list[str]:
    own = (module for module in graph().modules if module.split(".")[0] in PACKAGES)
    return [module for module in sorted(own) if MARK.search(docstring_of(path_of(module)))]


def docstring_of(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def test_a_module_declared_pure_reaches_no_clock_redis_environment_or_log() -> None:
    pure = pure_modules()
    assert len(pure) > PURE_MIN
    chains = [
        " -> ".join(chain)
        for module in pure
        for impure in IMPURE
        if (chain := graph().find_shortest_chain(importer=module, imported=impure))
    ]
    assert chains == []


def test_every_listed_impure_module_exists() -> None:
    assert set(IMPURE) <= graph().modules
