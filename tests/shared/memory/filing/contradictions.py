"""Pairs of results that contradict each other, and pairs that seem to and do not, read from `contradictions.jsonl`.

The pairs were written before the rules. Half of them, drawn by hash, served to find the rules; the other half measures
the rules on unseen pairs.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tests.memories import a_memory, a_round

_PAIRS = Path(__file__).with_name("contradictions.jsonl")
Half = Literal["development", "report"]


class Pair(NamedTuple):
    """Two results of tools, and whether they contradict each other."""

    contradicts: bool
    kind: str
    one: dict[str, Any]
    other: dict[str, Any]

    @property
    def half(self) -> Half:
        sides = json.dumps([self.one, self.other], sort_keys=True).encode()
        return "report" if sha256(sides).digest()[0] % 2 else "development"

    @property
    def is_marked(self) -> bool:
        """Return whether filing marks a contradiction, in either order."""
        return any(_is_marked(*sides) for sides in ((self.one, self.other), (self.other, self.one)))


def pairs(half: Half, contradicts: bool) -> list[Pair]:
    """Return the pairs of a half that contradict each other, or those that do not."""
    rows = (Pair(**json.loads(line)) for line in _PAIRS.read_text().splitlines())
    return [one for one in rows if one.half == half and one.contradicts == contradicts]


def _is_marked(first: dict[str, Any], second: dict[str, Any]) -> bool:
    rounds = [a_round((side["tool"], {}, _data(side)), round=n) for n, side in enumerate((first, second), 1)]
    return bool(a_memory(*rounds).contradicted)


def _data(side: dict[str, Any]) -> Any:
    if "record" in side:
        return side["record"]
    return [{"title": side["title"], "text": side["text"]}] if "title" in side else side["text"]
