"""The connection of a client to its pipeline: a running one over Redis, or one inside this process."""

from typing import Any, Protocol, Self

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events.codec import explain
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import BusSettings, PipelineSettings, load
from pydantic import ValidationError

CONNECT_PATIENCE_S = 3.0


class Transport(Protocol):
    """The connection of a client to its pipeline, open within the client's block: here, or in embedded.py."""

    async def start(self) -> Bus:
        """Return an open bus. Raises ConfigurationError, RedisUnavailable."""
        ...

    async def stop(self) -> None:
        """Close the bus, and end the processes started for it."""
        ...

    def check(self) -> None:
        """Raise PipelineFailed if the pipeline can no longer answer."""
        ...

    @property
    def storage(self) -> str:
        """Return a sentence about the pipeline's own storage; empty for a running pipeline."""
        ...

    @property
    def address(self) -> str:
        """Return the Redis URL at which other programs reach an embedded pipeline; empty if they cannot."""
        ...

    @property
    def scopes_missing(self) -> dict[str, tuple[str, ...]]:
        """Return the tools of an embedded pipeline that need a grant, with the scopes that they lack."""
        ...


class Connection:
    """The transport to a running pipeline, over its Redis."""

    storage = address = ""
    scopes_missing: dict[str, tuple[str, ...]] = {}  # always empty, as the pipeline has its own tools

    def __init__(self, settings: PipelineSettings) -> None:
        self._settings = settings
        self._bus: Bus | None = None

    @classmethod
    def resolve(cls, url: str | None, namespace: str | None, partitions: int | None) -> Self:
        """Return the transport; for None, the environment has the value. Raises ConfigurationError."""
        settings = load(PipelineSettings)
        arguments: dict[str, Any] = {"redis_url": url, "namespace": namespace, "partitions": partitions}
        arguments_with_values = {name: value for name, value in arguments.items() if value is not None}
        try:
            return cls(PipelineSettings(**arguments_with_values) if arguments_with_values else settings)
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
        """Do nothing, as `antiphon status` reports whether a running pipeline answers."""
