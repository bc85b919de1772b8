"""The clients of a simulated world: they submit, cancel, decide and answer; an intake admits them."""

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import TYPE_CHECKING
from uuid import UUID

import orjson
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.submissions import read_submission
from antiphon_shared.events import (
    AnyEvent,
    ApprovalDecided,
    ApprovalRequested,
    CancellationRequested,
    EventData,
    QuestionAnswered,
    QuestionAsked,
)
from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.events.session import Limits
from antiphon_shared.formats import FORMAT

from tests.simulation.bus import KEYS
from tests.simulation.stepping import pause

if TYPE_CHECKING:
    from tests.simulation.world import World

LEASE_MS = 5_000
LIMITS = Limits(max_rounds=3, max_tool_calls=8, max_tokens=60_000, deadline_s=40, assembly_s=6)
_ADMIT_EVERY_MS = 20
_OPTIONS: Mapping[str, tuple[object, ...]] = {
    "max_rounds": (1, 2, 3, 5),
    "max_tool_calls": (0, 1, 3),
    "max_tokens": (500, 4_000, 20_000),
    "deadline_s": (0.5, 3.0, 10.0, 60.0),
    "tools": (["search"], ["search", "pay", "nothing_like_it"], []),
    "citations": ("strict",),
}


@dataclass
class Client:
    """The query of one client, and its other actions."""

    session_id: str
    fields: dict[bytes, bytes]
    submitted_ms: int = 0
    deadline_s: float = 0.0
    opened_ms: int | None = None
    begun_ms: int | None = None
    """The time at which a coordinator opened the session."""
    cancelled_ms: int | None = None
    answered_ms: int | None = None


