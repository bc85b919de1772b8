"""The outages of tools and models in a simulated world, and the state that each process sees."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from antiphon_shared.breakers.outages import ModelOutage, Outages

from tests.simulation.faults import Faults

MODELS = ("m", "n")
TOOLS = ("search", "lookup", "pay")
_OUTAGES_MAX = 6
_SPAN_MS = 60_000
_SEEN_AFTER_MS = 600
"""The delay until processes, which look at intervals, see a change."""


@dataclass(frozen=True, slots=True)
class _Outage:
    name: str
    from_ms: int
    until_ms: int


class Weather:
    """Each time the fault is injected, a tool or model is unavailable for a while."""

    def __init__(self, begin_ms: int, faults: Faults) -> None:
        self._outages: list[_Outage] = []
        while len(self._outages) < _OUTAGES_MAX and faults.strikes("outage"):
            random = faults.random("outage")
            from_ms = begin_ms + random.randrange(_SPAN_MS)
            length_ms = random.choice((200, 2_000, 15_000, 120_000))
            self._outages.append(_Outage(random.choice((*MODELS, *TOOLS)), from_ms, from_ms + length_ms))

    def model_out_for_s(self, model: str, now_ms: int) -> float | None:
        """Return the remaining time of a model's outage; None if it is available."""
        left_ms = [one.until_ms - now_ms for one in self._now(now_ms) if one.name == model]
        return max(left_ms) / 1000 if left_ms else None

    def seen(self, now_ms: int) -> Outages:
        """Return the slightly outdated state that a process sees."""
        now = self._now(now_ms - _SEEN_AFTER_MS)
        untils = {
            model: max(one.until_ms for one in now if one.name == model)
            for model in sorted({one.name for one in now} & {*MODELS})
        }
        out = tuple(ModelOutage(model=model, until=_moment(ms)) for model, ms in untils.items())
        return Outages(tools=tuple(sorted({one.name for one in now} & {*TOOLS})), models=out)

    def _now(self, now_ms: int) -> list[_Outage]:
        return [one for one in self._outages if one.from_ms <= now_ms < one.until_ms]


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=ms)
