"""The connection of a client to its pipeline: a Redis that others serve, or a pipeline inside this process."""

from typing import Any, Protocol, Self

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events.codec import explain
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import BusSettings, PipelineSettings, load
from pydantic import ValidationError

CONNECT_PATIENCE_S = 3.0


class Transport(Protocol):
    """A client's way to its pipeline, open within the client's block. `embedded.py` has the other one."""

    async def start(self) -> Bus:
        """Return an open bus. Raises ConfigurationError, RedisUnavailable."""
        ...

    async def stop(self) -> None:
        """Close the bus, and end the processes started for it."""
        ...

    def check(self) -> None:
        """Raise PipelineFailed when the pipeline cannot answer any more."""
        ...

    @property
    def storage(self) -> str:
        """Return one sentence for people about the pipeline's own storage, or an empty text."""
        ...

    @property
    def address(self) -> str:
        """Return the Redis URL at which other programs reach a pipeline of this process; empty if none can."""
        ...

    @property
    def scopes_missing(self) -> dict[str, tuple[str, ...]]:
        """Return the tools of this process that need a grant, with the scopes they lack."""
        ...


class Connection:
    """The transport to a running pipeline: its Redis."""

    storage = address = ""
    scopes_missing: dict[str, tuple[str, ...]] = {}  # never changed: the pipeline has its own tools

    def __init__(self, settings: PipelineSettings) -> None:
        self._settings = settings
        self._bus: Bus | None = None

    @classmethod
    def resolve(cls, url: str | None, namespace: str | None, partitions: int | None) -> Self:
        """Return the transport; None means the value of the environment. Raises ConfigurationError."""
        settings = load(PipelineSettings)
        given: dict[str, Any] = {"redis_url": url, "namespace": namespace, "partitions": partitions}
        own = {name: value for name, value in given.items() if value is not None}
        try:
            return cls(PipelineSettings(**own) if own else settings)
        except ValidationError as error:
            raise ConfigurationError(f"{explain(error)}.".replace("redis_url", "url")) from None

    async def start(self) -> Bus:
        bus = Bus.from_settings(self._settings, load(BusSettings))
        await bus.open(CONNECT_PATIENCE_S)
        self._bus = bus
        return bus

    async def stop(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            await bus.close()

    def check(self) -> None:
        """Do nothing: whether a running pipeline answers is for `antiphon status` to say."""