class Clients:
    """All clients and the intake; each draws from a generator of its own."""

    def __init__(self, world: "World") -> None:
        self._world = world

    def add(self, number: int) -> None:
        random = Random(f"{self._world.seed}/client/{number}")
        options: dict[str, object] = {}
        for name, choices in _OPTIONS.items():
            if random.random() < 0.5:
                options[name] = random.choice(choices)
        if Random(f"{self._world.seed}/user/{number}").random() < 0.4:
            options["interactive"] = True
        session_id = f"s{number}"
        query = random.choice(("When does the reading room open?", "What did No. 7 cost, and who bought it?"))
        fields = {"query": query, "session_id": session_id, "options": orjson.dumps(options).decode()}
        client = Client(session_id, {name.encode(): value.encode() for name, value in fields.items()})
        client.deadline_s = float(str(options.get("deadline_s", LIMITS.deadline_s)))
        self._world.clients[session_id] = client
        self._world.at(random.randrange(20_000), lambda: self._submit(client, random))
        if self._world.faults.strikes("poison"):
            drawn = self._world.faults.random("poison")
            effect = drawn.choice(("kills", "kills", "raises", "is hopeless"))
            self._world.poisoned[session_id] = (
                drawn.choice(COMPONENTS),
                drawn.choice((0, 0, 1, 2, 5)),
                effect,
            )

    def _submit(self, client: Client, random: Random) -> None:
        self._let_in_later(client, self._world.bus.new_place())
        if self._world.faults.strikes("submitted twice"):
            self._world.at(
                random.randrange(5_000), lambda: self._let_in_later(client, self._world.bus.new_place())
            )
        if random.random() < 0.15:
            self._world.at(random.randrange(30_000), lambda: self._cancel(client, random))

    def _let_in_later(self, client: Client, entry: str) -> None:
        self._intake(self._let_in(client, entry))

    def _intake(self, work: Coroutine[int, None, None]) -> None:
        """Submit through the intake of a process; if the process dies, another one takes over."""
        try:
            delay_ms = work.send(None)
        except StopIteration:
            return
        self._world.at(delay_ms, lambda: self._intake(work))

    async def _let_in(self, client: Client, entry: str) -> None:
        """Submit in two steps that are safe to repeat, and are repeated if the process dies in between."""
        submitted_ms = self._world.time_ms
        while True:
            await pause(self._world.delay_ms())
            if self._world.is_redis_away:
                await pause(500)
                continue
            stands = Entry(KEYS.queries(), entry, client.fields)
            now = datetime.fromtimestamp(self._world.time_ms / 1000, UTC)
            event = read_submission(stands, KEYS.queries(), self._world.settings.max_event_bytes, now)
            event = event.model_copy(update={"format": FORMAT})
            result = self._world.bus.publish(event, "open", LIMITS.deadline_s)
            if result in ("sent", "waiting"):
                client.submitted_ms = submitted_ms
            if result == "waiting" and len(self._world.bus.waiting.queries) == 1:
                self._world.at(_ADMIT_EVERY_MS, self._admit)
            if not self._world.faults.strikes("crash"):
                return
            await pause(LEASE_MS)

    def _admit(self) -> None:
        """Admit waiting sessions, as every coordinator does while there are any."""
        if not self._world.is_redis_away and self._world.is_served("coordinator"):
            self._world.bus.admit()
        if self._world.bus.waiting.queries:
            self._world.at(_ADMIT_EVERY_MS, self._admit)

    def _cancel(self, client: Client, random: Random) -> None:
        if self._signal(client.session_id, CancellationRequested(reason="Never mind."), random):
            client.cancelled_ms = self._world.time_ms

    def _signal(self, session_id: str, data: EventData, random: Random) -> bool:
        """Send an event to a session; return whether it has arrived."""
        if self._world.is_redis_away:
            self._world.at(1_000, lambda: self._signal(session_id, data, random))
            return False
        result = self._world.bus.publish(self._event(session_id, data, random), "signal")
        self._world.trace_line(session_id, f"a client signals {data.type}: {result}")
        return result == "sent"

    def _event(self, session_id: str, data: EventData, random: Random) -> AnyEvent:
        event_id = UUID(int=random.getrandbits(128), version=4)
        log = self._world.bus.logs.get(session_id)
        opening = self._world.bus.decoded(next(iter(log.values()))) if log else None
        return ENVELOPES[type(data)](
            id=event_id,
            source="client",
            type=data.type,
            subject=session_id,
            time=datetime.fromtimestamp(self._world.time_ms / 1000, UTC),
            correlationid=opening.correlationid if opening else event_id,
            format=FORMAT,
            data=data,
        )

    def decides(self, session_id: str, at: str) -> None:
        """Decide on the calls of a batch as a person: at once, one by one, too late, or never."""
        random = self._world.life(session_id).random
        data = self._world.bus.decoded(self._world.bus.logs[session_id][at]).data
        assert isinstance(data, ApprovalRequested)
        named = [()] if random.random() < 0.5 else [(call.id,) for call in data.calls]
        for calls in named:
            if random.random() < 0.9:
                decided = ApprovalDecided(
                    round=data.round + (random.random() < 0.05),
                    is_approved=random.random() < 0.7,
                    calls=calls,
                    by="Ada",
                )
                delay_ms = random.choice((0, 1, 800, 20_000))
                self._world.at(delay_ms, partial(self._signal, session_id, decided, random))

    def answers(self, session_id: str, at: str) -> None:
        """Answer the questions as the user: at once, one by one, twice, too late, or never."""
        random = self._world.life(session_id).random
        data = self._world.bus.decoded(self._world.bus.logs[session_id][at]).data
        assert isinstance(data, QuestionAsked)
        named = [()] if random.random() < 0.5 else [(question.id,) for question in data.questions]
        for calls in named:
            for _ in range(random.choice((0, 1, 1, 1, 2))):
                round = data.round + (random.random() < 0.05)
                answered = QuestionAnswered(round=round, answer="The red one.", calls=calls, by="Ada")
                delay_ms = random.choice((0, 1, 800, 20_000, 45_000))
                self._world.at(delay_ms, partial(self._signal, session_id, answered, random))
