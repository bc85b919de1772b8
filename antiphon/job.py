"""A submitted query as an object: the id of its session, with methods to follow and control it."""

from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING, Self

from antiphon_shared.events import Question
from antiphon_shared.events.session import Response

if TYPE_CHECKING:
    from antiphon.client import Antiphon
    from antiphon.confirmation import CallIds
    from antiphon.following import StreamItem


class Job(str):
    """A submitted query: the id of its session, a string, with methods that call the client which submitted it.

    job = await antiphon.submit("Find a course that ...")
    async for event in job.stream():
        ...
    print((await job.result()).answer)

    Each method calls the client's method of the same name for this session, and raises its errors. A copy or a
    pickle of a job is the plain id.
    """

    __slots__ = ("_client",)
    _client: "Antiphon"

    def __new__(cls, session_id: str, client: "Antiphon") -> Self:
        job = super().__new__(cls, session_id)
        job._client = client
        return job

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)

    @property
    def session_id(self) -> str:
        """Return the id of the session as a plain string."""
        return str(self)

    async def result(self, timeout_s: float | None = None) -> Response:
        """Wait for the session's one answer, and return it."""
        return await self._client.result(self.session_id, timeout_s)

    def stream(self) -> AsyncGenerator["StreamItem"]:
        """Yield the session's events as they happen, and the model's text."""
        return self._client.stream(self.session_id)

    async def cancel(self, reason: str = "") -> bool:
        """Cancel the session, which then answers with the facts found; return False if it had already ended."""
        return await self._client.cancel(self.session_id, reason)

    async def approve(self, calls: Iterable[str] = (), by: str = "", reason: str = "") -> "CallIds":
        """Approve waiting calls, by default all; return their ids."""
        return await self._client.approve(self.session_id, calls, by, reason)

    async def deny(self, calls: Iterable[str] = (), by: str = "", reason: str = "") -> "CallIds":
        """Deny waiting calls, by default all; return their ids."""
        return await self._client.deny(self.session_id, calls, by, reason)

    async def answer(self, text: str, *, calls: Iterable[str] = (), by: str = "") -> "CallIds":
        """Answer waiting questions of the model to the user, by default all; return their ids."""
        return await self._client.answer(self.session_id, text, calls=calls, by=by)

    async def questions_waiting(self) -> tuple[Question, ...]:
        """Return the unanswered questions of the model to the user."""
        return await self._client.questions_waiting(self.session_id)
