"""A submitted query as an object: the id of its session, with methods to follow and control it."""

from collections.abc import AsyncGenerator, Iterable
from typing import TYPE_CHECKING, Self

from antiphon_shared.events import Question
from antiphon_shared.events.session import Response

if TYPE_CHECKING:
    from antiphon.client import Antiphon
    from antiphon.following import Told


class Job(str):
    """A submitted query. It is its session's id, a string, and calls the client that it comes from.

    job = await antiphon.submit("Find a course that ...")
    async for event in job.stream():
        ...
    print((await job.result()).answer)

    Each method is the client's method of that name, for this session, and raises what that one raises. A copy
    or a pickle of a job is the plain id.
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
        """Return the session's one answer; wait until there is one."""
        return await self._client.result(self.session_id, timeout_s)

    def stream(self) -> AsyncGenerator["Told"]:
        """Yield the session's events as they happen, and the model's text."""
        return self._client.stream(self.session_id)

    async def cancel(self, reason: str = "") -> bool:
        """Ask the session to end now, with the facts found; return False if it had ended already."""
        return await self._client.cancel(self.session_id, reason)

    async def approve(self, calls: Iterable[str] = (), by: str = "", reason: str = "") -> tuple[str, ...]:
        """Approve waiting calls, by default all of them; return their ids."""
        return await self._client.approve(self.session_id, calls, by, reason)

    async def deny(self, calls: Iterable[str] = (), by: str = "", reason: str = "") -> tuple[str, ...]:
        """Deny calls that wait for approval; return their ids."""
        return await self._client.deny(self.session_id, calls, by, reason)

    async def answer(self, text: str, *, calls: Iterable[str] = (), by: str = "") -> tuple[str, ...]:
        """Answer waiting questions of the model to the user, by default all of them; return their ids."""
        return await self._client.answer(self.session_id, text, calls=calls, by=by)

    async def questions_waiting(self) -> tuple[Question, ...]:
        """Return the unanswered questions of the model to the user."""
        return await self._client.questions_waiting(self.session_id)
