"""An entry of the queue or of an inbox with any content ends in one way, and the pipeline continues.

The five components run on a real Redis, in this process: a component that ended would fail the test by itself.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, cast
from unittest.mock import patch

import pytest
import structlog
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.consumer import Consumer
from antiphon_shared.bus.dead_letters import LETTER
from antiphon_shared.bus.intake import Intake
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import Signer
from antiphon_shared.events import COMPONENTS, Component, QuerySubmitted, encode
from antiphon_shared.process import logs
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import new_id
from antiphon_shared.process.runner import run_service
from antiphon_shared.process.settings import BusSettings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.exceptions import ResponseError

import context_synthesizer.component
import coordinator.component
import reasoning_engine.component
import response_assembler.component
import tool_dispatcher.component
from antiphon.embedded import registry_of
from tests.envelopes import an_event
from tests.flows.hostile_entries import HIGHEST, QUEUE, Hostile, hostile
from tests.redis_server import RedisServer

SETTINGS = BusSettings(
    lease_s=1.0,
    retry_delay_s=0.02,
    max_deliveries=3,
    max_attempts=2,
    max_event_bytes=100_000,
    retention_s=600,
)
SIGNER = Signer((b"a key of some length",))
LIMIT_S = 60.0


class Hostage:
    """A pipeline in this process, and the writers to its streams."""

    def __init__(self, url: str, namespace: str, signer: Signer | None) -> None:
        self._runner = asyncio.Runner()
        self.bus = Bus(Connections(url), Keys(namespace, 2), SETTINGS, signer=signer)
        self._stop: asyncio.Event | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._asked = 0
        self._patches = ExitStack()
        self._ends: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        """The outcome of each entry, by stream and id."""

    def __enter__(self) -> "Hostage":
        self._patches.enter_context(patch.object(Consumer, "_commit", self._noting_commits()))
        self._patches.enter_context(patch.object(Intake, "_arrive", self._noting_arrivals()))
        self._patches.enter_context(patch.object(Intake, "_reject", self._noting_rejections()))
        self._runner.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._runner.run(self._end())
        finally:
            self._runner.close()
            self._patches.close()

    def _noting_commits(self) -> Any:
        commit = Consumer._commit

        async def noting(consumer: Consumer, entry: Entry, delivery: Any, operations: Any) -> bytes:
            listed = list(operations)
            result = await commit(consumer, entry, delivery, listed)
            if result != b"conflict":
                is_letter = any(name == "dead_letter" for name, *_ in listed)
                way = "set aside" if is_letter else "handled" if delivery else "dropped"
                self._ends[entry.stream, entry.id].append(way)
            return result

        return noting

    def _noting_arrivals(self) -> Any:
        arrive = Intake._arrive

        async def noting(intake: Intake, entry: Entry, event: Any) -> None:
            await arrive(intake, entry, event)
            if "set aside" not in self._ends[entry.stream, entry.id]:  # too many wait
                assert await self.bus.query_of(event.subject) is not None
                self._ends[entry.stream, entry.id].append("handled")

        return noting

    def _noting_rejections(self) -> Any:
        reject = Intake._reject

        async def noting(intake: Intake, entry: Entry, error: Any) -> None:
            await reject(intake, entry, error)
            self._ends[entry.stream, entry.id].append("set aside")

        return noting

    def meets(self, entries: list[Hostile]) -> None:
        """Put the entries where they go, wait until each has ended, and see how; then ask something."""
        self._runner.run(self._meet(entries))

    async def _start(self) -> None:
        bus = self.bus
        await bus.open()
        self._stop = asyncio.Event()
        services = [
            coordinator.component.build(bus),
            reasoning_engine.component.build(bus, None, "offline"),
            tool_dispatcher.component.build(bus, registry_of(["examples.courses"])),
            context_synthesizer.component.build(bus),
            response_assembler.component.build(bus),
        ]
        self._tasks = [asyncio.create_task(run_service(bus, one, self._stop, 1.0)) for one in services]
        await self._ask("closed")
        await self._spoil()

    async def _spoil(self) -> None:
        """Store a session with junk documents, and one with keys of other types."""
        submit, of = self.bus.batcher.submit, self.bus.keys.of_session
        for name in ("state", "response", "briefing"):
            await submit("HSET", of("junk", name), "version", "x", "content", "\xff junk")
            await submit("SET", of("spoilt", name), "x")
        await submit("RPUSH", of("junk", "memory"), "junk")
        await submit("XADD", self.bus.keys.log("junk"), "*", "event", "junk")
        await submit("SET", self.bus.keys.log("spoilt"), "x")
        await submit("SET", of("spoilt", "memory"), "x")

    async def _end(self) -> None:
        assert self._stop is not None
        self._stop.set()
        await asyncio.gather(*self._tasks)
        await self.bus.close()

    async def _meet(self, entries: list[Hostile]) -> None:
        put = [(one, id) for one in entries if (id := await self._put(one)) is not None]
        await self._until(self._is_quiet, lambda: f"of {entries} something has not ended")
        await self._check(put)
        self._asked += 1
        await self._ask(f"good{self._asked}")

    async def _put(self, one: Hostile) -> str | None:
        """Return the id of the new entry; None when Redis itself refuses it."""
        fields = dict(one.fields)
        if one.is_signed and self.bus.signer and b"event" in fields:
            fields[b"signature"] = self.bus.signer.sign(self._stream(one), fields[b"event"]).encode()
        words = [word for pair in fields.items() for word in pair]
        id = f"{int(utc_now().timestamp() * 1000) + 10**10}-0" if one.id == "future" else one.id
        try:
            added: bytes = await self.bus.client.execute_command("XADD", self._stream(one), id, *words)
        except ResponseError as refusal:
            if "ID" not in str(refusal):
                raise
            return None
        return added.decode()

    def _stream(self, one: Hostile) -> str:
        keys = self.bus.keys
        return keys.queries() if one.to == QUEUE else keys.inbox(len(one.fields) % 2, one.to)  # type: ignore[arg-type]  # no component has a name like QUEUE

    async def _is_quiet(self) -> bool:
        """Return whether all streams are empty, with no entry to be delivered again."""
        self._check_all_run()
        keys = self.bus.keys
        streams = [keys.queries(), *(keys.inbox(p, name) for p in range(2) for name in COMPONENTS)]
        if any([await self.bus.batcher.submit("XLEN", stream) for stream in streams]):
            return False
        timers = [await self.bus.batcher.submit("ZRANGE", keys.timers(p), 0, -1) for p in range(2)]
        return not any(b"/retry/" in name for named in timers for name in named)

    async def _check(self, put: list[tuple[Hostile, str]]) -> None:
        """Check that each entry ended once: handled, rejected, or a dead letter, with the same content."""
        keys, dead = self.bus.keys, Counter[tuple[str, str]]()
        rejected = Counter([fields[b"entry"].decode() for _, fields in await self._all(keys.rejected())])
        for partition in range(2):
            for _, fields in await self._all(keys.dead(partition)):
                if fields[b"letter"]:
                    letter = LETTER.read(fields[b"letter"])
                    dead[keys.inbox(partition, cast(Component, letter.component)), letter.entry] += 1
        ends = self._ends.copy()
        self._ends.clear()
        for one, id in put:
            of_entry = ends[self._stream(one), id]
            # With the highest id it may be taken out of an inbox, unread: a dead letter without a letter.
            assert len(of_entry) == 1 or (id == HIGHEST and one.to != QUEUE and not of_entry), (one, of_entry)
        for (stream, id), of_entry in ends.items():  # those of retries too
            set_aside = rejected[id] if stream == keys.queries() else dead[stream, id]
            assert of_entry == (["set aside"] if set_aside else ["handled"]), (stream, id, of_entry)
            assert set_aside <= 1, (stream, id)
        assert rejected.keys() | {id for _, id in dead} <= {id for _, id in ends}
        # The marker too: the highest id comes again, as another entry of a new queue.
        for key in (keys.rejected(), keys.rejection(HIGHEST), *map(keys.dead, range(2))):
            await self.bus.batcher.submit("DEL", key)

    async def _all(self, stream: str) -> list[tuple[bytes, dict[bytes, bytes]]]:
        found: list[tuple[bytes, dict[bytes, bytes]]] = await self.bus.batcher.submit(
            "XRANGE", stream, "-", "+"
        )
        return found

    async def _ask(self, session_id: str) -> None:
        """Check that a good query is answered."""
        event = encode(an_event(QuerySubmitted(query="What is course 1 about?"), session_id))
        words: list[Any] = ["event", event]
        if self.bus.signer is not None:
            words += ["signature", self.bus.signer.sign(self.bus.keys.queries(), event)]
        await self.bus.client.execute_command("XADD", self.bus.keys.queries(), "*", *words)

        async def is_answered() -> bool:
            self._check_all_run()
            return await self.bus.session(session_id).response() is not None

        await self._until(is_answered, lambda: f"{session_id} was not answered")

    def _check_all_run(self) -> None:
        for task in self._tasks:
            if task.done():
                task.result()
                raise AssertionError("a component has ended")

    async def _until(self, condition: Any, failure: Any) -> None:
        try:
            async with asyncio.timeout(LIMIT_S):
                while not await condition():  # noqa: ASYNC110  # nobody tells what Redis holds
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise AssertionError(failure()) from None


@pytest.fixture(scope="module", params=["unsigned", "signed"])
def hostage(request: pytest.FixtureRequest, redis_server: RedisServer) -> Iterator[Hostage]:
    logs.configure("critical", "hostage")
    signer = SIGNER if request.param == "signed" else None
    with Hostage(redis_server.url, f"t{new_id().hex}", signer) as hostage:
        yield hostage
    structlog.reset_defaults()


@given(entries=st.lists(hostile(), min_size=1, max_size=12))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_each_hostile_entry_has_one_outcome_and_the_next_query_is_answered(
    hostage: Hostage, entries: list[Hostile]
) -> None:
    hostage.meets(entries)
