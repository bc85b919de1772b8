"""Words of a statement as they are compared: lower case, without punctuation and what says little. Pure."""

import json
from functools import lru_cache
from typing import NamedTuple

from pydantic_core import from_json

_REMEMBERED = 8_192
_TELLING_CHARACTERS = 25
_TELLING_JSON_CHARACTERS = 40
_PUNCTUATION = ".,:;!?()[]{}\"'“”‘’„«»…—–*_`|~#。，！？、：；（）「」『』،؟।"
_SAY_LITTLE = frozenset((
    "", "-", "the", "a", "an", "also", "just", "very", "really", "indeed", "moreover", "however", "thus",
    "therefore",
))  # fmt: skip  # a text, not a column
_LEAN = frozenset((
    "he", "she", "it", "they", "his", "her", "hers", "its", "their", "theirs", "this", "that", "these",
    "those", "there", "here", "then", "i", "we", "you", "my", "our", "your", "both", "such", "one",
    "another",
))  # fmt: skip  # a text, not a column


class Reading(NamedTuple):
    """What a statement is recognised by."""

    key: str
    """Its words; of JSON, the value with its keys in order, behind a brace."""
    words: tuple[str, ...]
    """Those of the key; none of JSON."""
    is_telling: bool
    """Whether it means the same whatever document it stands in."""


@lru_cache(_REMEMBERED)
def read(text: str, is_json: bool) -> Reading:
    """What a statement is recognised by."""
    if is_json:
        return Reading("{" + _canonical(text), (), len(text) >= _TELLING_JSON_CHARACTERS)
    all_words = [word.strip(_PUNCTUATION) for word in text.lower().replace("’", "'").split()]
    words = tuple([word for word in all_words if word not in _SAY_LITTLE])
    if not words:
        return Reading(text, (), False)
    return Reading(
        " ".join(words), words, len(text) >= _TELLING_CHARACTERS and not _leans(text, all_words[0])
    )


def _leans(text: str, first_word: str) -> bool:
    """Whether a sentence begins with what only its document tells: `He`, `The course`; not `The Aker`."""
    if first_word == "the":
        return not text.split(None, 2)[1][:1].isupper()
    return first_word in _LEAN


def _canonical(text: str) -> str:
    try:
        return json.dumps(from_json(text), sort_keys=True)
    except (ValueError, RecursionError):
        return text
