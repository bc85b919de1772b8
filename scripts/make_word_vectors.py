"""Make word_vectors.z: `python scripts/make_word_vectors.py WORDS WORDNET MODEL OUT [ENCODED]`.

WORDS    a list of English words, the commonest first, one a line: that of GloVe 6B (Public Domain Dedication, PDDL 1.0)
WORDNET  the folder with WordNet 3.0's data.* and index.* files (WordNet licence; Debian's package `wordnet-base`)
MODEL    a folder with all-MiniLM-L6-v2 as model.onnx and tokenizer.json (Apache licence 2.0)
OUT      the table, shared/antiphon_shared/text/word_vectors.z
ENCODED  a file to keep what the model said of each text, so that another run asks it only for new ones

Needs numpy, scipy, onnxruntime, tokenizers and pystemmer, none of which the pipeline itself needs, but the last.

The method is that of static embeddings distilled from a sentence model: each word begins at the model's own vector of
it, and all are then moved, by regularized least squares, so that the sum of a sentence's words points where the model
puts the sentence. No question and no tool of benchmarks/routing has a part in it. A model of eight-bit weights says
slightly different things of a text in another batch or on another processor: two runs that share no ENCODED give tables
that differ in the last bits.
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

WORDS, COMMON, DIMENSIONS, STRENGTH, ROUNDS = 38_000, 18_000, 192, 1.0, 20
PLAIN, MIXED = 12_000, 24_576
SMALL = (20_000, 9_000)
"""The size of the vocabulary that the mixed sentences are about, and how many of it are there for being common."""
EXAMPLES, GLOSSES = 20_000, 10_000
PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
STEM = Stemmer("english").stemWord
FORMS = (
    "{V} the {n} of a {n}.",
    "{V} a {n} for a {a} {n} and returns its {n} and {n}.",
    "{v}_{n}: {v} the {n} of a {n} by {n}",
    "Returns the {n}, {n} and {n} of a {n}.",
    "Can you {v} the {n} for my {n}?",
    "Please {v} a {a} {n} and {v} the {n}.",
    "I want to {v} the {n} of our {n} tomorrow.",
    "Which {n} has the {a} {n}?",
    "How {a} is the {n} in the {n}?",
    "My {n} is {a}, who can {v} it?",
)


def main(words_file: str, wordnet: str, model: str, out: str, encoded: str = "") -> None:
    listed = Path(words_file).read_text().split()
    words = chosen_words(listed, lemmas(Path(wordnet)), WORDS, COMMON)
    plain = [word for word in listed if re.fullmatch("[a-z]+", word)][:PLAIN]
    texts = sentences(Path(wordnet), set(plain))
    texts += mixed(Path(wordnet), chosen_words(listed, lemmas(Path(wordnet)), *SMALL), set(texts))
    vectors = vectors_of([*words, *texts], encoder(Path(model)), Path(encoded) if encoded else None)
    fitted = fit(words, vectors[: len(words)], texts, vectors[len(words) :])
    Path(out).write_bytes(packed(words, fitted))


def vectors_of(texts: list[str], encode, kept: Path | None):
    """Return the model's vectors of the texts, computed for those that are not kept, the shortest first."""
    known: dict[str, np.ndarray] = {}
    if kept is not None and kept.exists():
        archive = np.load(kept)
        known = dict(zip(archive["texts"].tolist(), archive["said"], strict=True))
    new = sorted({text for text in texts if text not in known}, key=lambda text: (len(text), text))
    known.update(zip(new, encode(new), strict=True))
    vectors = np.array([known[text] for text in texts], dtype=np.float32)
    if kept is not None and new:
        np.savez(kept, texts=np.array(texts), said=vectors)
    return vectors.astype(np.float64)


def lemmas(wordnet: Path) -> set[str]:
    lines = [line for part in wordnet.glob("index.*") for line in part.read_text().splitlines()]
    return {line.split()[0] for line in lines if line and line[0] != " "}


def chosen_words(by_frequency: list[str], known: set[str], count: int, common: int) -> list[str]:
    """The commonest words, then those of the dictionary whose stem is new."""
    words, stems = [], set()
    for rank, word in enumerate(word for word in by_frequency if re.fullmatch("[a-z]{2,}", word)):
        if len(words) == count:
            break
        if rank < common or (word in known and STEM(word) not in stems):
            words.append(word)
            stems.add(STEM(word))
    return words


