"""Embeddings for ours: the real code, but each text is embedded once in a run, so that a run takes minutes."""

import asyncio
import time
from collections.abc import Sequence

from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.values import Round

from context_synthesizer import embeddings
from context_synthesizer.session_index_cache import CachedIndex


class _NothingKept:
    """A session without any data in Redis."""

    async def items(self, name: str, start: int = 0) -> list[bytes]:
        return []


class Embedding:
    """The function that the setting `ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS` names, without its time limit."""

    def __init__(self, setting: str) -> None:
        """Raise ConfigurationError for an unknown function."""
        self._embed = embeddings.embed_of(setting)
        self._known: dict[str, Sequence[float]] = {}
        self._embeddings = embeddings.Embeddings(setting, self._remembered, timeout_s=3_600)
        self._cpu_s, self._asked, self._rounds = 0.0, 0, 0

    def weighed(self, delta: MemoryDelta, kept: CachedIndex, round: Round) -> MemoryDelta:
        """Return a round's delta with its facts' salience; the session index has the new closeness of earlier facts."""
        self._rounds += 1
        weighing = self._embeddings.weigh(delta, kept, round, _NothingKept())  # type: ignore[arg-type]  # no more is read
        weighed = asyncio.run(weighing)
        kept.session_index.weigh(weighed.salience)
        return weighed.delta

    @property
    def cost(self) -> str:
        """The cost of embedding, as a line."""
        each_ms = 1000 * self._cpu_s / max(1, len(self._known))
        texts = self._asked / max(1, self._rounds)
        taken = (
            f"{each_ms:.1f} ms of CPU a text, {texts:.0f} texts a round: {texts * each_ms:,.0f} ms a round"
        )
        return f"embeddings: {taken}"

    async def _remembered(self, texts: Sequence[str]) -> list[Sequence[float]]:
        self._asked += len(texts)
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        began = time.process_time()
        self._known |= dict(zip(new, await self._embed(new), strict=True))
        self._cpu_s += time.process_time() - began
        return [self._known[text] for text in texts]
