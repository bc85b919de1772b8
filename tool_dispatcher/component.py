"""The wiring: only this file reads settings, keys and tools, and builds the long-lived objects."""

import asyncio
from collections.abc import Mapping
from functools import partial

import structlog
from antiphon_shared import faults
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.process.breaker_settings import BreakerSettings
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.tools.calls import Catalogue

from tool_dispatcher.access.gatekeeper import Gatekeeper
from tool_dispatcher.access.grants import Verifier
from tool_dispatcher.access.permission import ApprovalRule
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import Bounds
from tool_dispatcher.bounds.rate import RateLimiter
from tool_dispatcher.bounds.slots import Slots
from tool_dispatcher.builtin import builtins
from tool_dispatcher.catalogue import Registry, load_tools, to_catalogue
from tool_dispatcher.executor import Executor
from tool_dispatcher.handlers import ToolDispatcher
from tool_dispatcher.idempotency.ledger import Ledger
from tool_dispatcher.operator_hints import add_hints
from tool_dispatcher.planning.planner import Planner
from tool_dispatcher.results.outcome import Outcomes
from tool_dispatcher.running.attempt import Attempts
from tool_dispatcher.running.cache import ReadCache
from tool_dispatcher.running.call import Caller
from tool_dispatcher.running.threads import Threads
from tool_dispatcher.settings import ToolDispatcherSettings
from tool_dispatcher.sql.limits import Limits
from tool_dispatcher.sql.query import SqlQueries


def build(
    bus: Bus,
    registry: Mapping[str, Tool] | None = None,
    settings: ToolDispatcherSettings | None = None,
    gatekeeper: Gatekeeper | None = None,
    caller: Caller | None = None,
) -> Service:
    """Return the tool dispatcher, by default with the tools of ANTIPHON_TOOLS. Raises ConfigurationError.

    A replay, which runs no tool, passes a gatekeeper and a caller.
    """
    settings = load(ToolDispatcherSettings) if settings is None else settings
    own = _own_tools() if registry is None else registry
    offered = Registry([*own.values(), *builtins(_planner(bus, own))])
    queries = _sql_queries(settings)
    tools = Registry([*offered.values(), queries.tool])
    rule = ApprovalRule.checked(settings.approval, settings.approval_after_untrusted, own)
    breakers = SharedBreakers(bus, load(BreakerSettings).breaker)
    threads = Threads(settings.threads)
    outcomes = Outcomes(bus.redactor, settings.stored_result_bytes_max)
    lease_s, retention_s = bus.settings.lease_s, bus.settings.retention_s
    ledger = Ledger(bus.batcher, bus.keys, lease_s=lease_s, retention_s=retention_s, claims=bus.claims)
    executor = Executor(
        tools,
        gatekeeper or Gatekeeper(tools, _verifier(settings), rule),
        caller
        or _caller(
            bus, ledger, tools, breakers=breakers, threads=threads, outcomes=outcomes, settings=settings
        ),
        outcomes=outcomes,
        bounds=Bounds(settings.batch_concurrency, settings.collapse_above),
        result_bytes_max=settings.result_bytes_max,
        batch_bytes_max=bus.settings.max_event_bytes * 3 // 4,
    )
    catalogue, published = _catalogue(bus, offered, settings, rule), asyncio.Event()
    publish = partial(_publish, bus, ledger, catalogue, settings.catalogue_interval_s, published)

    async def close() -> None:
        threads.close()
        await queries.close()

    return Service(
        "tool_dispatcher",
        ToolDispatcher(executor).handlers,
        settings.concurrency,
        background=(publish, breakers.run),
        close=close,
        is_ready=published.wait,
        stops_with_session=True,
    )


def _own_tools() -> Registry:
    """Return the tools of ANTIPHON_TOOLS. Raises ConfigurationError."""
    tools = load_tools(load(PipelineSettings).tools)
    if not tools:
        structlog.get_logger().warning("no_tools", hint="Name modules with tools in ANTIPHON_TOOLS.")
    return tools


def _catalogue(
    bus: Bus, offered: Registry, settings: ToolDispatcherSettings, rule: ApprovalRule
) -> Catalogue:
    """Return the catalogue to publish: the tools for models, without SQL, which only workflows call."""
    catalogue = to_catalogue(offered, settings.default_scopes, lambda tool: rule.of(tool.name, tool.contract))
    catalogue = add_hints(catalogue, settings.hints)
    # A default or an example may hold a secret of this process.
    return Catalogue.model_validate(bus.redactor.json(catalogue.model_dump(mode="json")))


async def _publish(
    bus: Bus, ledger: Ledger, catalogue: Catalogue, interval_s: float, published: asyncio.Event
) -> None:
    """Publish the catalogue at every interval, so that it is restored if it expires or Redis loses it."""
    for partition in range(bus.keys.partitions):
        await retry_while_unavailable("see which server this is", partial(ledger.look_at_history, partition))

    async def publish_once() -> None:
        await faults.pass_point("catalogue.before")
        await bus.publish_catalogue(catalogue)

    while True:
        await retry_while_unavailable("publish catalogue", publish_once)
        published.set()
        await asyncio.sleep(interval_s)


def _planner(bus: Bus, own: Mapping[str, Tool]) -> Planner:
    return Planner(own, bus.catalogue, WorkflowStore(bus).specification)


def _sql_queries(settings: ToolDispatcherSettings) -> SqlQueries:
    limits = Limits(
        settings.sql_cpu_s, settings.sql_memory_mb, settings.sql_rows_max, settings.stored_result_bytes_max
    )
    return SqlQueries(limits, settings.sql_concurrency)


_GRANT_KEYS = "ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE"


def _verifier(settings: ToolDispatcherSettings) -> Verifier:
    if not settings.grant_key_file:
        return Verifier((), settings.default_scopes)
    from antiphon_shared.tools.grant_keys import load_keys  # cryptography takes long to import

    return Verifier(load_keys(settings.grant_key_file, _GRANT_KEYS), settings.default_scopes)


def _caller(
    bus: Bus,
    ledger: Ledger,
    tools: Registry,
    *,
    breakers: SharedBreakers,
    threads: Threads,
    outcomes: Outcomes,
    settings: ToolDispatcherSettings,
) -> Caller:
    attempts = Attempts(
        outcomes,
        breakers,
        threads,
        settings.calls_max,
        Slots(bus.batcher, bus.keys, bus.settings.lease_s),
        RateLimiter(bus.batcher, bus.keys),
    )
    return Caller(
        tools,
        ledger,
        ReadCache(bus.batcher, bus.keys) if settings.cache else None,
        attempts,
        outcomes,
        bus.settings.retention_s,
    )
