"""Whether a statement is known already, in the same words or nearly the same. Pure functions and one index.

Two texts are the same when their words are, in order, whatever the case, spacing and punctuation, and whatever the
words that say little (`the`, `also`). Every other word counts: of two sentences of twenty words that differ in
one, the one often denies the other. A sentence that leans on its document (`He was born there.`), or is very short,
is the same only below the same title. JSON is the same when it is equal, below the same title.
"""

import json
import re
from functools import lru_cache
from typing import NamedTuple

from pydantic_core import from_json

from shared.filing.differences import Differences
from shared.memory import Fact, Memory, MemoryDelta

_REMEMBERED = 8_192
_TELLING_CHARACTERS = 25
_TELLING_JSON_CHARACTERS = 40
_TOKEN = re.compile(
    r"\d+(?:[.,:/-]\d+)*|(?<![\w-])-(?=\d)|[^\W_]+(?:['’][^\W_]+)*|[$€£¥₹%°<>=+±]|[\u2600-\u2bff\U0001f000-\U0001faff]"
)
_SAY_LITTLE = frozenset("the a an also just very really indeed moreover however thus therefore".split())
_LEAN = frozenset(
    "he she it they his her hers its their theirs this that these those the there here then i we you my our your"
    " him them both such one another".split()
)


class Reading(NamedTuple):
    """What a statement is recognised by."""

    key: str
    is_telling: bool
    """Whether it means the same below any title."""


class Known:
    """What is in memory, by what it is recognised by. Changed by `add` alone."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str], str] = {}
        self.differences = Differences()

    @classmethod
    def of(cls, memory: Memory) -> "Known":
        known = cls()
        for fact in memory.facts.values():
            known.put(fact, memory.documents[fact.document].title)
        return known

    def add(self, delta: MemoryDelta, memory: Memory) -> None:
        """Take in what was filed; `memory` is that with the delta in it."""
        for fact in delta.facts:
            self.put(fact, memory.documents[fact.document].title)

    def put(self, fact: Fact, title: str) -> None:
        reading = read(fact.statement, fact.is_json)
        self._facts.setdefault((reading.key, _named(title)), fact.id)
        if reading.is_telling:
            self._facts.setdefault((reading.key, ""), fact.id)
        self.differences.put(fact, title)

    def find(self, text: str, is_json: bool, title: str) -> str | None:
        """The id of the fact that says the same, if there is one."""
        reading = read(text, is_json)
        if (title or reading.is_telling) and (id := self._facts.get((reading.key, _named(title)))):
            return id
        return self._facts.get((reading.key, "")) if reading.is_telling else None


@lru_cache(_REMEMBERED)
def read(text: str, is_json: bool) -> Reading:
    """What a statement is recognised by."""
    if is_json:
        return Reading("{" + _canonical(text), len(text) >= _TELLING_JSON_CHARACTERS)
    words = _TOKEN.findall(text.lower())
    key = " ".join([word for word in words if word not in _SAY_LITTLE])
    if not key:
        return Reading(text, False)
    return Reading(key, len(text) >= _TELLING_CHARACTERS and words[0] not in _LEAN)


def _canonical(text: str) -> str:
    try:
        return json.dumps(from_json(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text


@lru_cache(_REMEMBERED)
def _named(title: str) -> str:
    return " ".join(title.lower().split())
