"""A private pipeline in one process: its Redis, and the five components as tasks on one bus."""

import asyncio
from collections.abc import Iterable
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_args

from antiphon_shared.bus.concurrency import end_tasks
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events.codec import explain
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.runner import run_services
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import BusSettings, load
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secret_values
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.tools.contract import Scope
from pydantic import TypeAdapter, ValidationError

from antiphon import private_redis
from antiphon.errors import PipelineFailed
from antiphon.own_packages import check_components
from reasoning_engine.settings import Provider
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.authoring.toolset import Toolset
from tool_dispatcher.catalogue import Registry, tools_of
from tool_dispatcher.settings import ToolDispatcherSettings

if TYPE_CHECKING:  # the SDK behind it takes long to import
    from reasoning_engine.port import Model

PROVIDERS: tuple[Provider, ...] = get_args(Provider)
_GRACE_S = 1.0
_CONNECT_PATIENCE_S = 10.0
_STOP_LIMIT_S = 15.0
"""The time after which the shutdown continues without a component."""


class EmbeddedPipeline:
    """The five components with the given tools, until stopped.

    Settings come from the environment, except those of Redis, namespace and partitions. `scopes` and `cache` override
    ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES and ANTIPHON_TOOL_DISPATCHER_CACHE. `model` is a provider or a model.
    """

    def __init__(
        self,
        tools: Iterable[Any],
        model: "Provider | Model | None",
        scopes: Iterable[str] | None = None,
        cache: bool | None = None,
    ) -> None:
        if not (model is None or hasattr(model, "reply") or model in PROVIDERS):
            raise ConfigurationError(f"model: {model!r} does not exist. Use {', '.join(PROVIDERS)}.")
        if isinstance(tools, str) or not isinstance(tools, Iterable):
            raise ConfigurationError(
                "tools: must be a list.", hint='Use for example tools=["examples.courses"].'
            )
        self._tools, self._model = list(tools), model
        self._scopes = None if scopes is None else _checked_scopes(scopes)
        self._cache = cache
        self._redis: private_redis.PrivateRedis | None = None
        self._bus: Bus | None = None
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    @property
    def storage(self) -> str:
        return self._redis.description if self._redis else ""

    @property
    def address(self) -> str:
        """Return the URL of its Redis while it runs; empty for one inside this process."""
        if self._bus is None or self._bus.connections.is_fake:
            return ""
        return self._bus.connections.url

    @property
    def scopes_missing(self) -> dict[str, tuple[str, ...]]:
        """Return the tools that need a grant, with the scopes that each of them lacks."""
        granted = set(self._dispatcher_settings().default_scopes)
        lacking = {
            name: tuple(sorted(tool.contract.scopes_needed - granted))
            for name, tool in self._registry.items()
        }
        return {name: scopes for name, scopes in lacking.items() if scopes}

    async def start(self) -> Bus:
        """Start the components; return their open bus. Raises ConfigurationError, RedisUnavailable."""
        check_components()
        if self._scopes is not None:
            check_scopes(self._scopes, self._registry)
        try:
            self._redis = private_redis.choose()
            connections = await self._redis.start()
            self._bus = Bus(connections, Keys(), load(BusSettings), Redactor(secret_values()))
            await self._bus.open(_CONNECT_PATIENCE_S)
            self._stopping = asyncio.Event()
            self._running = asyncio.create_task(
                run_services(self._bus, self._services(self._bus), self._stopping, _GRACE_S)
            )
        except BaseException:
            await self.stop()
            raise
        return self._bus

    async def stop(self) -> None:
        """End the components, then their Redis. Unanswered queries are lost."""
        self._stopping.set()
        running, self._running = self._running, None
        if running is not None:
            await end_tasks([running], _STOP_LIMIT_S)
            if running.done():  # marks its exception as retrieved
                await asyncio.gather(running, return_exceptions=True)
        if self._bus is not None:
            await self._bus.close()
            self._bus = None
        if self._redis is not None:
            await self._redis.stop()

    def check(self) -> None:
        """Raise PipelineFailed when a component has stopped by itself."""
        running = self._running
        if running is None or not running.done() or running.cancelled():
            return
        if (error := running.exception()) is not None:
            raise PipelineFailed(f"a component of the embedded pipeline stopped: {error!r}") from error

    def _services(self, bus: Bus) -> list[Service]:
        """Return the five components. Imported here, as a client of a running pipeline does not need them."""
        import context_synthesizer.component
        import coordinator.component
        import reasoning_engine.component
        import response_assembler.component
        import tool_dispatcher.component

        provider, model = (self._model, None) if isinstance(self._model, str) else (None, self._model)
        return [
            coordinator.component.build(bus),
            reasoning_engine.component.build(bus, model, provider),
            tool_dispatcher.component.build(bus, self._registry, self._dispatcher_settings()),
            context_synthesizer.component.build(bus),
            response_assembler.component.build(bus),
        ]

    @cached_property
    def _registry(self) -> Registry:
        return registry_of(self._tools)

    def _dispatcher_settings(self) -> ToolDispatcherSettings:
        own = {"default_scopes": self._scopes, "cache": self._cache}
        given = {name: value for name, value in own.items() if value is not None}
        return load(ToolDispatcherSettings).model_copy(update=given)


def dispatcher_settings(scopes: Iterable[str] | None) -> ToolDispatcherSettings:
    """Return the settings of the dispatcher, with `scopes` as default scopes. Raises ConfigurationError."""
    settings = load(ToolDispatcherSettings)
    if scopes is None:
        return settings
    return settings.model_copy(update={"default_scopes": _checked_scopes(scopes)})


def check_scopes(scopes: Iterable[str], tools: Registry) -> None:
    """Raise ConfigurationError for a scope that no tool needs, as a misspelt one would only hide tools."""
    needed = {"read", "write"}.union(*(tool.contract.scopes_needed for tool in tools.values()))
    for scope in scopes:
        if scope not in needed:
            raise ConfigurationError(
                f"scopes: no tool requires {scope!r}.", hint=did_you_mean(scope, sorted(needed))
            )


def _checked_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes if they are valid. Raises ConfigurationError."""
    listed = (scopes,) if isinstance(scopes, str) else tuple(scopes)
    try:
        return TypeAdapter(tuple[Scope, ...]).validate_python(listed)
    except ValidationError as error:
        raise ConfigurationError(
            f"scopes: {explain(error)}.", hint='Use for example scopes=["read", "write"].'
        ) from None


def registry_of(tools: Iterable[Any]) -> Registry:
    """Return tools, Toolsets, modules and names of modules as one registry. Raises ConfigurationError."""
    all_tools: list[Tool | Toolset] = []
    for one in tools:
        match one:
            case Tool() | Toolset():
                all_tools.append(one)
            case ModuleType(__name__=name) | str(name):
                all_tools += tools_of(name)
            case _:
                raise ConfigurationError(
                    f"tools: {one!r} is not a tool.", hint="Decorate its function with @tool(effect=...)."
                )
    return Registry(all_tools)
