"""Clients that keep a number of sessions in flight, in a thread of their own, through the proxy like all others.

Submissions and answers are kept here, with times of this process's clock. Responses are read directly from Redis.
"""

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import orjson
import redis
import redis.asyncio
from antiphon_shared.events.session import Response
from antiphon_shared.process.errors import AntiphonError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from antiphon import Antiphon
from tests.soak.kept import journals_of, log_of, status_of
from tests.soak.questions import JUNK, Question, a_question
from tests.soak.reported_writes import ReportedWrite, read_log
from tests.soak.stage import Stage

GIVE_UP_S = 30.0
"""The time after a deadline at which a client notes the state of the session; then it waits on."""
_JUNK_ONE_IN = 12
_PAUSE_S = 0.1
_ASK_AGAIN_S = 0.3
_READ_BLOCK_MS = 200


@dataclass(slots=True)
class Asked:
    """A submitted question and its outcome. Times are of the monotonic clock, in seconds."""

    question: Question
    submitted_s: float
    accepted_s: float | None = None
    answered_s: float | None = None
    answers: list[Response] = field(default_factory=list)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    missed: str = ""
    """The session's data in Redis when its client timed out."""


class Load:
    """Clients that run until they are stopped, and then wait for their sessions in flight."""

    def __init__(self, stage: Stage, sessions: int, seed: int) -> None:
        self.asked: dict[str, Asked] = {}
        self.writes: list[ReportedWrite] = []
        self.problems: list[str] = []
        self.audited = 0
        self.resubmitted = 0
        self.junk_sent = self.junk_tried = 0
        """Junk that Redis acknowledged, and attempts to submit some: a lost reply may hide a submission."""
        self.strangers: list[str] = []
        """Sessions with an answer and no submitted question."""
        self._stage, self._sessions = stage, sessions
        self._choose = random.Random(seed)
        self._over = threading.Event()
        self._done = threading.Event()
        self._number = 0

    @contextlib.contextmanager
    def running(self) -> Iterator["Load"]:
        thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="load")
        thread.start()
        try:
            yield self
        finally:
            self._over.set()
            self._done.set()
            thread.join()

    def stop_asking(self) -> None:
        """Ask no new questions; those in flight continue."""
        self._over.set()

    def answered(self) -> int:
        """Return the number of questions that have an answer."""
        return sum(1 for one in list(self.asked.values()) if one.answers)

    def in_flight(self) -> list[Asked]:
        """Return the sessions that are accepted and not answered yet."""
        return [one for one in list(self.asked.values()) if one.accepted_s and not one.answers]

    def is_settled(self) -> bool:
        """Return whether every accepted question is answered and checked."""
        return not self.in_flight() and self.audited >= self.answered()

    async def _run(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            client = redis.asyncio.Redis.from_url(
                self._stage.redis.url,
                protocol=3,
                retry=Retry(
                    NoBackoff(), 0
                ),  # repeated by the library, junk would be sent more often than counted
            )
            stack.push_async_callback(client.aclose)
            url, partitions = self._stage.proxy.url, self._stage.keys.partitions
            antiphon = await stack.enter_async_context(Antiphon(url, partitions=partitions))
            reading = asyncio.create_task(self._read_responses(client))
            clients = [
                asyncio.create_task(self._keep_asking(antiphon, client)) for _ in range(self._sessions)
            ]
            for task in (reading, *clients):
                task.add_done_callback(self._note_failure)
            while not self._done.is_set():  # noqa: ASYNC110  # another thread sets it
                await asyncio.sleep(_PAUSE_S)
            for task in (reading, *clients):
                task.cancel()
            await asyncio.gather(reading, *clients, return_exceptions=True)

    def _note_failure(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and task.exception() is not None:
            self.problems.append(f"a client of the soak failed: {task.exception()!r}")

    async def _keep_asking(self, antiphon: Antiphon, client: redis.asyncio.Redis) -> None:
        while not self._over.is_set():
            self._number += 1
            question = a_question(self._number, self._choose)
            if self._choose.random() < 1 / _JUNK_ONE_IN:
                await self._send_junk(client, dict(self._choose.choice(JUNK)))
            asked = self.asked[question.session_id] = Asked(question, time.monotonic())
            await self._submit(antiphon, question)
            asked.accepted_s = time.monotonic()
            async with _in_background(*self._meddling(antiphon, asked)):
                try:
                    async with asyncio.timeout(question.deadline_s + GIVE_UP_S):
                        await asked.answered.wait()
                except TimeoutError:
                    await self._persist(self._look_for, client, asked)
                    await asked.answered.wait()
            await self._persist(self._audit, client, asked)

    async def _submit(self, antiphon: Antiphon, question: Question) -> None:
        """Retry a submission until it is acknowledged, which its own id makes safe."""
        grant = self._stage.grants[question.tenant]

        async def submit() -> None:
            await antiphon.submit(
                question.text, session_id=question.session_id, grant=grant, **cast(Any, question.options)
            )

        await self._persist(submit)

    def _meddling(self, antiphon: Antiphon, asked: Asked) -> Iterator[Awaitable[None]]:
        """Act as the session's client while the session is in flight."""
        question = asked.question

        async def cancel(after_s: float) -> None:
            await asyncio.sleep(after_s)
            with contextlib.suppress(AntiphonError):  # it has ended meanwhile, or Redis is out of reach
                await antiphon.cancel(question.session_id, "The soak has changed its mind.")

        async def submit_again(after_s: float) -> None:
            await asyncio.sleep(after_s)
            await self._submit(antiphon, question)
            self.resubmitted += 1

        async def decide() -> None:
            while not asked.answers:
                await asyncio.sleep(_ASK_AGAIN_S)
                with contextlib.suppress(AntiphonError):
                    say = antiphon.approve if question.decides == "approve" else antiphon.deny
                    await say(question.session_id, by="the soak")

        if question.cancels_after_s is not None:
            yield cancel(question.cancels_after_s)
        if question.submits_again_after_s is not None:
            yield submit_again(question.submits_again_after_s)
        if question.kind == "approval" and question.decides != "never":
            yield decide()

    async def _send_junk(self, client: redis.asyncio.Redis, fields: dict[str, str]) -> None:
        async def send() -> None:
            self.junk_tried += 1
            await client.xadd(self._stage.keys.queries(), cast(Any, fields))
            self.junk_sent += 1

        await self._persist(send)

    async def _read_responses(self, client: redis.asyncio.Redis) -> None:
        keys = self._stage.keys
        places: dict[str, str | bytes] = {keys.responses(p): "0" for p in range(keys.partitions)}
        while True:
            try:
                found = cast(dict[bytes, Any], await client.xread(cast(Any, places), block=_READ_BLOCK_MS))
            except (redis.RedisError, OSError):
                await asyncio.sleep(_PAUSE_S)
                continue
            for stream, (entries,) in (found or {}).items():
                for entry, fields in entries:
                    places[stream.decode()] = entry
                    self._note(Response.model_validate(orjson.loads(fields[b"event"])["data"]))

    def _note(self, response: Response) -> None:
        asked = self.asked.get(response.session_id)
        if asked is None:
            self.strangers.append(response.session_id)
            return
        asked.answers.append(response)
        asked.answered_s = asked.answered_s or time.monotonic()
        asked.answered.set()

    async def _audit(self, client: redis.asyncio.Redis, asked: Asked) -> None:
        """Read the log of an answered session within its retention."""
        keys, session_id = self._stage.keys, asked.question.session_id
        log = await log_of(client, keys, session_id)
        account = read_log(
            session_id, log, await journals_of(client, keys, session_id, log), asked.answers[0]
        )
        self.writes += account.writes
        self.problems += account.problems
        self.audited += 1

    async def _look_for(self, client: redis.asyncio.Redis, asked: Asked) -> None:
        asked.missed = await status_of(client, self._stage.keys, asked.question.session_id)

    async def _persist(self, attempt: Callable[..., Awaitable[None]], *given: Any) -> None:
        """Repeat a command until Redis answers or the soak is stopped."""
        while True:
            try:
                return await attempt(*given)
            except (redis.RedisError, AntiphonError, OSError):
                await asyncio.sleep(_PAUSE_S)


@contextlib.asynccontextmanager
async def _in_background(*works: Awaitable[None]) -> AsyncIterator[None]:
    """Run the tasks for the length of a block."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
