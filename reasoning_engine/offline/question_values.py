"""The values in a question for a name: `limit of 2.5`, `10 minutes`, `channel #a`, `name it x-1`. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from antiphon_shared.text.numbers import plain_number
from antiphon_shared.text.words import stem, stems_of_name, words_as_written

from reasoning_engine.offline.language import is_filler
from reasoning_engine.offline.question import Question

_TOKEN = re.compile(r"[\"“„«]([^\"“”„«»\n]{1,200})[\"”»]|(\S+)")
_EDGES = ".,;:!?()[]{}'\"“”„«»"
_AFTER_MAX = 4
"""The number of words after a noun among which its value may be."""
_MARKED = re.compile(r"[\d#@/_:.-]|^[A-Z]")
_SIGN = re.compile(r"[\d#@/_:-]")

Fits = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class QuestionValue:
    """A value, and the index of its word."""

    value: Any
    at: int
    is_close: bool = False
    """Whether it is next to the noun, and clearly a value."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    is_quoted: bool

    @property
    def number(self) -> int | float | None:
        """Return its number, if it is one."""
        return plain_number(self.text)

    @property
    def is_marked(self) -> bool:
        """Return whether it is more likely a value than a word: quoted, or with a capital, a digit or a sign in it."""
        return self.is_quoted or bool(_MARKED.search(self.text))


def named(question: Question, name: str, fits: Fits) -> Iterator[QuestionValue]:
    """Yield the fitting values next to one of the words of a name."""
    parts = frozenset(stems_of_name(name[:200]))
    found = _words(question.text)
    for index, word in enumerate(found):
        if word.is_quoted or not parts & frozenset(map(stem, words_as_written(word.text))):
            continue
        if index and (number := found[index - 1].number) is not None and fits(number):
            yield QuestionValue(number, index - 1, is_close=True)
        yield from _behind(found, index, fits)


def by_form(question: Question, fits: Fits) -> Iterator[QuestionValue]:
    """Yield the words that fit a form, such as a pattern, unless an ordinary word of the question fits it too."""
    found = _words(question.text)
    if any(fits(word.text) for word in found if not word.is_marked and word.text.islower()):
        return
    for index, word in enumerate(found):
        if word.is_marked and fits(word.text):
            yield QuestionValue(word.text, index)


def numbers_left(question: Question, taken: frozenset[int], fits: Fits) -> Iterator[QuestionValue]:
    """Yield the question's only unused number, where it fits."""
    found = [
        QuestionValue(word.number, index)
        for index, word in enumerate(_words(question.text))
        if word.number is not None and index not in taken
    ]
    if len(found) == 1 and fits(found[0].value):
        yield found[0]


def is_asked_for(question: Question, value: Any) -> bool:
    """Return whether the question names a number, so that another one would be wrong."""
    return not isinstance(value, str) and any(
        word.number is not None and word.number == value for word in _words(question.text)
    )


def option(text: str, options: tuple[Any, ...]) -> Any:
    """Return the option that a text names, or None.

    An option that is a whole word precedes one that is only a part of a word, such as an address.
    """
    texts = [one for one in options if isinstance(one, str)]
    for word in _words(text):
        for one in texts:
            if one and word.text.casefold() == one.casefold():
                return one
    asked = {stem(word) for word in words_as_written(text)}
    return next((one for one in texts if (parts := stems_of_name(one)) and asked.issuperset(parts)), None)


def _behind(found: list[_Word], index: int, fits: Fits) -> Iterator[QuestionValue]:
    """Yield the first value soon after a noun."""
    for at, word in enumerate(found[index + 1 : index + 1 + _AFTER_MAX], index + 1):
        value = word.number if word.number is not None else word.text
        if (word.number is not None or word.is_marked) and fits(value):
            is_sign = word.number is not None or bool(_SIGN.search(word.text))
            is_next = all(is_filler(between.text) for between in found[index + 1 : at])
            yield QuestionValue(value, at, is_close=is_sign and is_next)
            return


def _words(text: str) -> list[_Word]:
    return [
        _Word(quoted.strip(), True) if quoted else _Word(bare.strip(_EDGES), False)
        for quoted, bare in _TOKEN.findall(text)
    ]
