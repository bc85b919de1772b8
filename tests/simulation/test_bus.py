"""The simulated bus behaves like Redis: the same commands to both give the same data in both."""

import asyncio
import re
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from antiphon_shared.bus import committing, scripts
from antiphon_shared.bus.admission import Admission
from antiphon_shared.bus.committing import STOPS_KEPT_MAX, Operation
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, CancellationRequested, Component, QuerySubmitted, encode
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.process.clock import milliseconds, utc_now
from antiphon_shared.process.settings import BusSettings

from tests.bus.builders import a_bus
from tests.envelopes import an_event
from tests.redis_server import RedisServer
from tests.simulation.bus import KEYS, PARTITION, SimulatedBus

GROUP: Component = "coordinator"
OTHER: Component = "context_synthesizer"
CONSUMERS = ("w1", "w2")
SESSIONS = ("s1", "s2", "s3", "s4", "s5", "s6")
TENANTS = ("big", "gold", "small")
WEIGHTS = {"gold": 3.0, "small": 0.5}
MINUTE_MS = 60_000
SETTINGS = BusSettings(max_open_sessions=2, max_waiting_sessions=3)


class Twins:
    """Both buses, given the same commands. Entry ids differ in time, so entries are matched by their order."""

    def __init__(self, real: Bus, random: Random) -> None:
        self.real, self.random = real, random
        self.simulated = SimulatedBus(
            now_ms=1_000_000_000,
            sessions_max=SETTINGS.max_open_sessions,
            waiting_max=SETTINGS.max_waiting_sessions,
            weights=WEIGHTS,
        )
        self.admission = Admission(real, WEIGHTS)
        self.entries: dict[str, str] = {}
        """Entries of the simulated inbox by those of the real one."""
        self.events = [an_event(CancellationRequested(reason=str(n)), "s1") for n in range(3)]

    @property
    def inbox(self) -> str:
        return self.real.keys.inbox(PARTITION, GROUP)

    async def publish(self) -> None:
        session_id = self.random.choice(SESSIONS)
        mode = self.random.choice(("open", "open", "signal"))
        tenant = self.random.choice(TENANTS)
        # Long ago, or long hence, on both clocks.
        options = QueryOptions(deadline_s=self.random.choice((40_000, 80_000)))
        query = an_event(QuerySubmitted(query="Why?", options=options), session_id)
        submitted = self.random.choice((utc_now(), datetime(1970, 1, 1, tzinfo=UTC)))
        event: AnyEvent = query.model_copy(update={"time": submitted})
        real = await self.real.publish(event, mode, tenant=tenant)  # type: ignore[arg-type]  # one of the two
        assert real == self.simulated.publish(event, mode, tenant=tenant)
        await self.pair()

    async def admit(self) -> None:
        assert tuple(await self.admission.admit(PARTITION)) == self.simulated.admit()
        await self.pair()

    async def read(self) -> None:
        consumer, count = self.random.choice(CONSUMERS), self.random.randrange(1, 4)
        where = ("STREAMS", self.inbox, ">")
        reply = await self.real.client.execute_command(
            "XREADGROUP", "GROUP", GROUP, consumer, "COUNT", count, *where
        )
        real = next(iter(reply.values())) if reply else []
        real = real[0] if real and isinstance(real[0][0], list) else real
        simulated = self.simulated.read(GROUP, consumer, count)
        assert [self.entries[entry.decode()] for entry, _ in real] == [handed.entry for handed in simulated]

    async def reclaim(self) -> None:
        """Reclaim with a lease of zero, so that all deliveries in flight can be taken."""
        consumer, most = self.random.choice(CONSUMERS), self.random.randrange(1, 4)
        in_flight = [entry for entry in self.entries if self.random.random() < 0.3]
        real = await self.real.batcher.run(
            scripts.RECLAIM, [self.inbox], [GROUP, consumer, 0, most, 2, *in_flight]
        )
        simulated = self.simulated.reclaim(GROUP, consumer, 0, most, [self.entries[one] for one in in_flight])
        assert [(self.entries[entry.decode()], count) for entry, count, _ in real] == [
            (handed.entry, handed.deliveries) for handed in simulated
        ]

    async def read_missed(self) -> None:
        consumer = self.random.choice(CONSUMERS)
        real = await self.real.batcher.run(scripts.MISSED, [self.inbox], [GROUP, consumer, 100, 2])
        simulated = self.simulated.missed(GROUP, consumer)
        assert [(self.entries[entry.decode()], count) for entry, count, _ in real] == [
            (handed.entry, handed.deliveries) for handed in simulated
        ]

    async def begin(self) -> None:
        if self.entries:
            entry, consumer = self.random.choice(list(self.entries)), self.random.choice(CONSUMERS)
            lost = await self.real.batcher.run(scripts.RENEW, [self.inbox], [GROUP, consumer, 0, 1, entry])
            assert self.simulated.renew(GROUP, consumer, self.entries[entry], added=1) is not bool(lost)

    async def commit(self) -> None:
        if not self.entries:
            return
        entry = self.random.choice([*self.entries, *list(self.entries)[-2:]])
        session_id = self.random.choice(SESSIONS)
        drawn = [self.an_operation(session_id) for _ in range(self.random.randrange(4))]
        keys, arguments = committing.script_arguments(
            (_for(self.real.keys, operation) for operation in drawn),
            session_id,
            entry,
            GROUP,
            partition=PARTITION,
            keys=self.real.keys,
            settings=SETTINGS,
        )
        real = await self.real.batcher.run(scripts.COMMIT, keys, arguments)
        simulated = self.simulated.commit(
            GROUP, self.entries[entry], session_id, [_for(KEYS, operation) for operation in drawn]
        )
        assert real.decode() == simulated
        await self.pair()
        # Timers that are set in one millisecond would come in no order of their own.
        self.simulated.now_ms += 1
        await asyncio.sleep(0.002)

    def an_operation(self, session_id: str) -> Operation:
        """Draw an operation of any kind; its key has a name that both buses can translate."""
        random, event = self.random, self.random.choice(self.events)
        raw, name = encode(event), random.choice(("deadline", "assembly"))
        due = random.choice((b"+0", b"=1000", b"+3600000"))
        header = b"%s %s %s %s - 0\n" % (due, GROUP.encode(), session_id.encode(), event.type.encode())
        kinds: list[Operation] = [
            (random.choice(("once", "unless")), f"{session_id}/handled", event.id.bytes, ""),
            ("put", f"{session_id}/state", random.choice((0, 0, 1, 2, "any")), raw),
            ("append", f"{session_id}/memory", random.choice((0, 0, 1, 2)), raw),
            ("event", random.choice((None, GROUP, OTHER)), event.type, raw),
            ("answer", "responses", 100, raw),
            ("timer", None, name, header + raw),
            ("cancel", None, name, ""),
            ("stop", "stopped", STOPS_KEPT_MAX, ""),
            (random.choice(("close", "close", "reopen")), None, "", ""),
            ("dead_letter", "dead", 100, b"letter\n" + raw),
        ]
        return random.choice(kinds)

    async def move_due_timers(self) -> None:
        keys = self.real.keys
        # One after the other, where several are due at once: those set in one millisecond have no order.
        for _ in range(
            sum(timer.due_ms <= self.simulated.now_ms for timer in self.simulated.timers.values())
        ):
            await self.real.batcher.run(
                scripts.DUE,
                [keys.timers(PARTITION), keys.timer_messages(PARTITION), keys.feed(PARTITION)],
                [keys.prefix(PARTITION), 100, milliseconds(SETTINGS.retention_s), 100],
            )
        self.simulated.move_due_timers()
        await self.pair()

    async def pair(self) -> None:
        """Pair the real entries that are in the inbox now with the simulated ones."""
        real = await self.real.batcher.submit("XRANGE", self.inbox, "-", "+")
        assert len(real) == len(self.simulated.inboxes[GROUP].messages)
        for (entry, _), other in zip(real, self.simulated.inboxes[GROUP].messages, strict=True):
            self.entries.setdefault(entry.decode(), other)

    async def compare(self) -> None:
        """Compare all data in Redis, except the feed and times."""
        ask, keys, simulated = self.real.batcher.submit, self.real.keys, self.simulated
        for component in (GROUP, OTHER):
            inbox = await ask("XRANGE", keys.inbox(PARTITION, component), "-", "+")
            messages = simulated.inboxes[component].messages.values()
            assert [fields[b"event"] for _, fields in inbox] == [message.raw for message in messages]
        script = "return redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000)"
        pending = await ask("EVAL", script, 1, self.inbox, GROUP)
        assert {self.entries[one.decode()]: (who.decode(), count) for one, who, _, count in pending} == {
            entry: (pending.consumer, pending.deliveries)
            for entry, pending in simulated.inboxes[GROUP].pending.items()
        }
        for session_id in SESSIONS:
            log = await ask("XRANGE", keys.log(session_id), "-", "+")
            assert [fields[b"event"] for _, fields in log] == list(
                simulated.logs.get(session_id, {}).values()
            )
            version, content = await ask("HMGET", keys.of_session(session_id, "state"), "version", "content")
            stands = simulated.documents.get(KEYS.of_session(session_id, "state"), (0, None))
            assert (int(version or 0), content) == stands
            items = await ask("LRANGE", keys.of_session(session_id, "memory"), 0, -1)
            assert items == simulated.lists.get(KEYS.of_session(session_id, "memory"), [])
            seen = await ask("SMEMBERS", keys.of_session(session_id, "handled"))
            assert set(seen) == simulated.handled.get(KEYS.of_session(session_id, "handled"), set())
        timers = await ask("ZRANGE", keys.timers(PARTITION), 0, -1)
        assert {name.decode() for name in timers} == set(simulated.timers)
        is_open = await ask("ZRANGE", keys.open_sessions(PARTITION), 0, -1)
        assert {one.decode() for one in is_open} == simulated.open_sessions
        stopped = await ask("ZRANGE", keys.stopped(PARTITION), 0, -1)
        assert [one.decode() for one in stopped] == sorted(
            simulated.stopped, key=simulated.stopped.__getitem__
        )
        await self.compare_waiting()
        answers = await ask("XRANGE", keys.responses(PARTITION), "-", "+")
        received = [(fields[b"session_id"].decode(), fields[b"event"]) for _, fields in answers]
        assert received == simulated.responses
        dead = await ask("XRANGE", keys.dead(PARTITION), "-", "+")
        assert [fields[b"event"] for _, fields in dead] == simulated.dead

    async def compare_waiting(self) -> None:
        ask, keys, waiting = self.real.batcher.submit, self.real.keys, self.simulated.waiting
        stands = await ask("HGETALL", keys.queries_waiting(PARTITION))
        assert {
            name.decode(): record.partition(b"\n")[2] for name, record in stands.items()
        } == waiting.queries
        deadlines = await ask("ZRANGE", keys.waiting_deadlines(PARTITION), 0, -1)
        assert {name.decode() for name in deadlines} == set(waiting.places)
        assert await self.scores(keys.tenants_waiting(PARTITION)) == waiting.tenants
        turns = await self.scores(keys.turns(PARTITION))
        assert (turns.pop("", 0), turns) == (waiting.present, waiting.past_turns)
        for tenant in TENANTS:
            mine = await ask("ZRANGE", keys.waiting(PARTITION, tenant), 0, -1)
            assert [name.decode() for name in mine] == waiting.of(tenant)

    async def scores(self, key: str) -> dict[str, float]:
        script = "return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')"
        rows = await self.real.batcher.submit("EVAL", script, 1, key)
        return {name.decode(): float(score) for name, score in zip(rows[::2], rows[1::2], strict=True)}


