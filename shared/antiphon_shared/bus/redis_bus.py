"""The bus, with which other packages read sessions, publish events and store shared content."""

import asyncio
from collections.abc import Awaitable, Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

import structlog
from pydantic import ValidationError
from pydantic_core import from_json

from antiphon_shared.bus import scripts
from antiphon_shared.bus.address import DEFAULT_URL
from antiphon_shared.bus.batcher import Batcher, OneLane, Route
from antiphon_shared.bus.cluster import ClusterRoute
from antiphon_shared.bus.connection import Client, Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.live_format import LiveFormat
from antiphon_shared.bus.reads import PendingRead
from antiphon_shared.bus.sessions import RedisSession
from antiphon_shared.bus.signing import Signer, require_key, verified_event
from antiphon_shared.bus.tls import with_certificates
from antiphon_shared.bus.waiting import position_of, query_of
from antiphon_shared.bus.wire import Argument, Replicas, exchange_over
from antiphon_shared.events import AnyEvent, decode, encode
from antiphon_shared.process.clock import milliseconds, monotonic_s
from antiphon_shared.process.errors import ConfigurationError, UnreadableEvent
from antiphon_shared.process.settings import BusSettings, PipelineSettings, load
from antiphon_shared.redaction.redactor import WELL_KNOWN, Redactor
from antiphon_shared.redaction.secret_values import secret_values
from antiphon_shared.tools.calls import CATALOGUE, Catalogue, ToolDefinition
from antiphon_shared.values import DEFAULT_TENANT, Tenant

if TYPE_CHECKING:  # local_inboxes imports the readers, which import the bus
    from antiphon_shared.bus.local_inboxes import LocalInboxes

Published = Literal["sent", "known", "waiting", "overloaded", "unknown"]
_DEADLINE_S = 300.0


