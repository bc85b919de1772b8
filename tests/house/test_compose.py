"""Dockerfile and docker-compose.yml tell the truth about the programs and their settings."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from antiphon_shared.events import COMPONENTS

from antiphon.cli import app
from antiphon.settings_table import GROUPS, variables

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
RUNTIME_STAGE = DOCKERFILE.rpartition("FROM ")[2]
NOT_OURS = {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"}


def instruction(name: str, text: str = RUNTIME_STAGE) -> list[str]:
    """Return the text after each `name` in a Dockerfile, continuation lines joined."""
    return re.findall(rf"^{name} +(.+)$", text.replace("\\\n", " "), re.M)


def known_settings() -> set[str]:
    return {row[0] for _, kind in GROUPS for row in variables(kind)}


def runs(arguments: list[str]) -> None:
    """Fail unless the command line would reach a command with those options; nothing is run."""
    assert arguments[0] in PROJECT["project"]["scripts"]
    command = typer.main.get_command(app)
    name, *rest = arguments[1:]
    found = command.get_command(command.make_context("antiphon", [], resilient_parsing=True), name)  # type: ignore[attr-defined]  # a typer app with several commands is a group
    assert found is not None, f"there is no command {name}"
    found.make_context(name, list(rest))


def test_compose_has_one_service_per_component_and_redis() -> None:
    assert set(SERVICES) == {*COMPONENTS, "redis"}


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_service_runs_its_component_and_asks_for_its_health(component: str) -> None:
    entrypoint = yaml.safe_load(instruction("ENTRYPOINT")[0])
    started = [*entrypoint, *SERVICES[component]["command"]]
    assert started == ["antiphon", "run", component]
    runs(started)
    probe, *asked = SERVICES[component]["healthcheck"]["test"]
    assert (probe, asked) == ("CMD", ["antiphon", "health", component, "--here"])
    runs(asked)
    assert (ROOT / component / "__main__.py").exists()


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_component_waits_for_redis_and_is_replicated_at_will(component: str) -> None:
    service = SERVICES[component]
    assert service["depends_on"] == {"redis": {"condition": "service_healthy"}}
    assert service["deploy"]["replicas"] == f"${{{component.upper()}_REPLICAS:-1}}"
    assert service["build"] == "."


def test_redis_persists_acknowledged_writes_and_has_a_health_check() -> None:
    redis = SERVICES["redis"]
    command = redis["command"]
    assert redis["image"] == "redis:8"
    assert command[command.index("--appendonly") + 1] == "yes"
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"
    assert redis["healthcheck"]["test"] == ["CMD", "redis-cli", "ping"]
    assert any(volume.endswith(":/data") for volume in redis["volumes"])


@pytest.mark.parametrize("component", COMPONENTS)
def test_every_variable_of_a_service_is_a_setting(component: str) -> None:
    environment = set(SERVICES[component]["environment"])
    assert environment - NOT_OURS <= known_settings()
    assert environment >= {"ANTIPHON_REDIS_URL", "ANTIPHON_NAMESPACE", "ANTIPHON_PARTITIONS"}


@pytest.mark.parametrize("name", ["docker-compose.yml", "Dockerfile", "Makefile"])
def test_every_variable_that_is_named_is_a_setting(name: str) -> None:
    named = set(re.findall(r"\bANTIPHON_[A-Z0-9_]+", (ROOT / name).read_text()))
    assert named <= known_settings()


def test_the_coordinator_and_the_engine_receive_the_same_models() -> None:
    models = [
        {name: SERVICES[component]["environment"][name] for name in ("ANTIPHON_MODEL", "ANTIPHON_MODELS")}
        for component in ("coordinator", "reasoning_engine")
    ]
    assert (
        models[0]
        == models[1]
        == {"ANTIPHON_MODEL": "${ANTIPHON_MODEL:-}", "ANTIPHON_MODELS": "${ANTIPHON_MODELS:-}"}
    )


def test_every_service_signs_with_the_same_key() -> None:
    signing = {SERVICES[component]["environment"]["ANTIPHON_SIGNING_KEY"] for component in COMPONENTS}
    assert signing == {"${ANTIPHON_SIGNING_KEY:-}"}


@pytest.mark.parametrize("key", ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"])
def test_only_the_engine_is_given_the_key(key: str) -> None:
    holders = [name for name, service in SERVICES.items() if key in service.get("environment", {})]
    assert holders == ["reasoning_engine"]


def test_the_image_holds_every_package_and_nothing_for_developers() -> None:
    copied = {words.split()[0] for words in instruction("COPY", DOCKERFILE) if len(words.split()) == 2}
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {path.split("/")[0] for path in (*wheel["packages"], *wheel["force-include"])} <= copied
    assert "[test]" not in DOCKERFILE
    assert "tests" not in copied


def test_everything_the_image_copies_exists_and_is_let_through() -> None:
    let_through = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.M)
    for words in instruction("COPY", DOCKERFILE):
        if not words.startswith("--from"):
            for source in words.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert source in let_through, source


def test_the_image_is_safe_to_run() -> None:
    assert "PYTHONSAFEPATH=1" in instruction("ENV")[0]
    assert instruction("USER") == ["antiphon"]
    versions = set(re.findall(r"^FROM python:(\d+\.\d+)-slim", DOCKERFILE, re.M))
    assert [f">={version}" for version in versions] == [PROJECT["project"]["requires-python"]]
