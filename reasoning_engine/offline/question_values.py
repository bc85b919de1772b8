"""The values in a question for a name: `limit of 2.5`, `10 minutes`, `channel #a`, `name it x-1`. Pure."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from antiphon_shared.text.numbers import plain_number
from antiphon_shared.text.words import stem, stems_of_name, words_as_written

_TOKEN = re.compile(r"[\"“„«]([^\"“”„«»\n]{1,200})[\"”»]|(\S+)")
_EDGES = ".,;:!?()[]{}'\"“”„«»"
_AFTER_MAX = 4
"""The number of words after a noun among which its value may be."""
_MARKED = re.compile(r"[\d#@/_:.-]|^[A-Z]")
"""Words that are probably values: with a capital, a digit or a sign."""

Fits = Callable[[Any], bool]


def values_near_name(text: str, name: str, fits: Fits) -> Iterator[Any]:
    """Yield the fitting values next to a word of a name: the number before it, or the first value after it."""
    parts = frozenset(stems_of_name(name[:200]))
    words = _words(text)
    values = [plain_number(word) if plain_number(word) is not None else word for word, _ in words]
    for index, (word, is_quoted) in enumerate(words):
        if is_quoted or not parts & frozenset(map(stem, words_as_written(word))):
            continue
        if index and not isinstance(values[index - 1], str) and fits(values[index - 1]):
            yield values[index - 1]
        behind = range(index + 1, min(index + 1 + _AFTER_MAX, len(words)))
        marked = (at for at in behind if words[at][1] or _MARKED.search(words[at][0]))
        yield from [values[at] for at in marked if fits(values[at])][:1]


def option(text: str, options: tuple[Any, ...]) -> Any:
    """Return the option that a text names, or None.

    An option that is a whole word precedes one that is only a part of a word, such as an address.
    """
    texts = [one for one in options if isinstance(one, str) and one]
    for word, _ in _words(text):
        for one in texts:
            if word.casefold() == one.casefold():
                return one
    stems = {stem(word) for word in words_as_written(text)}
    return next((one for one in texts if (parts := stems_of_name(one)) and stems.issuperset(parts)), None)


def _words(text: str) -> list[tuple[str, bool]]:
    """Return the words of a text without punctuation around them, and the quotations, which are marked."""
    return [
        (quoted.strip(), True) if quoted else (bare.strip(_EDGES), False)
        for quoted, bare in _TOKEN.findall(text)
    ]
