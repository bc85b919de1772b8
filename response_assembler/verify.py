"""The check of an answer's quotations and numbers against the facts that it cites for them. Pure.

A sentence with citations is compared with the statements and titles of its cited facts. Quotations of four words and
more are searched word by word, without regard to punctuation, case and spaces; the parts around an omission (`…`)
are searched separately. Numbers of two digits and more, and decimals, are searched in every notation: 1,250, 1250,
1.250. Words and numbers of the question need no source.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from unicodedata import normalize

from antiphon_shared.events.session import Uncertainty
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.fence import unescaped
from antiphon_shared.text.notations import readings, readings_in
from antiphon_shared.text.words import texts_in_json

from response_assembler.markdown import Sentence
from response_assembler.uncertainty import uncertain

UNCERTAINTIES_MAX = 5
_SENTENCES_MAX = 300
_FACTS_MAX = 40
"""Bound on the citations of a sentence; sentences with more are not checked."""
_STATEMENT_CHARACTERS = 20_000
_QUOTE_WORDS_MIN = 4
_QUOTE_CHARACTERS_MAX = 120
_QUOTED = re.compile(
    r"“([^“”]{1,1000})”|„([^„“”]{1,1000})[“”]|«([^«»]{1,1000})»|(?<!\w)\"([^\"]{1,1000})\"(?!\w)"
)
_LEFT_OUT = re.compile(r"\[?(?:…|\.\.\.)\]?")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")


def unsupported(
    sentences: Iterable[Sentence], memory: Memory, numbers: Mapping[str, int]
) -> Iterator[Uncertainty]:
    """Yield an uncertainty for each missing quotation and number, at most UNCERTAINTIES_MAX of each kind."""
    evidence = _Evidence(memory)
    citing = [
        sentence
        for sentence in sentences
        if sentence.cited
        and all(id in numbers for id in sentence.cited)
        and len(sentence.cited) <= _FACTS_MAX
    ][:_SENTENCES_MAX]
    for find in (_unfound_quotes, _unfound_numbers):
        all_of_kind = (one for sentence in citing for one in find(sentence, evidence, numbers))
        yield from islice(all_of_kind, UNCERTAINTIES_MAX)


def _unfound_quotes(
    sentence: Sentence, evidence: "_Evidence", numbers: Mapping[str, int]
) -> Iterator[Uncertainty]:
    for match in _QUOTED.finditer(sentence.text):
        quote = next(filter(None, match.groups()))
        parts = [_words(part) for part in _LEFT_OUT.split(quote)]
        if sum(map(len, parts)) < _QUOTE_WORDS_MIN:
            continue
        if any(not evidence.contains_words(sentence.cited, part) for part in parts if len(part) > 1):
            sources = _source_names(sentence.cited, numbers)
            excerpt = one_line(quote, _QUOTE_CHARACTERS_MAX)
            message = f"The answer quotes “{excerpt}”, which does not stand in {sources}."
            yield uncertain("quote_not_found", message, ", ".join(sentence.cited))


def _unfound_numbers(
    sentence: Sentence, evidence: "_Evidence", numbers: Mapping[str, int]
) -> Iterator[Uncertainty]:
    outside = _QUOTED.sub(" ", unescaped(sentence.text))
    for written in dict.fromkeys(_NUMBER.findall(outside)):
        if sum(sign.isdigit() for sign in written) < 2 or evidence.contains_number(sentence.cited, written):
            continue
        sources = _source_names(sentence.cited, numbers)
        message = f"The number {one_line(written, 40)} does not stand in {sources}; it may be computed."
        yield uncertain("number_not_found", message, ", ".join(sentence.cited))


@dataclass(frozen=True)
class _ComparedText:
    """The words and numbers of a text, in the form for comparison."""

    words: str
    numbers: frozenset[str]

    @classmethod
    def by(cls, text: str) -> "_ComparedText":
        return cls(" ".join(_words(text)), readings_in(text))


class _Evidence:
    """The texts of facts, their titles and the question, each parsed once."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._question = _ComparedText.by(memory.query[:_STATEMENT_CHARACTERS])
        self._facts: dict[str, tuple[_ComparedText, _ComparedText]] = {}

    def contains_words(self, ids: tuple[str, ...], words: list[str]) -> bool:
        """Return whether the words occur side by side; they may continue from one fact to the next."""
        text = f" {' '.join(words)} "
        statements = " ".join(self._texts_of(id)[0].words for id in ids)
        titles = [self._texts_of(id)[1].words for id in ids]
        return any(text in f" {other} " for other in (statements, *titles, self._question.words))

    def contains_number(self, ids: tuple[str, ...], written: str) -> bool:
        texts = (text for id in ids for text in self._texts_of(id))
        return any(readings(written) & text.numbers for text in (self._question, *texts))

    def _texts_of(self, id: str) -> tuple[_ComparedText, _ComparedText]:
        """Return the texts of a fact's statement and of its title; for a structure, all its names and values."""
        if id not in self._facts:
            fact = self._memory.facts[id]
            statement = " ".join(texts_in_json(fact.statement)) if fact.is_json else fact.statement
            title = self._memory.document_of(fact).title
            self._facts[id] = _ComparedText.by(statement[:_STATEMENT_CHARACTERS]), _ComparedText.by(title)
        return self._facts[id]


def _words(text: str) -> list[str]:
    bare = normalize("NFKC", unescaped(text)).casefold().replace("_", " ")
    return _WORD.findall(bare.replace("’", "'"))


def _source_names(ids: tuple[str, ...], numbers: Mapping[str, int]) -> str:
    """Return the cited sources as text: `[1][2], cited for it`."""
    names = [f"[{numbers[id]}]" for id in ids[:UNCERTAINTIES_MAX]] + (
        ["…"] if len(ids) > UNCERTAINTIES_MAX else []
    )
    return f"{''.join(names)}, cited for it"
