"""The dispatcher as a service: built from the environment or from tools, and publishing its catalogue."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ToolsRequested
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.service import Service
from antiphon_shared.tools.calls import REPEAT_CALL, Catalogue
from antiphon_shared.tools.relevance import ASK_USER, BUILT_INS, FIND_TOOLS, PLAN, READ_RESULT, RECALL
from structlog.testing import capture_logs

from tests.tool_dispatcher.builders import Ledger, a_bus, until
from tool_dispatcher.catalogue import Registry, to_catalogue
from tool_dispatcher.component import build
from tool_dispatcher.operator_hints import add_hints
from tool_dispatcher.settings import ToolDispatcherSettings


@asynccontextmanager
async def publishing(service: Service) -> AsyncIterator[None]:
    """Publish the service's catalogue, again and again."""
    task = asyncio.ensure_future(service.background[0]())
    try:
        yield
    finally:
        task.cancel()


async def published(bus: Bus, service: Service) -> Catalogue:
    async with publishing(service):
        await until(bus.current_catalogue)
    return await bus.catalogue(str(await bus.current_catalogue()))


async def test_the_dispatcher_publishes_its_catalogue_at_once(bus: Bus) -> None:
    settings = ToolDispatcherSettings(default_scopes=("read", "crm"), approval=("send",))
    registry = Registry([Ledger().tool("look"), Ledger().tool("send", "write")])
    service = build(bus, registry, settings)
    assert set(service.handlers) == {ToolsRequested}
    catalogue = await published(bus, service)
    assert set(catalogue.by_name) == {"look", "send", *BUILT_INS}
    assert {name: one.approval for name, one in catalogue.by_name.items() if one.approval != "never"} == {
        "send": "always"
    }
    assert catalogue.default_scopes == ("crm", "read")
    assert service.close is not None
    await service.close()


async def test_the_dispatcher_loads_the_tools_named_by_the_environment(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTIPHON_TOOLS", "tests.tool_dispatcher.toolboxes.empty")
    with pytest.raises(ConfigurationError, match="has no tool at its top level"):
        build(bus)
    monkeypatch.setenv("ANTIPHON_TOOLS", "tests.tool_dispatcher.toolboxes.library")
    assert build(bus).name == "tool_dispatcher"


async def test_a_dispatcher_without_tools_logs_how_to_name_them(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTIPHON_TOOLS", raising=False)
    with capture_logs() as logs:
        build(bus)
    (hint,) = [log["hint"] for log in logs if log["event"] == "no_tools"]
    assert hint == "Name modules with tools in ANTIPHON_TOOLS."


async def test_the_catalogue_is_published_periodically(bus: Bus) -> None:
    """Keys that Redis has lost are soon restored."""
    service = build(bus, Registry([Ledger().tool("look")]), ToolDispatcherSettings(catalogue_interval_s=0.1))
    async with publishing(service):
        await until(bus.current_catalogue)
        await bus.batcher.submit("DEL", bus.keys.catalogue())
        await until(bus.current_catalogue)


async def test_all_tools_need_a_person_but_the_built_in_ones() -> None:
    async with a_bus() as bus:
        service = build(bus, Registry([Ledger().tool("look")]), ToolDispatcherSettings(approval=("*",)))
        catalogue = await published(bus, service)
    assert {name: one.approval for name, one in catalogue.by_name.items()} == {
        "look": "always",
        FIND_TOOLS: "never",
        ASK_USER: "never",
        PLAN: "never",
        READ_RESULT: "never",
        RECALL: "never",
        REPEAT_CALL: "never",
    }


async def test_a_rule_for_an_unknown_tool_is_refused() -> None:
    async with a_bus() as bus:
        with pytest.raises(ConfigurationError, match="tool 'sned' does not exist"):
            build(bus, Registry([Ledger().tool("send")]), ToolDispatcherSettings(approval=("sned",)))


async def test_hints_of_a_file_are_published_with_the_tools(tmp_path: Path) -> None:
    (tmp_path / "hints.yaml").write_text("send: { requires: [look (needs id)], next: [recall] }")
    async with a_bus() as bus:
        settings = ToolDispatcherSettings(hints=str(tmp_path / "hints.yaml"))
        registry = Registry([Ledger().tool("look"), Ledger().tool("send")])
        catalogue = await published(bus, build(bus, registry, settings))
    description = registry["send"].definition.description
    assert (
        catalogue.by_name["send"].description == f"{description}\nRequires: look (needs id).\nNext: recall."
    )
    assert catalogue.by_name["look"] == registry["look"].definition


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            b"sned: {}\nsend: {hnit: x}",
            r"line 1, column 1: sned: there is no tool 'sned'.*\n.*line 2, column 8",
        ),
        (b"\xff", "the file is not UTF-8 text"),
        (None, "the file cannot be read: No such file"),
    ],
)
async def test_hints_that_cannot_be_used_stop_the_start(
    content: bytes | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is not None:
        (tmp_path / "hints.yaml").write_bytes(content)
    monkeypatch.setenv("ANTIPHON_TOOL_DISPATCHER_HINTS", str(tmp_path / "hints.yaml"))
    named = rf"ANTIPHON_TOOL_DISPATCHER_HINTS: some hints are invalid.*\n.*hints\.yaml: {why}"
    async with a_bus() as bus:
        with pytest.raises(ConfigurationError, match=named):
            build(bus, Registry([Ledger().tool("send")]))


def test_hints_may_be_given_in_the_variable_itself() -> None:
    catalogue = to_catalogue(Registry([Ledger().tool("send"), Ledger().tool("look")]))
    hinted = add_hints(catalogue, '{"send": {"requires": ["look"], "hint": "Name the price."}}')
    assert hinted.by_name["send"].description.endswith("Requires: look first.\nName the price.")
    with pytest.raises(ConfigurationError, match="line 1, column 2: sned: there is no tool 'sned'"):
        add_hints(catalogue, '{"sned": {}}')


async def test_a_key_file_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pem")
    async with a_bus() as bus:
        with pytest.raises(ConfigurationError, match=r"GRANT_KEY_FILE: .*missing\.pem cannot be read"):
            build(bus, Registry(), ToolDispatcherSettings(grant_key_file=missing))


@pytest.mark.parametrize(
    ("variable", "value"),
    [("CONCURRENCY", "0"), ("THREADS", "many"), ("RESULT_BYTES_MAX", "-1"), ("THREAD", "1")],
)
async def test_a_bad_setting_is_refused_by_name(
    variable: str, value: str, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"ANTIPHON_TOOL_DISPATCHER_{variable}", value)
    with pytest.raises(ConfigurationError, match=f"ANTIPHON_TOOL_DISPATCHER_{variable}.*antiphon settings"):
        build(bus, Registry())
