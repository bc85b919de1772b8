"""Embeddings: their effect, their storage, and that they are optional."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from antiphon_shared.bus.handling import MEMORY, VECTORS
from antiphon_shared.formats import FORMAT
from antiphon_shared.memory.layers import MEMORY_DELTA, MemoryDelta
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import load

from context_synthesizer import embeddings
from context_synthesizer.embeddings import Embed, Embeddings, WeighedDelta, embed_of
from context_synthesizer.session_index_cache import CachedIndex
from context_synthesizer.settings import ContextSynthesizerSettings
from context_synthesizer.turn import store_delta
from tests.context_synthesizer.builders import index_of
from tests.fakes import FakeSession
from tests.memories import a_round

QUESTION = "Who composes?"
SONATA, STORM = "A sonata by Ada Holm opened the evening.", "The harbour was closed because of the gale."


class ByMatter:
    """Embeds a text by its subject, and remembers the texts."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [self._about(text) for text in texts]

    def _about(self, text: str) -> list[float]:
        is_music, is_weather = text == QUESTION or "sonata" in text, "gale" in text or "weather" in text
        return [float(is_music), float(is_weather), float(not (is_music or is_weather))]


async def weighed(
    embed: Embed, kept: CachedIndex, session: FakeSession, round: int, query: str, *texts: str
) -> WeighedDelta:
    """Return a filed round that searched for `query` and found `texts`, with its vectors stored."""
    passages = [{"title": "a", "text": text} for text in texts]
    delta = kept.session_index.filed(*a_round(("search", {"query": query}, passages), round=round))
    made = await Embeddings("by matter", embed, timeout_s=0.5).weigh(delta, kept, round, session)
    item = store_delta(kept, made.delta, 1_000_000, FORMAT)
    kept.session_index.weigh(made.salience)
    session.lists.setdefault(MEMORY, []).append(item)
    session.lists.setdefault(VECTORS, []).extend([made.item] if made.item else [])
    return made


def a_kept() -> CachedIndex:
    return CachedIndex(QUESTION, 8_000)


async def test_a_fact_close_to_the_question_gains_salience_without_shared_words() -> None:
    made = await weighed(ByMatter(), a_kept(), FakeSession(), 1, "x", SONATA, STORM)
    close, far = made.delta.facts
    assert close.salience > 0.7
    assert far.salience < 0.51
    assert made.salience == {close.id: close.salience, far.id: far.salience}
    scores = index_of("Who composes for the harbour?", [made.delta]).scores
    assert scores[close.id] > 0


async def test_a_later_search_is_compared_with_earlier_facts() -> None:
    kept, session, embed = a_kept(), FakeSession(), ByMatter()
    await weighed(embed, kept, session, 1, "harbour", STORM)
    embed.asked.clear()
    made = await weighed(embed, kept, session, 2, "weather", "Nothing else happened.")
    assert made.salience["F1"] > kept.session_index.memory.facts["F1"].salience
    assert not any(STORM in text for text in embed.asked), "its vector is kept"
    later = kept.session_index._scores_in(None)
    assert later["F1"] > kept.session_index.scores["F1"], "the plan uses the filed scores"


async def test_a_process_that_takes_over_embeds_nothing_again_and_decides_the_same() -> None:
    kept, session, embed = a_kept(), FakeSession(), ByMatter()
    await weighed(embed, kept, session, 1, "harbour", STORM, SONATA)
    other = CachedIndex(QUESTION, 8_000, session.lists[MEMORY])
    embed.asked.clear()
    passage = a_round(
        (
            "search",
            {"query": "weather"},
            [{"title": "b", "text": "Rain fell on the roofs of the whole town."}],
        ),
        round=2,
    )
    weigh = Embeddings("by matter", embed).weigh
    one = await weigh(kept.session_index.filed(*passage), kept, 2, session)
    assert await weigh(other.session_index.filed(*passage), other, 2, session) == one
    assert sorted({*embed.asked}) == ["b Rain fell on the roofs of the whole town.", "weather"]


async def test_vectors_of_another_model_are_not_used() -> None:
    kept, session, embed = a_kept(), FakeSession(), ByMatter()
    await weighed(embed, kept, session, 1, "harbour", STORM)
    embed.asked.clear()
    await Embeddings("another", embed).weigh(MemoryDelta(), kept, 2, session)
    assert any(STORM in text for text in embed.asked)