class Bus:
    """One process's access to the streams and documents of a deployment."""

    def __init__(
        self,
        connections: Connections,
        keys: Keys,
        settings: BusSettings,
        redactor: Redactor = WELL_KNOWN,
        signer: Signer | None = None,
    ) -> None:
        self.signer = signer
        """Signs outgoing messages and verifies incoming ones; None if messages are not signed."""
        self.redactor = redactor
        """Removes the secrets of this process from error texts before they enter an event."""
        self.batcher = Batcher()
        """Sends commands; it may be passed on before the bus is open, and works from then on."""
        self.claims = Batcher() if settings.wait_replicas else self.batcher
        """Sends writes that must reach ANTIPHON_BUS_WAIT_REPLICAS, and waits for that on its own connection."""
        self.connections = connections
        self.keys = keys
        self.formats = LiveFormat(self.batcher, keys)
        """The format in which new sessions are opened."""
        self.settings = settings
        self.local_inboxes: LocalInboxes | None = None
        """The inboxes that are read in this process, if several components share it."""
        self._catalogues: dict[str, Catalogue] = {}
        self._contents_due: dict[str, float] = {}
        """The time at which content has to be stored again, by its hash."""

    @classmethod
    def from_settings(cls, pipeline: PipelineSettings | None = None, bus: BusSettings | None = None) -> "Bus":
        """Return the bus that the environment describes, not yet open. Raises ConfigurationError."""
        pipeline = pipeline or load(PipelineSettings)
        url = pipeline.redis_url.get_secret_value() if pipeline.redis_url else DEFAULT_URL
        files = (pipeline.redis_tls_ca, pipeline.redis_tls_cert, pipeline.redis_tls_key)
        url = with_certificates(url, *files)
        keys, redactor = Keys(pipeline.namespace, pipeline.partitions), Redactor(secret_values(pipeline))
        signer = Signer.of(pipeline.signing_key.get_secret_value()) if pipeline.signing_key else None
        return cls(Connections(url), keys, bus or load(BusSettings), redactor, signer)

    async def open(self, patience_s: float | None = None) -> None:
        """Connect, retrying with backoff. Raises RedisUnavailable after `patience_s`."""
        try:
            await asyncio.wait_for(self.connections.open(), patience_s)
        except TimeoutError:
            raise self.connections.unavailable from None
        self.batcher.open(self.route())
        if self.claims is not self.batcher:
            if self.connections.is_fake:
                raise ConfigurationError(
                    "ANTIPHON_BUS_WAIT_REPLICAS: the Redis inside this process has no replicas.",
                    hint="Unset it, or set ANTIPHON_REDIS_URL.",
                )
            self.claims.open(
                self.route(Replicas(self.settings.wait_replicas, self.settings.wait_replicas_timeout_s))
            )

    def route(self, replicas: Replicas | None = None) -> Route:
        """Return a new route of commands to Redis, over separate connections."""
        if self.connections.is_cluster:
            return ClusterRoute(self.connections, replicas)
        return OneLane(exchange_over(self.connections, replicas))

    async def close(self) -> None:
        await self.connections.close()

    @property
    def client(self) -> Client:
        """Return the client for commands that neither block nor gain from sharing a round trip."""
        return self.connections.main

    @property
    def shared_retention_s(self) -> float:
        """Return how long content that sessions share is kept: longer than any of them."""
        return max(2 * self.settings.retention_s, _CATALOGUE_LIFE_MIN_S)

    def session(self, session_id: str) -> RedisSession:
        """Return the store of one session."""
        return RedisSession(self.batcher, self.keys, session_id, self.settings.retention_s, self.signer)

    async def first_event(self, session_id: str) -> AnyEvent | None:
        """Return the first event of a session, for callers that add events to it; None if it is not stored.

        Raises BadSignature, and KeyMissing if the session's messages are signed and this process has no key.
        """
        log = self.keys.log(session_id)
        entries = await self.batcher.submit("XRANGE", log, "-", "+", "COUNT", 1)
        if not entries:
            return None
        require_key(self.signer, entries[0][1])
        return decode(verified_event(self.signer, log, entries[0][1]))

    async def query_of(self, session_id: str) -> AnyEvent | None:
        """Return the session's first event, or the query that waits under that id, or None.

        Raises UnreadableEvent if the id holds other content.
        """
        log, waiting = self.keys.log(session_id), self.keys.queries_waiting(self.keys.partition(session_id))
        # In the order in which a query moves, so that the second read finds a query that is admitted in between.
        record, entries = await asyncio.gather(
            self.batcher.submit("HGET", waiting, session_id),
            self.batcher.submit("XRANGE", log, "-", "+", "COUNT", 1),
        )
        if entries:
            return decode(verified_event(self.signer, log, entries[0][1]))
        return None if record is None else query_of(record, log, self.signer)

    async def publish(
        self,
        event: AnyEvent,
        mode: Literal["open", "signal"],
        deadline_s: float = _DEADLINE_S,
        tenant: Tenant = DEFAULT_TENANT,
    ) -> Published:
        """Add an event from outside to its session, which the event opens or which must exist.

        A query that cannot be opened yet waits in the queue of its `tenant`, until its deadline at most; `deadline_s`
        is the default.

        Args:
            event: the event, whose subject is the session's id.
            mode: `open` for a query, which opens its session; `signal` for an event of an existing session.

        Returns:
            `sent`; for a query also `known` if its session exists already, `waiting` if it has to wait, and
            `overloaded` if too many wait; for a signal also `unknown` if its session does not exist.
        """
        session_id, partition = event.subject, self.keys.partition(event.subject)
        inbox = event.data.inbox
        assert inbox is not None, "only events with an inbox come from outside"
        keys = [self.keys.log(session_id), self.keys.inbox(partition, inbox), self.keys.feed(partition)]
        raw = encode(event)
        arguments: list[Argument] = [session_id, event.type, raw]
        signatures = [] if self.signer is None else [self.signer.sign(stream, raw) for stream in keys[:2]]
        if mode == "signal":
            result: bytes = await self.batcher.run(
                scripts.PUBLISH, keys, [*arguments, self.settings.feed_length, *signatures]
            )
        else:
            position = position_of(event, tenant, deadline_s, self.settings.deadline_max_s)
            keys += self.keys.admission(partition, position.tenant)
            bounds: list[Argument] = [
                self.settings.max_open_sessions,
                self.settings.max_waiting_sessions,
                self.settings.retention_ms,
                self.settings.feed_length,
            ]
            position_fields: list[Argument] = [position.tenant, position.submitted_ms, position.deadline_ms]
            result = await self.batcher.run(
                scripts.ARRIVE, keys, [*arguments, *bounds, *position_fields, *signatures]
            )
        return result.decode()  # type: ignore[return-value]  # one of the five results of the scripts

    async def publish_catalogue(self, catalogue: Catalogue) -> str:
        """Make `catalogue` the current one, and return its hash, by which sessions read it."""
        content_hash = await self.keep_catalogue(catalogue)
        await self.batcher.submit("SET", self.keys.catalogue(), content_hash)
        return content_hash

    async def keep_catalogue(self, catalogue: Catalogue) -> str:
        """Store `catalogue` without making it the current one; return its hash."""
        format = await self.formats.now()  # one that every worker can read
        content = CATALOGUE.write(catalogue.in_format(format), format)
        content_hash = blake2b(content, digest_size=16).hexdigest()
        lifetime_ms = milliseconds(self.shared_retention_s)
        await self.batcher.submit(
            "SET", self.keys.catalogue_content(content_hash), content, "PX", lifetime_ms
        )
        return content_hash

    def current_catalogue(self) -> Awaitable[str | None]:
        """Return the hash of the current tool catalogue; None until a dispatcher has published one."""
        return PendingRead(self.batcher.submit("GET", self.keys.catalogue()), _text)

    async def catalogue(self, content_hash: str) -> Catalogue:
        """Return the tool catalogue with that hash; an empty one if it is no longer stored."""
        if content_hash not in self._catalogues:
            content = await self.batcher.submit("GET", self.keys.catalogue_content(content_hash))
            if content is None:
                return Catalogue()
            if len(self._catalogues) >= _CATALOGUES_CACHED_MAX:
                self._catalogues.clear()
            self._catalogues[content_hash] = _readable(content)
        return self._catalogues[content_hash]

    async def keep_content(self, content: bytes) -> str:
        """Store content that the records of many sessions share, longer than any of them; return its hash."""
        content_hash = blake2b(content, digest_size=16).hexdigest()
        now_s = monotonic_s()
        if now_s >= self._contents_due.get(content_hash, 0.0):
            retention_s = self.shared_retention_s
            await self.batcher.submit(
                "SET", self.keys.content(content_hash), content, "PX", milliseconds(retention_s)
            )
            if len(self._contents_due) >= _CONTENTS_CACHED_MAX:
                self._contents_due.clear()
            self._contents_due[content_hash] = now_s + retention_s / 4
        return content_hash

    async def content(self, content_hash: str) -> bytes | None:
        """Return the content with that hash, or None if it is not stored."""
        content: bytes | None = await self.batcher.submit("GET", self.keys.content(content_hash))
        return content

    async def specification(self, content_hash: str) -> bytes | None:
        """Return a stored specification of workflows, or None if it is not stored."""
        content: bytes | None = await self.batcher.submit("GET", self.keys.specification(content_hash))
        return content

    async def ensure_groups(self, streams: Iterable[tuple[str, str]]) -> None:
        """Create missing streams and consumer groups, given as (stream, group), from their beginning."""
        for stream, group in streams:
            try:
                await self.batcher.submit("XGROUP", "CREATE", stream, group, "0", "MKSTREAM")
            except Exception as error:
                if "BUSYGROUP" not in str(error):
                    raise


def _text(content: bytes | None) -> str | None:
    return content.decode() if content else None


def _readable(content: bytes) -> Catalogue:
    """Return a catalogue without the tools that cannot be read, such as tools of a later release."""
    try:
        return CATALOGUE.read(content)
    except UnreadableEvent as error:
        structlog.get_logger().warning("catalogue_tool_unreadable", error=error.message)
    try:
        fields = from_json(content)
        tools = tuple(tool for one in fields["tools"] if (tool := _tool(one)) is not None)
        return Catalogue(tools=tools, default_scopes=fields.get("default_scopes", ()))
    except (ValueError, LookupError, TypeError, AttributeError):
        return Catalogue()


def _tool(fields: object) -> ToolDefinition | None:
    try:
        return ToolDefinition.model_validate(fields)
    except ValidationError:
        return None


_CATALOGUES_CACHED_MAX = 64
_CONTENTS_CACHED_MAX = 4_096
_CATALOGUE_LIFE_MIN_S = 7_200.0
"""Longer than the time between two publications of a dispatcher, even if the retention is short."""
