"""Embeddings: the closeness in meaning of facts to the question and the searches, if a deployment enables them.

    ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS=minilm
    ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS=my_package.my_module:embed

The word names the built-in model; a path names an async function from texts to one vector each. A round embeds its
new texts: facts, the question, searches. A new fact's salience is raised by its closeness, and filed with it. Facts
filed earlier are compared with later searches too, and the briefing's event holds the changes of the closest ones. So
a replay has all inputs of the decisions, and calls no model. A text that is not embedded in time waits for the
session's next round; any other failure is logged, and the closeness by words alone is used.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Protocol

import structlog
from antiphon_shared.bus.handling import VECTORS, SessionStore
from antiphon_shared.memory.filing.salience import USUAL
from antiphon_shared.memory.layers import Document, Fact, MemoryDelta
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.offload import offload_if
from antiphon_shared.values import Round

from context_synthesizer.minilm import MiniLM
from context_synthesizer.session_index_cache import CachedIndex
from context_synthesizer.vectors import Vectors, digest_of, row_of

Embed = Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]]
"""A function that returns a vector for each text, all of one length."""
BUILT_IN = "minilm"
TIMEOUT_S = 5.0
"""The timeout for all texts that one round embeds."""
_AT_ONCE = 32
_TEXTS_MAX = 500
"""Bound on the texts that one round embeds; the others wait for the next round."""
_TEXT_CHARACTERS = 2_000
_EARLIER_MAX = 400
"""Bound on the facts filed earlier whose changed salience a briefing reports; the closest are reported."""
_CLOSENESS_MIN = 0.002
"""The minimum closeness of an embedded fact, which distinguishes it from a fact that was not embedded."""
_FACTS_AT_ONCE_MAX = 500
"""The number of facts above which they are compared in another thread."""


@dataclass(frozen=True)
class WeighedDelta:
    """A delta with the salience of its facts, and the data to store with it."""

    delta: MemoryDelta
    salience: Mapping[str, float] = field(default_factory=dict)
    """The salience by embeddings of the delta's facts, and of some filed earlier."""
    item: bytes = b""
    """The new vectors to store; empty without new ones."""


class Weigh(Protocol):
    """A function that raises the salience of a round's facts; `cached` holds the facts filed earlier."""

    async def __call__(
        self, delta: MemoryDelta, cached: CachedIndex, round: Round, session: SessionStore
    ) -> WeighedDelta: ...


def embed_of(setting: str) -> Embed:
    """Return the function that the setting names. Raises ConfigurationError if it does not exist."""
    return MiniLM() if setting == BUILT_IN else _load_custom(setting)


def _load_custom(path: str) -> Embed:
    module, _, attribute = path.partition(":")
    try:
        embed = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(
            f"ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS={path} cannot be loaded: {error}. Name an async "
            "function as package.module:function, or omit the setting."
        ) from error
    call = None if isinstance(embed, type) else getattr(embed, "__call__", None)  # noqa: B004  # it is only inspected
    if not (iscoroutinefunction(embed) or iscoroutinefunction(call)):
        raise ConfigurationError(
            f"ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS={path} is not an async function. Name an `async "
            "def` function that returns one vector for each text."
        )
    loaded: Embed = embed
    return loaded


@dataclass(frozen=True)
class Embeddings:
    """The name of an embedding model, and its function."""

    model: str
    embed: Embed
    timeout_s: float = TIMEOUT_S

    async def weigh(
        self, delta: MemoryDelta, cached: CachedIndex, round: Round, session: SessionStore
    ) -> WeighedDelta:
        """Embed the new texts, and raise the salience of facts close to the question and to a search."""
        if cached.vectors is None or cached.vectors.model != self.model:
            cached.vectors = Vectors(self.model)
        vectors, memory = cached.vectors, cached.session_index.memory
        vectors.read(await session.items(VECTORS, vectors.items))
        uses = (*memory.tool_usage, *delta.tool_usage)
        searches = [use.query[:_TEXT_CHARACTERS] for use in uses if use.query]
        question = memory.query[:_TEXT_CHARACTERS]
        question_texts = {digest_of(text): text for text in (question, *searches)}
        facts = {fact.id: fact for fact in (*delta.facts[::-1], *list(memory.facts.values())[::-1])}
        documents = {**memory.documents, **{document.id: document for document in delta.documents}}
        new_questions = {name: text for name, text in question_texts.items() if name not in vectors.questions}
        new_facts = {
            id: _text_of(fact, documents)
            for id, fact in facts.items()
            if id not in vectors.rows and fact.salience >= USUAL
        }
        rows = await self._embed_texts({**new_questions, **new_facts}, vectors)
        item = vectors.add(_rows_by_name(rows, new_facts), _rows_by_name(rows, new_questions))
        is_heavy = len(vectors.rows) > _FACTS_AT_ONCE_MAX
        closeness = await offload_if(is_heavy, vectors.closeness, question, searches)
        own = {fact.id: _salience_of(closeness[fact.id]) for fact in delta.facts if fact.id in closeness}
        weighed = [
            fact.model_copy(update={"salience": own[fact.id]}) if fact.id in own else fact
            for fact in delta.facts
        ]
        earlier = _changed_salience(memory.facts, closeness)
        return WeighedDelta(delta.model_copy(update={"facts": tuple(weighed)}), own | earlier, item)

    async def _embed_texts(self, texts: Mapping[str, str], vectors: Vectors) -> dict[str, bytes]:
        """Return the rows of the texts by their names, for as many texts as the timeout allows."""
        names = list(texts)[:_TEXTS_MAX]
        rows: dict[str, bytes] = {}
        try:
            async with asyncio.timeout(self.timeout_s):
                for n in range(0, len(names), _AT_ONCE):
                    part = names[n : n + _AT_ONCE]
                    embedded = await self.embed([texts[name] for name in part])
                    width = vectors.width or len(next(iter(rows.values()), embedded[0]))
                    rows |= dict(zip(part, [row_of(vector, width) for vector in embedded], strict=True))
        except Exception as error:  # noqa: BLE001  # a deployment's own code may fail in any way
            structlog.get_logger().warning(
                "embeddings_failed",
                error=repr(error)[:300],
                texts=len(names),
                embedded=len(rows),
            )
        return rows


def _text_of(fact: Fact, documents: Mapping[str, Document]) -> str:
    """Return the text of a fact with the title of its document, like the text that is compared by words."""
    return f"{documents[fact.document].title} {fact.statement}"[:_TEXT_CHARACTERS]


def _rows_by_name(rows: Mapping[str, bytes], names: Mapping[str, str]) -> dict[str, bytes]:
    return {name: rows[name] for name in names if name in rows}


def _salience_of(closeness: float) -> float:
    """Return the salience for a closeness: at least the usual one, as words may still find a distant fact."""
    return round(USUAL + (1 - USUAL) * max(_CLOSENESS_MIN, min(1.0, closeness)), 3)


def _changed_salience(facts: Mapping[str, Fact], closeness: Mapping[str, float]) -> dict[str, float]:
    """Return the new salience of facts filed earlier, if it differs from the filed one."""
    now = {id: _salience_of(closeness[id]) for id in facts if id in closeness}
    changed = [id for id, salience in now.items() if salience != facts[id].salience]
    return {
        id: now[id] for id in sorted(changed, key=lambda id: -max(now[id], facts[id].salience))[:_EARLIER_MAX]
    }
