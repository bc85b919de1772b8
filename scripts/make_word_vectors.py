"""Make shared/antiphon_shared/text/word_vectors.z: `python scripts/make_word_vectors.py WORDS WORDNET MODEL OUT`.

WORDS    a list of English words, the commonest first, one a line: that of GloVe 6B (Public Domain Dedication, PDDL 1.0)
WORDNET  the folder with WordNet 3.0's data.* and index.* files (WordNet licence; Debian's package `wordnet-base`)
MODEL    a folder with all-MiniLM-L6-v2 as model.onnx and tokenizer.json (Apache licence 2.0)
OUT      the table

Needs numpy, scipy, onnxruntime, tokenizers and pystemmer, none of which the pipeline itself needs, but the last.

The method is that of static embeddings distilled from a sentence model: each word begins at the model's own vector of
it, and all are then moved, by regularized least squares, so that the sum of a sentence's words points where the model
puts the sentence. No question and no tool of benchmarks/routing has a part in it.
"""

import random
import re
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import onnxruntime
import scipy.sparse
from Stemmer import Stemmer
from tokenizers import Tokenizer

WORDS, COMMON, DIMENSIONS, STRENGTH = 20_000, 9_000, 192, 0.3
EXAMPLES, GLOSSES = 20_000, 10_000
PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
STEM = Stemmer("english").stemWord


def main(words_file: str, wordnet: str, model: str, out: str) -> None:
    words = chosen_words(Path(words_file).read_text().split(), lemmas(Path(wordnet)))
    encode = encoder(Path(model))
    start = encode(words).astype(np.float64)
    texts = sentences(Path(wordnet), set(words[:12_000]))
    fitted = fit(words, start, texts, encode(texts).astype(np.float64))
    Path(out).write_bytes(packed(words, fitted))


def lemmas(wordnet: Path) -> set[str]:
    lines = [line for part in wordnet.glob("index.*") for line in part.read_text().splitlines()]
    return {line.split()[0] for line in lines if line and line[0] != " "}


def chosen_words(by_frequency: list[str], known: set[str]) -> list[str]:
    """The commonest words, then those of the dictionary whose stem is new."""
    words, stems = [], set()
    for rank, word in enumerate(word for word in by_frequency if re.fullmatch("[a-z]{2,}", word)):
        if len(words) == WORDS:
            break
        if rank < COMMON or (word in known and STEM(word) not in stems):
            words.append(word)
            stems.add(STEM(word))
    return words


def sentences(wordnet: Path, common: set[str]) -> list[str]:
    """Short example sentences, and short glosses of common words."""
    examples, glosses = [], []
    for part in sorted(wordnet.glob("data.*")):
        for line in part.read_text().splitlines():
            head, _, gloss = line.partition(" | ")
            if line.startswith("  ") or not gloss:
                continue
            fields = head.split()
            names = [fields[4 + 2 * n].replace("_", " ") for n in range(int(fields[3], 16))]
            examples += [one for one in re.findall(r'"([^"]{8,200})"', gloss) if len(one) < 90]
            named = [name for name in names if set(name.lower().split()) <= common][:3]
            meaning = re.sub(r'"[^"]*"', "", gloss).strip(" ;\n")
            glosses += [text for text in [f"{', '.join(named)}: {meaning}"] if named and len(text) < 110]
    draw = random.Random(1)
    draw.shuffle(examples)
    draw.shuffle(glosses)
    return examples[:EXAMPLES] + glosses[:GLOSSES]


def encoder(model: Path):
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(64)
    session = onnxruntime.InferenceSession(str(model / "model.onnx"))

    def encode(texts: list[str]):
        rows = []
        for begin in range(0, len(texts), 128):
            batch = tokenizer.encode_batch(texts[begin : begin + 128])
            ids, mask = (
                np.array([getattr(one, name) for one in batch], dtype=np.int64)
                for name in ("ids", "attention_mask")
            )
            inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            names = {one.name for one in session.get_inputs()}
            hidden = session.run(None, {name: value for name, value in inputs.items() if name in names})[0]
            if hidden.ndim == 3:
                hidden = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            rows.append(hidden / np.linalg.norm(hidden, axis=1, keepdims=True))
        return np.concatenate(rows)

    return encode


def fit(words, start, texts, targets):
    """Least squares by conjugate gradients, held to half of the words' own vectors; then the main dimensions."""
    places = {word: place for place, word in enumerate(words)}
    stems: dict[str, int] = {}
    for word, place in places.items():
        stems.setdefault(STEM(word), place)
    rows, columns, values = [], [], []
    for row, text in enumerate(texts):
        found = [places.get(word, stems.get(STEM(word))) for word in map(str.lower, PARTS.findall(text))]
        found = [place for place in found if place is not None]
        rows += [row] * len(found)
        columns += found
        values += [max(1, len(found)) ** -0.5] * len(found)
    design = scipy.sparse.csr_matrix((values, (rows, columns)), shape=(len(texts), len(words)))
    origin = 0.5 * (start - start.mean(0))
    moved = np.zeros_like(origin)
    residual = design.T @ (targets - targets.mean(0) - design @ origin)
    direction, size = residual.copy(), (residual * residual).sum(0)
    for _ in range(40):
        applied = design.T @ (design @ direction) + STRENGTH * direction
        step = size / ((direction * applied).sum(0) + 1e-12)
        moved += step * direction
        residual -= step * applied
        next_size = (residual * residual).sum(0)
        direction, size = residual + (next_size / size) * direction, next_size
    fitted = origin + moved
    *_, axes = np.linalg.svd(fitted, full_matrices=False)
    return fitted @ axes[:DIMENSIONS].T


def packed(words, vectors) -> bytes:
    """Words, a scale for each, and four bits for each dimension."""
    largest = np.maximum(np.abs(vectors).max(1, keepdims=True) * 0.9, 1e-9)
    parts = np.clip(np.round(vectors / largest * 7), -7, 7).astype(int) + 8
    scales = np.clip(np.round(largest / np.quantile(largest, 0.999) * 255), 1, 255).astype(np.uint8)
    rows = (parts[:, 0::2] << 4 | parts[:, 1::2]).astype(np.uint8)
    names = "\n".join(words).encode()
    header = struct.pack(">III", len(words), DIMENSIONS, len(names))
    return zlib.compress(header + names + scales.tobytes() + rows.tobytes(), 9)


if __name__ == "__main__":
    main(*sys.argv[1:])
