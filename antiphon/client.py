"""The client, which submits queries, follows their sessions and returns their answers."""

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
from antiphon_shared.events import Question
from antiphon_shared.events.session import Response
from antiphon_shared.process import logs
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.ids import new_id

from antiphon.arrival import Arrival
from antiphon.confirmation import CallIds
from antiphon.following import (
    StreamItem,
    Submitted,
    SubmittedQueries,
    TextDelta,
    follow,
    read_answer,
    refuse_other,
    wait_for_answer,
)
from antiphon.job import Job
from antiphon.own_packages import check_components
from antiphon.queueing import enqueue
from antiphon.shapes import Shape, shape_of, with_instance, with_shape
from antiphon.signals import cancel
from antiphon.submission import Options, checked_session_id, checked_timeout_s, submission
from antiphon.tail import PATIENCE_S
from antiphon.transport import Connection, Transport

if TYPE_CHECKING:
    from reasoning_engine.port import Model
    from reasoning_engine.settings import Provider

__all__ = ["Antiphon", "Job", "StreamItem", "TextDelta"]


class Antiphon:
    """Access to one pipeline, as an async context manager.

    Entering it, and every method that talks to the pipeline, raises RedisUnavailable when Redis does not
    answer. Methods for a session also raise UnknownSession if it does not exist or is no longer stored, and
    SubmissionRejected (or its kinds Overloaded and SessionConflict) if the pipeline rejected its query.

    Args:
        url: The Redis of the pipeline: redis://, rediss:// or unix://. Default: ANTIPHON_REDIS_URL.
        namespace: The namespace of the pipeline. Default: ANTIPHON_NAMESPACE.
        partitions: The number of partitions of the pipeline. Default: ANTIPHON_PARTITIONS.

    Raises ConfigurationError if an argument or a setting is invalid.
    """

    def __init__(
        self, url: str | None = None, *, namespace: str | None = None, partitions: int | None = None
    ) -> None:
        self._transport: Transport = Connection.resolve(url, namespace, partitions)
        self._bus: Bus | None = None
        self._submitted = SubmittedQueries()

    @classmethod
    def embedded(
        cls,
        tools: Iterable[Any] = (),
        *,
        model: "Provider | Model | None" = None,
        scopes: Iterable[str] | None = None,
        cache: bool | None = None,
    ) -> Self:
        """Return a client with its own pipeline inside this process, which runs within the block and stores nothing.

        Args:
            tools: Functions decorated with `tool`, Tools, Toolsets, modules, or names of modules.
            model: "auto", "anthropic", "offline", or a model object. Default: the provider of the settings.
            scopes: The permissions of sessions; ["read", "write"] lets tools write. Default: ["read"].
            cache: Whether reads may be answered from the cache. Default: True.

        Raises ConfigurationError; entering the block raises InvalidTool too.
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
        """Return a sentence that says where an embedded pipeline stores its data."""
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
        """Add a query to the queue, and return its job: the id of its session, with methods to wait for the answer.

        Args:
            query: The question, 100,000 characters at most.
            session_id: Your own id; a second submission of the same question under it has no effect.
            traceparent: The W3C trace context of the caller.
            grant: A signed token with the session's permissions. Default: the operator's default scopes.
            options: The fields of QueryOptions.

        Raises InvalidQuery, or SessionConflict if the id belongs to another query; then nothing was sent.
        """
        bus = self.open_bus()
        bytes_max = bus.settings.max_event_bytes
        event = submission(
            query, options, session_id, new_id(), utc_now(), bytes_max, traceparent=traceparent, grant=grant
        )
        content = SessionContent.of(event)
        if session_id is not None:
            await refuse_other(bus, event.subject, content)
        self._submitted.add(event.subject, Submitted(await enqueue(bus, event), content))
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
        """Submit a query and wait for its answer: `submit` and `result` in one, with their arguments and errors.

        Args:
            timeout_s: The maximum seconds to wait for the answer. Default: no limit.
            output: The type of the response's `result`: a pydantic model, a dataclass, a TypedDict or a JSON
                Schema. Default: the output of the last step, if any. `result` is None if no answer fits.

        Raises UnfitResult if the result fits the JSON Schema of `output`, but not the type's own rules.
        """
        checked_timeout_s(timeout_s)
        options, shape = with_shape(options, output), shape_of(options, output)
        job = await self.submit(query, session_id=session_id, traceparent=traceparent, grant=grant, **options)
        return with_instance(await job.result(timeout_s), shape)

    async def result(self, session_id: str, timeout_s: float | None = None) -> Response:
        """Wait for the session's one answer, and return it. The session may have been submitted by any client.

        Raises StillRunning if the session has not ended within `timeout_s` seconds; it continues.
        """
        bus = self.open_bus()
        checked_session_id(session_id)
        checked_timeout_s(timeout_s)
        response = await read_answer(bus, session_id)
        if response is not None:
            if submitted := self._submitted.get(session_id):
                await refuse_other(bus, session_id, submitted.content)
            return response
        return await wait_for_answer(self._follow(session_id, has_text=False), session_id, timeout_s)

    async def stream(self, session_id: str) -> AsyncGenerator[StreamItem]:
        """Yield the session's events from the first to `response.ready` as they happen, and the model's text.

        It reconnects after a lost connection.
        """
        checked_session_id(session_id)
        async with aclosing(self._follow(session_id, has_text=True)) as events:
            async for one in events:
                if not isinstance(one, Response):
                    yield one

    async def cancel(self, session_id: str, reason: str = "") -> bool:
        """Cancel a session, which then answers with the facts found; return False if it had already ended.

        A query that is still in the queue never runs: its session answers as cancelled when a coordinator opens it.
        """
        return await cancel(self.open_bus(), self._arrival(session_id), session_id, reason)

    async def approve(
        self, session_id: str, calls: Iterable[str] = (), by: str = "", reason: str = ""
    ) -> CallIds:
        """Approve waiting calls; return their ids, with `is_confirmed`. The session continues once all are decided.

        Args:
            calls: The ids of the calls. Default: all waiting calls.
            by: The name of the person who decides, for the record.
            reason: The reason, for the record.

        Raises NotWaiting, its subclass TooLate if another decision came first, and InvalidQuery for a wrong call.
        """
        return await self._decide(session_id, True, calls, by, reason)

    async def deny(
        self, session_id: str, calls: Iterable[str] = (), by: str = "", reason: str = ""
    ) -> CallIds:
        """Deny waiting calls, as `approve` approves them; the model, or the node of a run, gets the reason."""
        return await self._decide(session_id, False, calls, by, reason)

    async def answer(self, session_id: str, text: str, *, calls: Iterable[str] = (), by: str = "") -> CallIds:
        """Answer questions of the model to the user; return their ids, with `is_confirmed` as in `approve`.

        Args:
            text: The answer, 20,000 characters at most.
            calls: The ids of the questions. Default: all waiting questions.
            by: The name of the person who answers, for the record.

        Raises NotWaiting if the session has no open question, its subclass TooLate if another answer came first, and
        InvalidQuery if the text is empty or too long, or one of `calls` does not wait.
        """
        bus, arrival = self._coordinated(session_id)
        from antiphon.answering import answer  # imports the coordinator, which `ask` does not need

        return await answer(bus, arrival, session_id, text, calls, by)

    async def questions_waiting(self, session_id: str) -> tuple[Question, ...]:
        """Return the unanswered questions of the model to the user; an empty tuple if there are no questions."""
        bus, _ = self._coordinated(session_id)
        from antiphon.answering import questions_waiting

        read = partial(questions_waiting, bus, session_id)
        return await retry_while_unavailable("read the questions", read, PATIENCE_S)

    async def export(self, session_id: str, folder: str | Path, is_compressed: bool = False) -> Path:
        """Write the session's recording up to now into a folder, redacted; return the path of the file.

        ANTIPHON_RECORDING_KEYS and the other recording settings define the redaction.

        Raises AlreadyThere if the file exists and is not a recording of this session, UnreadableEvent if the log is
        unreadable, OSError.
        """
        from antiphon.recording.export import export  # `ask` needs no recordings
        from antiphon.recording.settings import own_redaction
        from antiphon.replay.redacted_lines import make_consistent

        bus, redaction = self.open_bus(), own_redaction()
        checked_session_id(session_id)
        return await export(bus, session_id, Path(folder), redaction, is_compressed, make_consistent)

    async def _decide(
        self, session_id: str, is_approved: bool, calls: Iterable[str], by: str, reason: str
    ) -> CallIds:
        bus, arrival = self._coordinated(session_id)
        from antiphon.approval import decide

        return await decide(bus, arrival, session_id, is_approved, calls, by, reason=reason)

    def _coordinated(self, session_id: str) -> tuple[Bus, Arrival]:
        """Return the bus and the session's arrival. Raises ConfigurationError without the coordinator's package."""
        check_components(("coordinator",))
        return self.open_bus(), self._arrival(session_id)

    def _follow(self, session_id: str, has_text: bool) -> AsyncGenerator[StreamItem | Response]:
        submitted = self._submitted.get(session_id)
        return follow(self.open_bus(), session_id, submitted, self._transport.check, has_text=has_text)

    def _arrival(self, session_id: str) -> Arrival:
        """Return the arrival of a session, with this client's entry in the queue if any. Raises InvalidQuery."""
        submitted = self._submitted.get(checked_session_id(session_id))
        return Arrival(self.open_bus(), session_id, submitted.entry if submitted else None)

    def open_bus(self) -> Bus:
        """Return the connected bus. Raises AntiphonError outside the client's block."""
        if self._bus is None:
            hint = "Use `async with Antiphon() as antiphon:`."
            raise AntiphonError("the client is not connected.", hint=hint)
        return self._bus
