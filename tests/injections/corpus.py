"""Texts that try to be more than data, in many languages and encodings; one a line in corpus.jsonl."""

import json
from pathlib import Path
from typing import NamedTuple


class Injection(NamedTuple):
    name: str
    language: str
    """Or the encoding, where no language shows."""
    text: str


_LINES = (Path(__file__).parent / "corpus.jsonl").read_text(encoding="utf-8").split("\n")
INJECTIONS = tuple(Injection(**json.loads(line)) for line in _LINES if line)
