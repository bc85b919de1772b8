"""The words of a statement in the form for comparisons: without punctuation and words that add nothing. Pure.

Marks that can change the meaning stay: case (`US` and `us`), signs and brackets before a number (`(5)`, `–5`),
`C#`, `;` and `?`, and with a negation all punctuation between clauses (`staff; never managers`). Only the
first word of a sentence loses its capital.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from pydantic_core import from_json

from antiphon_shared.text.words import bare_word

_REMEMBERED = 8_192
_TELLING_CHARACTERS = 25
_TELLING_JSON_CHARACTERS = 40
_SIGNS = "-–—−+~*/()#|"
_MARKS = frozenset(";?；？؟؛")
_ANY_MARK = re.compile("[;?；？؟؛]")
_MARKS_OF_CLAUSES = _MARKS | frozenset(".,:!…()[]–—-。，！、：（）،।")
_SAY_NOTHING = frozenset((
    "the", "also", "indeed", "moreover", "however", "thus", "therefore",
    "The", "Also", "Indeed", "Moreover", "However", "Thus", "Therefore",
))  # fmt: skip  # in pairs
_NEGATIONS = frozenset((
    "not", "never", "no", "nor", "neither", "none", "nobody", "nothing", "without", "cannot", "only", "except",
    "unless", "hardly", "but",
))  # fmt: skip  # a text, not a column
LEANING = frozenset((
    "he", "she", "it", "they", "his", "her", "hers", "its", "their", "theirs", "this", "that", "these",
    "those", "there", "here", "then", "i", "we", "you", "my", "our", "your", "both", "such", "one",
    "another",
))  # fmt: skip  # a text, not a column


class Reading(NamedTuple):
    """The form in which a statement is recognised."""

    key: str
    """Its words, and the marks that count; of JSON, the value with its keys in order, after a brace."""
    words: tuple[str, ...]
    """The words of the key; empty for JSON."""
    folded: tuple[str, ...]
    """The words in lower case."""
    is_telling: bool
    """Whether it means the same in every document."""


@lru_cache(_REMEMBERED)
def read_statement(text: str, is_json: bool) -> Reading:
    """Return the form in which a statement is recognised."""
    if is_json:
        return Reading("{" + _canonical(text), (), (), len(text) >= _TELLING_JSON_CHARACTERS)
    raw = text.replace("’", "'").split()
    bare = [word if word.isalnum() else bare_word(word) for word in raw]
    indexes = [
        at
        for at, word in enumerate(bare)
        if (
            word not in _SAY_NOTHING
            if word.isalnum()
            else word[:1].isalpha() or _says_something(raw, bare, at)
        )
    ]
    if not indexes:
        return Reading(text, (), (), False)
    words = [bare[at] or raw[at] for at in indexes]
    if indexes[0] == 0:
        words[0] = without_capital(words[0])
    folded = tuple([word.lower() for word in words])
    key = " ".join(words) + _marks(text, raw, indexes, folded)
    is_telling = len(text) >= _TELLING_CHARACTERS and not _leans(text, bare[0].lower())
    return Reading(key, tuple(words), folded, is_telling)


def without_capital(word: str) -> str:
    """Return the word as within a sentence, unless it is all capitals."""
    return word if word.isupper() else word.lower()


def _says_something(raw: Sequence[str], bare: Sequence[str], at: int) -> bool:
    word = bare[at]
    if word.strip(_SIGNS):
        return True
    # A sign by itself counts next to a number.
    is_sign = raw[at][0] in _SIGNS
    return is_sign and any(
        other[:1].isdecimal() for other in (*bare[max(0, at - 1) : at], *bare[at + 1 : at + 2])
    )


def _marks(text: str, raw: Sequence[str], indexes: Sequence[int], folded: Sequence[str]) -> str:
    """Return the marks that count, each with the number of words before it; empty for most sentences."""
    has_negation = not _NEGATIONS.isdisjoint(folded) or "n't" in text or "n’t" in text
    counted = _MARKS_OF_CLAUSES if has_negation else _MARKS
    if not has_negation and not _ANY_MARK.search(text):
        return ""
    marks: list[str] = []
    before = 0
    for at, word in enumerate(raw):
        while before < len(indexes) and indexes[before] <= at:
            before += 1
        inner = word.rstrip(".!。！") if at == len(raw) - 1 else word
        if signs := [sign for sign in inner if sign in counted]:
            marks.append(f"{before}{''.join(signs)}")
    return "\0" + " ".join(marks) if marks else ""


def _leans(text: str, first_word: str) -> bool:
    """Return whether a sentence begins with a reference to its document: `He`, `The course`; not `The Aker`."""
    if first_word == "the":
        return not text.split(None, 2)[1][:1].isupper()
    return first_word in LEANING


def _canonical(text: str) -> str:
    try:
        return json.dumps(from_json(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text