def _for(keys: Keys, operation: Operation) -> Operation:
    """Return the operation with the key as one of the two buses calls it."""
    name, place, first, second = operation
    if place is None:
        return operation
    session_id, slash, document = place.partition("/")
    if slash:
        return name, keys.of_session(session_id, document), first, second
    of_partition: dict[str, str] = {
        "responses": keys.responses(PARTITION),
        "dead": keys.dead(PARTITION),
        "stopped": keys.stopped(PARTITION),
        GROUP: keys.inbox(PARTITION, GROUP),
        OTHER: keys.inbox(PARTITION, OTHER),
    }
    return name, of_partition[place], first, second


@pytest.mark.parametrize("seed", range(12))
async def test_the_same_commands_leave_the_same_in_redis_and_in_the_simulated_bus(
    redis_server: RedisServer, namespace: str, seed: int
) -> None:
    random = Random(seed)
    async with a_bus(redis_server.url, namespace, SETTINGS) as real:
        await real.ensure_groups([(real.keys.inbox(PARTITION, GROUP), GROUP)])
        twins = Twins(real, random)
        commands: list[Any] = [
            twins.publish,
            twins.publish,
            twins.admit,
            twins.read,
            twins.reclaim,
            twins.read_missed,
            twins.begin,
        ]
        for _ in range(120):
            command = random.choice(
                [*commands, twins.commit, twins.commit, twins.commit, twins.move_due_timers]
            )
            await command()
        await twins.compare()
    assert re.fullmatch(r"\d+-\d+", twins.simulated.new_place())
