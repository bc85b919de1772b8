"""The port for embeddings: never needed, used when a deployment brings its own.

    ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS=my_package.my_module:embed

names an async function from texts to one vector each. New facts are held against the question when they are filed,
and how close they are is filed with them as their salience: a briefing stays a pure render of what is recorded, and
no text is embedded twice. Whatever goes wrong here is logged, and the words alone decide.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib import import_module
from inspect import iscoroutinefunction
from math import isfinite, sqrt

import structlog
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.process.errors import ConfigurationError

Embed = Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]]
"""Texts to vectors, in their order, all of one length."""
Weigh = Callable[[MemoryDelta, str], Awaitable[MemoryDelta]]
"""New facts and the question to the same facts, each with its salience."""
TIMEOUT_S = 5.0
_TEXT_CHARACTERS = 2_000


def load_embed(path: str) -> Embed:
    """The function that `module:attribute` names. Raises ConfigurationError when there is none."""
    module, _, attribute = path.partition(":")
    try:
        embed = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigurationError(
            f"ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS={path} cannot be loaded: {error}."
            " Name an async function as package.module:function, or leave the setting out."
        ) from error
    call = None if isinstance(embed, type) else getattr(embed, "__call__", None)  # noqa: B004  # it is looked at
    if not (iscoroutinefunction(embed) or iscoroutinefunction(call)):
        raise ConfigurationError(
            f"ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS={path} is no async function."
            " Name one that is written `async def` and goes from texts to one vector each."
        )
    loaded: Embed = embed
    return loaded


def weighing(embed: Embed) -> Weigh:
    """Facts are weighed by these embeddings."""
    return partial(with_salience, embed=embed)


async def with_salience(delta: MemoryDelta, query: str, embed: Embed) -> MemoryDelta:
    """`delta`, its facts' salience raised by how close each is to the query; as it was when that fails."""
    if not delta.facts:
        return delta
    titles = {document.id: document.title for document in delta.documents}
    texts = [f"{titles.get(fact.document, '')} {fact.statement}"[:_TEXT_CHARACTERS] for fact in delta.facts]
    try:
        async with asyncio.timeout(TIMEOUT_S):
            asked, *vectors = await embed([query[:_TEXT_CHARACTERS], *texts])
        closeness = [_cosine(asked, vector) for vector in vectors]
        facts = [
            fact.model_copy(update={"salience": _salience(fact.salience, close)})
            for fact, close in zip(delta.facts, closeness, strict=True)
        ]
    except Exception as error:  # noqa: BLE001  # a deployment's own code may fail in any way
        structlog.get_logger().warning("embeddings failed; words alone decide", error=repr(error)[:300])
        return delta
    return delta.model_copy(update={"facts": tuple(facts)})


def _salience(known: float, closeness: float) -> float:
    """What is close matters more; what is far no less than before: words may still find it."""
    return round(min(1.0, known + max(0.0, closeness) * (1 - known)), 3)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    cosine = product / (sqrt(sum(a * a for a in one)) * sqrt(sum(b * b for b in other)) or 1.0)
    if not isfinite(cosine):
        raise ValueError("a vector holds what is no number")
    return cosine
