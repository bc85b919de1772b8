"""The parts of a recorded session: a question, the replies of the model, and concurrent actions."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from antiphon_shared.events import EventData
from antiphon_shared.events.codec import ENVELOPES
from antiphon_shared.events.session import TerminationReason
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import new_id

from antiphon import Antiphon, workflows
from tests.messages_server import Scripted, Use
from tests.recordings.few_tools import BEGUN

_LIMIT_S = 60.0
_LOOK_EVERY_S = 0.01


@dataclass(frozen=True)
class Meanwhile:
    """A session in flight, for concurrent actions."""

    antiphon: Antiphon
    session_id: str
    asked: Callable[[], int]
    """The number of requests to its model so far."""

    async def until_event(self, type: str) -> Any:
        """Wait for the first event of that type and return its data."""
        async with asyncio.timeout(_LIMIT_S):
            async for event in self.antiphon.stream(self.session_id):
                if getattr(event, "type", "") == f"antiphon.{type}.v1":
                    return event.data  # type: ignore[union-attr]  # pieces of text have no type
        raise AssertionError(f"{self.session_id} ended without {type}")

    async def until_events(self, type: str, times: int) -> None:
        """Wait for a number of events of a type."""
        session = self.antiphon.open_bus().session(self.session_id)
        async with asyncio.timeout(_LIMIT_S):
            while sum(event.type == f"antiphon.{type}.v1" for _, event in await session.log()) < times:  # noqa: ASYNC110  # a log tells no times
                await asyncio.sleep(_LOOK_EVERY_S)

    async def send(self, data: EventData) -> None:
        """Send the session an event that no client would send, such as a late or foreign message."""
        bus = self.antiphon.open_bus()
        opening = await bus.first_event(self.session_id)
        assert opening is not None, "a session that has begun"
        event = ENVELOPES[type(data)](
            id=new_id(),
            source="test",
            type=data.type,
            subject=self.session_id,
            time=utc_now(),
            correlationid=opening.correlationid,
            format=opening.format,
            data=data,
        )
        await bus.publish(event, "signal")

    async def give(self, values: dict[str, Any]) -> None:
        """Give a run the values that it waits for."""
        await workflows.give(self.antiphon, self.session_id, values)

    async def until_asked(self, times: int) -> None:
        """Wait for a number of requests to the model."""
        await self._until(lambda: self.asked() >= times)

    async def until_slow_tool(self) -> None:
        """Wait until a slow tool has begun."""
        await self._until(lambda: self.session_id in BEGUN)

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(_LIMIT_S):
            while not holds():  # noqa: ASYNC110  # neither server nor tool tells events
                await asyncio.sleep(_LOOK_EVERY_S)


@dataclass(frozen=True)
class RunOf:
    """A run of the workflow `it` of a specification."""

    source: dict[str, Any]
    params: dict[str, Any]


@dataclass(frozen=True)
class Scenario:
    """One session. Its name is the id of the session and of its model."""

    name: str
    query: str
    model: tuple[Scripted, ...] = ()
    """Replies, in order; see tests/messages_server.py."""
    ends: TerminationReason | Literal["any"] = "natural_completion"
    options: dict[str, Any] = field(default_factory=dict)
    grant: str = ""
    scopes: tuple[str, ...] = ()
    """The scopes of a signed grant; requires the deployment `granted`."""
    claims: dict[str, Any] = field(default_factory=dict)
    """The other claims of that grant."""
    is_raw_entry: bool = False
    """Whether a plain XADD submits the query, because the client would reject it."""
    deployment: str = "usual"
    """A name in deployments.py."""
    fault: str = ""
    """The faults, in the form of ANTIPHON_FAULTS."""
    apart: str = ""
    """The name of a pipeline of its own, if the session would disturb others; required with faults."""
    meanwhile: Callable[[Meanwhile], Awaitable[Any]] | None = None
    run: RunOf | None = None
    """The workflow to run, if any."""
    publishes: dict[str, Any] | None = None
    """Workflows that the deployment offers as tools; all scenarios of a deployment publish the same."""
    records_child: bool = False
    """Whether to record the first session that this one begins, instead of this one."""
    after: str = ""
    """The scenario that must end before this one begins."""


def says(text: str, *uses: Use, **how: Any) -> Scripted:
    """Reply with a text and some calls."""
    return Scripted(text=text, uses=uses, **how)


def calls(*uses: Use, **how: Any) -> Scripted:
    """Reply only with calls."""
    return Scripted(uses=uses, **how)


def use(name: str, /, **input: Any) -> Use:
    """Return one call."""
    return Use(name=name, input=input)


def fails(status: int, error: str = "api_error", text: str = "scripted", **headers: str) -> Scripted:
    """Fail instead of a reply."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return Scripted(status=status, error=error, text=text, headers=headers)
