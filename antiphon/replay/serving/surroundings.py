"""The surroundings of the components of a rerun: their environment, and each session's bus."""

from collections.abc import Awaitable

from antiphon_shared.bus.reads import Completed
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import COMPONENTS
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.calls import Catalogue
from pydantic_core import to_json

from antiphon.replay.serving.recording_index import RecordingIndex

HIDDEN = (
    *("ANTIPHON", "ANTHROPIC", "OPENAI"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"),
)
"""The prefixes of variables hidden from the components of a rerun: settings, keys and proxies."""


def variables(redis_url: str) -> dict[str, str]:
    """Return the environment of all five components: without retries and without recording."""
    settings = {
        "ANTIPHON_REDIS_URL": redis_url,
        "ANTIPHON_LOG_LEVEL": "error",
        "ANTIPHON_BUS_MAX_ATTEMPTS": "1",
        "ANTIPHON_BUS_MAX_OPEN_SESSIONS": "100000",
        "ANTIPHON_BUS_MAX_EVENT_BYTES": "100000000",
        "ANTIPHON_BUS_RECORDING": "false",
    }
    # Steps that never end occupy their slots until the end of the rerun.
    return settings | {f"ANTIPHON_{name.upper()}_CONCURRENCY": "256" for name in COMPONENTS}


class SessionBus(Bus):
    """The bus of one session, with its recorded tool catalogues and settings."""

    def __init__(self, bus: Bus, recording_index: RecordingIndex) -> None:
        super().__init__(bus.connections, bus.keys, _settings(bus, recording_index), bus.redactor, bus.signer)
        self.batcher = bus.batcher
        self._recording_index = recording_index

    def current_catalogue(self) -> Awaitable[str | None]:
        return Completed(self._recording_index.catalogue_hash or None)

    async def specification(self, content_hash: str) -> bytes | None:
        specification = self._recording_index.content.specifications.get(content_hash)
        return None if specification is None else to_json(specification)

    async def catalogue(self, content_hash: str) -> Catalogue:
        return self._recording_index.catalogue(content_hash)


def _settings(bus: Bus, recording_index: RecordingIndex) -> BusSettings:
    """Return the bus settings from which the session's limits follow; see coordinator/settings.py."""
    if recording_index.opened is None:
        return bus.settings
    limits = recording_index.opened.limits
    then = {"lease_s": limits.assembly_s / 3, "retention_s": 2 * limits.deadline_max_s}
    return bus.settings.model_copy(update=then)