def sentences(wordnet: Path, common: set[str]) -> list[str]:
    """Short example sentences, and short glosses of common words."""
    examples, glosses = [], []
    for names, meaning, quoted in entries(wordnet):
        examples += quoted
        named = [name for name in names if set(map(str.lower, PARTS.findall(name))) <= common][:3]
        glosses += [f"{', '.join(named)}: {meaning}"] if named else []
    draw = random.Random(1)
    draw.shuffle(examples)
    draw.shuffle(glosses)
    short_examples = [text for text in examples if len(text) < 90]
    short_glosses = [text for text in glosses if len(text) < 110]
    return short_examples[:EXAMPLES] + short_glosses[:GLOSSES]


def mixed(wordnet: Path, words: list[str], known: set[str]) -> list[str]:
    """Longer examples and glosses, and made-up sentences in the forms of tool descriptions and of requests."""
    draw, places = random.Random(2), {word: place for place, word in enumerate(words)}
    examples, glosses = [], []
    for names, meaning, quoted in entries(wordnet):
        examples += [text for text in quoted if len(text) < 120]
        named = [name for name in names if set(name.lower().split()) <= places.keys()][:3]
        glosses += [f"{', '.join(named)}: {meaning}"] if named and len(meaning) < 130 else []
    used = [used_as(wordnet, part, places) for part in ("verb", "noun", "adj")]
    made = [made_up(draw, *used) for _ in range(30_000)]
    new = [text for text in (*dict.fromkeys(examples), *dict.fromkeys(glosses)) if text not in known]
    texts = new + made
    draw.shuffle(texts)
    return texts[:MIXED]


def made_up(draw: random.Random, verbs: list[str], nouns: list[str], adjectives: list[str]) -> str:
    form = draw.choice(FORMS)
    kinds = {"V": verbs, "v": verbs, "n": nouns, "a": adjectives}
    words = [(kind, draw.choice(kinds[kind])) for kind in re.findall(r"\{(\w)\}", form)]
    filled = iter([third_person(word).capitalize() if kind == "V" else word for kind, word in words])
    return re.sub(r"\{\w\}", lambda _: next(filled), form)


def third_person(verb: str) -> str:
    if re.search("(s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return verb[:-1] + "ies" if re.search("[^aeiou]y$", verb) else verb + "s"


def used_as(wordnet: Path, part: str, places: dict[str, int]) -> list[str]:
    """The common words that WordNet's tagged texts use as that part of speech."""
    lines = [line.split() for line in (wordnet / f"index.{part}").read_text().splitlines() if line[0] != " "]
    return [
        fields[0]
        for fields in lines
        if places.get(fields[0], SMALL[1]) < SMALL[1] and int(fields[5 + int(fields[3])]) > 0
    ]


def entries(wordnet: Path):
    """Yield each entry's names, its meaning, and its quoted examples."""
    for part in sorted(wordnet.glob("data.*")):
        for line in part.read_text().splitlines():
            head, _, gloss = line.partition(" | ")
            if line.startswith("  ") or not gloss:
                continue
            fields = head.split()
            names = [fields[4 + 2 * n].replace("_", " ") for n in range(int(fields[3], 16))]
            yield names, re.sub(r'"[^"]*"', "", gloss).strip(" ;\n"), re.findall(r'"([^"]{8,200})"', gloss)


def encoder(model: Path):
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(64)
    session = onnxruntime.InferenceSession(str(model / "model.onnx"))

    def encode(texts: list[str]):
        rows = [np.zeros((0, 384))]
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
    """Least squares by conjugate gradients, held to the words' own vectors; then the main dimensions."""
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
    origin = start - start.mean(0)
    moved = np.zeros_like(origin)
    residual = design.T @ (targets - targets.mean(0) - design @ origin)
    direction, size = residual.copy(), (residual * residual).sum(0)
    for _ in range(ROUNDS):
        applied = design.T @ (design @ direction) + STRENGTH * direction
        step = size / ((direction * applied).sum(0) + 1e-12)
        moved += step * direction
        residual -= step * applied
        next_size = (residual * residual).sum(0)
        direction, size = residual + (next_size / (size + 1e-12)) * direction, next_size
    fitted = origin + moved
    _, axes = np.linalg.eigh(fitted.T @ fitted)  # the main ones last
    return fitted @ axes[:, ::-1][:, :DIMENSIONS]


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
