"""The port for embeddings: what it adds, and that nothing depends on it."""

import asyncio
from collections.abc import Sequence

import pytest
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.process.settings import load

from context_synthesizer import embeddings
from context_synthesizer.desk import Desk
from context_synthesizer.embeddings import load_embed, with_salience
from context_synthesizer.settings import ContextSynthesizerSettings
from tests.memories import a_round

QUESTION = "Who composes?"


async def by_music(texts: Sequence[str]) -> list[list[float]]:
    """The question and everything about music point one way, the rest another."""
    return [[1.0, 0.0] if text == QUESTION or "sonata" in text else [0.0, 1.0] for text in texts]


def a_delta() -> MemoryDelta:
    texts = ["A sonata by Ada Holm opened the evening.", "The harbour was closed because of the storm."]
    return Desk(QUESTION).filed(
        *a_round(("search", {"query": "x"}, [{"title": "a", "text": one} for one in texts]))
    )


async def test_what_is_close_to_the_question_gains_where_no_word_is_shared() -> None:
    delta = await with_salience(a_delta(), QUESTION, by_music)
    close, far = delta.facts
    assert close.salience == 1.0
    assert far.salience == 0.5
    scores = Desk.of(QUESTION, [delta]).scores
    assert scores[close.id] > scores[far.id] == 0


async def fails(texts: Sequence[str]) -> list[list[float]]:
    raise OSError("no model here")


async def gives_one_too_few(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0] for _ in texts[1:]]


async def gives_no_numbers(texts: Sequence[str]) -> list[list[float]]:
    return [*[[1.0] for _ in texts[1:]], [float("nan")]]


async def gives_vectors_of_many_lengths(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0] * (place + 1) for place, _ in enumerate(texts)]


async def gives_infinities(texts: Sequence[str]) -> list[list[float]]:
    """Of one text alone; the others are close."""
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


async def test_what_takes_too_long_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "TIMEOUT_S", 0.01)
    delta = a_delta()
    async with asyncio.timeout(30):
        assert await with_salience(delta, QUESTION, never_comes) == delta


@pytest.mark.parametrize("path", [f"{__name__}:not_async", f"{__name__}:Embedder", "json:dumps"])
def test_what_is_not_async_is_refused(path: str) -> None:
    with pytest.raises(ConfigurationError, match="is no async function"):
        load_embed(path)


def test_an_object_that_is_called_like_an_async_function_will_do() -> None:
    assert load_embed(f"{__name__}:EMBEDDER") is EMBEDDER


def test_a_setting_that_names_no_function_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS", "no function")
    with pytest.raises(ConfigurationError, match=r"as package\.module:function") as refused:
        load(ContextSynthesizerSettings)
    assert "A-Za-z" not in str(refused.value)


@pytest.mark.parametrize(
    "embed", [gives_infinities, fails, gives_one_too_few, gives_no_numbers, gives_vectors_of_many_lengths]
)
async def test_when_it_fails_in_any_way_words_alone_decide(embed: object) -> None:
    delta = a_delta()
    assert await with_salience(delta, QUESTION, embed) == delta  # type: ignore[arg-type]  # of many kinds


def test_a_function_is_loaded_by_its_path() -> None:
    assert load_embed(f"{__name__}:by_music") is by_music


@pytest.mark.parametrize("path", ["no.such.module:embed", f"{__name__}:missing", f"{__name__}:QUESTION"])
def test_what_cannot_be_loaded_is_refused_by_name(path: str) -> None:
    with pytest.raises(ConfigurationError, match=path.split(":")[0]):
        load_embed(path)
