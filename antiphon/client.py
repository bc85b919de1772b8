"""The client: submit a query, follow its session, get its one answer.

async with Antiphon() as antiphon:
    response = await antiphon.ask("Find a course that ...")
    print(response.answer)
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

import structlog
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.session_content import SessionContent
from antiphon_shared.bus.signing import SIGNATURE
from antiphon_shared.events import Question, encode
from antiphon_shared.events.session import Response
from antiphon_shared.process import logs
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.ids import new_id

from antiphon.arrival import Arrival
from antiphon.errors import StillRunning
from antiphon.following import Submitted, TextDelta, Told, follow, read_answer, refuse_other
from antiphon.job import Job
from antiphon.own_packages import check_components
from antiphon.shapes import Shape, shape_of, with_instance, with_shape
from antiphon.signals import cancel
from antiphon.submission import Options, checked_session_id, checked_timeout_s, submission
from antiphon.tail import PATIENCE_S
from antiphon.transport import Connection, Transport

if TYPE_CHECKING:
    from reasoning_engine.port import Model
    from reasoning_engine.settings import Provider

__all__ = ["Antiphon", "Job", "TextDelta", "Told"]
_SUBMITTED_REMEMBERED = 10_000


class Antiphon:
    """Access to one pipeline, as an async context manager.

    `url` (redis://, rediss:// or unix://), `namespace` and `partitions` default to ANTIPHON_REDIS_URL,
    ANTIPHON_NAMESPACE and ANTIPHON_PARTITIONS; namespace and partitions must be those of the pipeline. Raises
    ConfigurationError. Entering raises RedisUnavailable.
    """

    def __init__(
        self, url: str | None = None, *, namespace: str | None = None, partitions: int | None = None
    ) -> None:
        self._transport: Transport = Connection.to(url, namespace, partitions)
        self._bus: Bus | None = None
        self._submitted: OrderedDict[str, Submitted] = OrderedDict()

    @classmethod
    def embedded(
        cls,
        tools: Iterable[Any] = (),
        *,
        model: "Provider | Model | None" = None,
        scopes: Iterable[str] | None = None,
        cache: bool | None = None,
    ) -> Self:
        """Return a client with a whole pipeline inside this process, which runs within its block and stores nothing.

        `tools` are functions decorated with `tool`, Tools, Toolsets, modules, or names of modules. `scopes`
        are the permissions of sessions: ["read"] by default; ["read", "write"] lets tools write. `cache`:
        whether reads may be answered from the cache; True by default.
        """
        check_components()
        client = cls()
        from antiphon.embedded import EmbeddedPipeline  # a client of a running pipeline needs no components

        client._transport = EmbeddedPipeline(tools, model, scopes, cache)
        return client

    async def __aenter__(self) -> Self:
        if not structlog.is_configured():
            logs.silence("warning")  # structlog's default would write to the caller's stdout
        self._bus = await self._transport.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bus = None
        await self._transport.stop()

    @property
    def storage(self) -> str:
        """Return one sentence for people: where an embedded pipeline stores its data."""
        return self._transport.storage

    @property
    def address(self) -> str:
        """Return the Redis URL at which other programs reach an embedded pipeline; empty if they cannot."""
        return self._transport.address

    @property
    def scopes_missing(self) -> dict[str, tuple[str, ...]]:
        """Return the tools of an embedded pipeline that need a grant, with the scopes they lack."""
        return self._transport.scopes_missing

    async def submit(
        self,
        query: str,
        *,
        session_id: str | None = None,
        traceparent: str | None = None,
        grant: str = "",
        **options: Unpack[Options],
    ) -> Job:
        """Put a query into the queue; return its session's id, a string that can also wait for the answer.

        A `session_id` of the caller's makes it safe to submit again: the same query, options, tenant and
        subject are the same session. `grant` is a signed token with the session's permissions; without one it
        has the operator's default scopes. Raises InvalidQuery and SessionConflict before anything is sent,
        and RedisUnavailable.
        """
        bus = self.open_bus()
        bytes_max = bus.settings.max_event_bytes
        event = submission(
            query, options, session_id, new_id(), utc_now(), bytes_max, traceparent=traceparent, grant=grant
        )
        content = SessionContent.of(event)
        if session_id is not None:
            await refuse_other(bus, event.subject, content)
        fields: list[str | bytes] = ["event", encode(event)]
        if bus.signer is not None:
            fields += [SIGNATURE, bus.signer.sign(bus.keys.queries(), encode(event))]
        # Safe to repeat even if a lost reply hides a success: both entries open the same session.
        add = partial(bus.batcher.submit, "XADD", bus.keys.queries(), "*", *fields)
        entry: bytes = await retry_while_unavailable("submit", add, PATIENCE_S)
        self._remember(event.subject, Submitted(entry.decode(), content))
        return Job(event.subject, self)

    async def ask(
        self,
        query: str,
        *,
        session_id: str | None = None,
        traceparent: str | None = None,
        grant: str = "",
        timeout_s: float | None = None,
        output: Shape | None = None,
        **options: Unpack[Options],
    ) -> Response:
        """Submit a query and wait for its answer. Raises what `submit` and `result` raise.

        `output` is the answer's shape: a pydantic model, dataclass, TypedDict, or JSON Schema. The response's
        `result` is an instance of it, or of the last step's; else None. Raises UnfitResult if only the type's
        own rules fail.
        """
        checked_timeout_s(timeout_s)
        options, shape = with_shape(options, output), shape_of(options, output)
        job = await self.submit(query, session_id=session_id, traceparent=traceparent, grant=grant, **options)
        return with_instance(await job.result(timeout_s), shape)

    async def result(self, session_id: str, timeout_s: float | None = None) -> Response:
        """Return the session's one answer; wait until there is one.

        Any client may wait for the session of a known id; but where this client has submitted a query under
        it, and the session belongs to another query, SessionConflict is raised. Raises StillRunning after
        `timeout_s` seconds, UnknownSession, SubmissionRejected, RedisUnavailable.
        """
        bus = self.open_bus()
        checked_session_id(session_id)
        checked_timeout_s(timeout_s)
        response = await read_answer(bus, session_id)
        if response is not None:
            if submitted := self._submitted.get(session_id):
                await refuse_other(bus, session_id, submitted.content)
            return response
        try:
            async with (
                asyncio.timeout(timeout_s),
                aclosing(self._follow(session_id, has_text=False)) as events,
            ):
                async for one in events:
                    if isinstance(one, Response):
                        return one
        except TimeoutError:
            raise StillRunning(
                f"session {session_id} has not ended within {timeout_s:g} s; it continues.",
                hint="Call result() again, or cancel the session.",
            ) from None
        raise AssertionError("a session is followed to its answer")

    async def stream(self, session_id: str) -> AsyncGenerator[Told]:
        """Yield the session's events as they happen, from the first to `response.ready`, and the model's text.

        Reconnects after a lost connection. Raises UnknownSession, SubmissionRejected, RedisUnavailable.
        """
        checked_session_id(session_id)
        async with aclosing(self._follow(session_id, has_text=True)) as events:
            async for one in events:
                if not isinstance(one, Response):
                    yield one

    async def cancel(self, session_id: str, reason: str = "") -> bool:
        """Ask the session to end now, with the facts found; return False if it had ended already.

        Waits while the submission is in the queue; a session that waits to be opened is opened first. Raises
        UnknownSession, SubmissionRejected.
        """
        return await cancel(self.open_bus(), self._arrival(session_id), session_id, reason)

    async def approve(
        self, session_id: str, calls: Iterable[str] = (), by: str = "", reason: str = ""
    ) -> tuple[str, ...]:
        """Approve waiting calls, by default all of them; return their ids.

        `by` and `reason` are for the record. When every waiting call is decided on, the session continues.
        Raises NotWaiting, InvalidQuery when a call does not wait, UnknownSession, SubmissionRejected.
        """
        return await self._decide(session_id, True, calls, by, reason)

    async def deny(
        self, session_id: str, calls: Iterable[str] = (), by: str = "", reason: str = ""
    ) -> tuple[str, ...]:
        """Deny calls that wait for approval, as `approve`; the model, or the node of a run, gets the reason."""
        return await self._decide(session_id, False, calls, by, reason)

    async def answer(
        self, session_id: str, text: str, *, calls: Iterable[str] = (), by: str = ""
    ) -> tuple[str, ...]:
        """Answer waiting questions of the model to the user, by default all of them; return their ids.

        Only a session submitted with `interactive=True` asks. `by` is for the record. Raises NotWaiting,
        InvalidQuery if a question does not wait or the text is not an answer, UnknownSession,
        SubmissionRejected.
        """
        bus, arrival = self._coordinated(session_id)
        from antiphon.answering import answer  # it reads the coordinator's state, which `ask` does not need

        return await answer(bus, arrival, session_id, text, calls, by)

    async def questions_waiting(self, session_id: str) -> tuple[Question, ...]:
        """Return the unanswered questions of the model to the user, or an empty tuple."""
        bus, _ = self._coordinated(session_id)
        from antiphon.answering import questions_waiting

        read = partial(questions_waiting, bus, session_id)
        return await retry_while_unavailable("read the questions", read, PATIENCE_S)

    async def export(self, session_id: str, folder: str | Path, is_compressed: bool = False) -> Path:
        """Write the session's recording, as far as it has come, into a folder; return the file's path.

        It is redacted by ANTIPHON_RECORDING_KEYS and the other recording settings. Raises UnknownSession,
        AlreadyThere when the file is something else, UnreadableEvent, OSError.
        """
        from antiphon.recording.export import export  # `ask` needs no recordings
        from antiphon.recording.settings import own_redaction
        from antiphon.replay.redacted_lines import make_consistent

        bus, ids, redaction = self.open_bus(), [checked_session_id(session_id)], own_redaction()
        return (await export(bus, ids, Path(folder), redaction, is_compressed, make_consistent))[0]

    async def _decide(
        self, session_id: str, is_approved: bool, calls: Iterable[str], by: str, reason: str
    ) -> tuple[str, ...]:
        bus, arrival = self._coordinated(session_id)
        from antiphon.approval import decide

        return await decide(bus, arrival, session_id, is_approved, calls, by, reason=reason)

    def _coordinated(self, session_id: str) -> tuple[Bus, Arrival]:
        """Return what reads the coordinator's state of a session. Raises ConfigurationError, InvalidQuery."""
        check_components(("coordinator",))
        return self.open_bus(), self._arrival(session_id)

    def _follow(self, session_id: str, has_text: bool) -> AsyncGenerator[Told | Response]:
        submitted = self._submitted.get(session_id)
        return follow(self.open_bus(), session_id, submitted, self._transport.check, has_text=has_text)

    def _remember(self, session_id: str, submitted: "Submitted") -> None:
        self._submitted[session_id] = submitted
        if len(self._submitted) > _SUBMITTED_REMEMBERED:
            self._submitted.popitem(last=False)

    def _arrival(self, session_id: str) -> Arrival:
        """Return the watch for a session, with this client's entry in the queue if any. Raises InvalidQuery."""
        submitted = self._submitted.get(checked_session_id(session_id))
        return Arrival(self.open_bus(), session_id, submitted.entry if submitted else None)

    def open_bus(self) -> Bus:
        """Return the connected bus. Raises AntiphonError outside the client's block."""
        if self._bus is None:
            hint = "Use `async with Antiphon() as antiphon:`."
            raise AntiphonError("the client is not connected.", hint=hint)
        return self._bus