async def test_a_fact_not_embedded_in_time_is_embedded_in_the_next_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embeddings, "_AT_ONCE", 1)
    embed = ByMatter()

    async def slow(texts: Sequence[str]) -> list[list[float]]:
        if "gale" in texts[0]:
            await asyncio.Event().wait()
        return await embed(texts)

    kept, session = a_kept(), FakeSession()
    made = await weighed(slow, kept, session, 1, "harbour", STORM, SONATA)
    assert "F1" not in made.salience
    assert made.delta.facts[0].salience == 0.5
    assert made.salience["F2"] > 0.7, "newer facts come first"
    made = await weighed(embed, kept, session, 2, "weather")
    assert made.salience["F1"] > 0.7


async def test_boilerplate_is_not_embedded() -> None:
    embed = ByMatter()
    made = await weighed(
        embed, a_kept(), FakeSession(), 1, "harbour", "Click here to subscribe to our newsletter."
    )
    assert [fact.salience < 0.5 for fact in made.delta.facts] == [True]
    assert embed.asked == [QUESTION, "harbour"]


async def test_a_round_without_texts_adds_no_vectors() -> None:
    kept, session = a_kept(), FakeSession()
    await weighed(ByMatter(), kept, session, 1, "harbour", STORM)
    made = await Embeddings("by matter", ByMatter()).weigh(MemoryDelta(), kept, 2, session)
    assert made.item == b""
    assert MEMORY_DELTA.read(session.lists[MEMORY][0]).facts


async def fails(texts: Sequence[str]) -> list[list[float]]:
    raise OSError("no model here")


async def gives_one_too_few(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0] for _ in texts[1:]]


async def gives_nothing(texts: Sequence[str]) -> list[list[float]]:
    return []


async def gives_no_numbers(texts: Sequence[str]) -> list[list[float]]:
    return [*[[1.0] for _ in texts[1:]], [float("nan")]]


async def gives_vectors_of_many_lengths(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0] * (place + 1) for place, _ in enumerate(texts)]


async def gives_infinities(texts: Sequence[str]) -> list[list[float]]:
    """Return an infinite number for one text; the others are close."""
    return [*[[1.0, 0.0] for _ in texts[1:]], [float("inf"), 0.0]]


async def never_comes(texts: Sequence[str]) -> list[list[float]]:
    await asyncio.Event().wait()
    return [[1.0] for _ in texts]


class Embedder:
    async def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]


EMBEDDER = Embedder()


def not_async(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0] for _ in texts]


@pytest.mark.parametrize(
    "embed",
    [
        fails, gives_infinities, gives_no_numbers, gives_nothing, gives_one_too_few, gives_vectors_of_many_lengths,
        never_comes,
    ],
)  # fmt: skip  # a list
async def test_facts_are_chosen_by_words_if_the_embedder_fails(embed: Callable[..., object]) -> None:
    kept, session = a_kept(), FakeSession()
    async with asyncio.timeout(30):
        made = await weighed(embed, kept, session, 1, "x", SONATA, STORM)  # type: ignore[arg-type]  # of many kinds
    assert [fact.salience for fact in made.delta.facts] == [0.5, 0.5]
    assert not made.salience
    assert made.item == b""


@pytest.mark.parametrize("path", [f"{__name__}:not_async", f"{__name__}:Embedder", "json:dumps"])
def test_a_function_that_is_not_async_is_refused(path: str) -> None:
    with pytest.raises(ConfigurationError, match="is not an async function"):
        embed_of(path)


def test_a_callable_object_with_an_async_call_is_accepted() -> None:
    assert embed_of(f"{__name__}:EMBEDDER") is EMBEDDER


def test_a_setting_that_names_no_function_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS", "no function")
    with pytest.raises(ConfigurationError, match=r"as package\.module:function") as refused:
        load(ContextSynthesizerSettings)
    assert "A-Za-z" not in str(refused.value)


def test_a_function_is_loaded_by_its_path() -> None:
    assert embed_of(f"{__name__}:EMBEDDER") is EMBEDDER


@pytest.mark.parametrize("path", ["no.such.module:embed", f"{__name__}:missing", f"{__name__}:QUESTION"])
def test_a_function_that_cannot_be_loaded_is_refused_by_name(path: str) -> None:
    with pytest.raises(ConfigurationError, match=path.split(":")[0]):
        embed_of(path)
