"""The names, numbers and dates in a question, with their nouns. Pure."""

import re
from dataclasses import dataclass

from antiphon_shared.text.dates import ISO_DATE
from antiphon_shared.text.numbers import CARDINALS, ORDINALS
from antiphon_shared.text.words import stem

from reasoning_engine.offline.language import (
    CLAUSE_WORDS,
    CONNECTORS,
    REQUEST_STEMS,
    STOP_WORDS,
    is_filler,
    word_set,
)

_TOKEN = re.compile(r"[^\W_]+(?:[-'’+#./][^\W_]+)*(?:\+\+|#)?|[^\w\s]")
_QUOTED = re.compile(r"[\"“”„«]([^\"“”„«»]{1,200})[\"“”»]|(?<![\w])['‘]([^'‘’\n]{2,200})['’](?!\w)")
_NOUN_NUMBER = re.compile(r"\b([^\W\d_]{2,40})\s+(?:number\s+|no\.?\s*|#\s*)?(\d{1,9})\b(?![.,]\d|-\d)")
_NUMBER_NOUN = re.compile(r"(?<![\w.,-])(\d{1,9}(?:\.\d{1,6})?)\s*(?:(st|nd|rd|th)\b)?\s*([^\W\d_]{2,40})?")
_ORDINAL = re.compile(rf"\b({'|'.join(ORDINALS)})\s+([^\W\d_]{{2,40}})", re.IGNORECASE)
_NOUN_CARDINAL = re.compile(rf"\b([^\W\d_]{{2,40}})\s+({'|'.join(CARDINALS)})\b", re.IGNORECASE)
_AT_MOST = re.compile(
    r"\b(?:under|below|less than|at most|up to|max(?:imum)?(?: of)?|cheaper than)\W*$", re.IGNORECASE
)
_AT_LEAST = re.compile(r"\b(?:over|above|more than|at least|min(?:imum)?(?: of)?|from)\W*$", re.IGNORECASE)
_PREPOSITIONS = word_set("about as at by for from in into near of on to with")
_JOINING_BARE_NAMES = word_set("of the for & : -")
_NAMING = word_set("called named titled entitled the : - a an this")


@dataclass(frozen=True)
class Span:
    """A piece of the question, from `start` to `end` in characters."""

    start: int
    end: int


@dataclass(frozen=True)
class Entity(Span):
    """A name. `noun` is the stem of the word for the named thing, `preposition` the word before the name."""

    value: str
    noun: str = ""
    preposition: str = ""
    quoted: bool = False


@dataclass(frozen=True)
class Number(Span):
    """A number and its noun's stem. `is_name` tells `part 4` from `4 parts`; `bound` is max, min or empty."""

    value: int | float
    noun: str = ""
    is_name: bool = False
    bound: str = ""


@dataclass(frozen=True)
class _Token(Span):
    text: str

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper() or self.text[0].isdigit()

    @property
    def is_word(self) -> bool:
        return self.text[0].isalnum()


def find_numbers(text: str, nouns: frozenset[str]) -> tuple[Number, ...]:
    """Return the numbers outside quotes and dates. `nouns` are stems that may precede one in any case."""
    masked = _mask(_mask(text, _QUOTED), ISO_DATE)
    found: list[Number] = []

    def add(start: int, end: int, value: int | float, noun: str, is_name: bool) -> None:
        if all(end <= other.start or start >= other.end for other in found):
            before = masked[max(0, start - 30) : start]
            bound = "max" if _AT_MOST.search(before) else "min" if _AT_LEAST.search(before) else ""
            found.append(Number(start, end, value, stem(noun), is_name, bound))

    for match in _NOUN_NUMBER.finditer(masked):
        noun, value = match.groups()
        if stem(noun) in nouns or (noun.islower() and not is_filler(noun)):
            add(*match.span(), int(value), noun, is_name=True)
    for match in _NOUN_CARDINAL.finditer(masked):
        if stem(match.group(1)) in nouns:
            add(*match.span(), CARDINALS[match.group(2).lower()], match.group(1), is_name=True)
    for match in _ORDINAL.finditer(masked):
        if stem(match.group(2)) in nouns:
            add(*match.span(), ORDINALS[match.group(1).lower()], match.group(2), is_name=True)
    for match in _NUMBER_NOUN.finditer(masked):
        digits, ordinal, noun = match.groups()
        value = float(digits) if "." in digits else int(digits)
        known = noun if noun and not is_filler(noun) else ""
        add(match.start(), match.end() if known else match.end(1), value, known, is_name=bool(ordinal))
    return tuple(sorted(found, key=lambda number: number.start))


def find_entities(text: str, nouns: frozenset[str], numbers: tuple[Number, ...]) -> tuple[Entity, ...]:
    """Return the names in a question: quoted, after a noun of `nouns`, after a numbered thing, or capitalised."""
    tokens = [_Token(m.start(), m.end(), m.group()) for m in _TOKEN.finditer(_mask(text, ISO_DATE))]
    quotes = list(_QUOTED.finditer(text))
    taken: list[Span] = [*(Span(*quote.span()) for quote in quotes), *(n for n in numbers if n.is_name)]
    found = [_quoted_entity(text, tokens, quote, nouns) for quote in quotes]
    index = 0
    while index < len(tokens):
        end = index + 1
        if not _is_taken(tokens[index], taken):
            start, noun = _start_of_name(tokens, index, nouns, numbers)
            stop = (
                _end_of_name(tokens, start, taken, nouns if noun is not None else None) if start >= 0 else -1
            )
            if stop > start >= 0:
                found.append(_entity(text, tokens, start, stop, nouns, noun))
                end = stop
        index = end
    return _share_nouns(text, sorted(found, key=lambda entity: entity.start))


def _start_of_name(
    tokens: list[_Token], index: int, nouns: frozenset[str], numbers: tuple[Number, ...]
) -> tuple[int, str | None]:
    """Return the start of the name at or after this token, and its noun; -1 without a name."""
    token = tokens[index]
    before = tokens[index - 1].text.lower() if index else ""
    if stem(token.text) in nouns:
        start = index + 1
        while start < len(tokens) and tokens[start].text.lower() in _NAMING:
            start += 1
        anchored = before in _PREPOSITIONS or before in ("the", "this") or start > index + 1
        if start < len(tokens) and (
            tokens[start].is_capital or (anchored and not is_filler(tokens[start].text))
        ):
            return start, stem(token.text)
    elif token.text.lower() in ("of", "in", "from"):
        start = index + 1
        while start < len(tokens) and tokens[start].text.lower() == "the":
            start += 1
        after_number = any(n.is_name and 0 <= token.start - n.end <= 1 for n in numbers)
        if after_number and start < len(tokens) and stem(tokens[start].text) not in nouns:
            return start, ""
    elif token.is_capital and not (token.text[0].isdigit() or is_filler(token.text)):
        orders = index == 0 and len(tokens) > 1 and tokens[1].text.isdigit()  # `Order 50 ...` names nothing
        return (-1 if orders else index), None
    return -1, None


def _end_of_name(tokens: list[_Token], start: int, taken: list[Span], nouns: frozenset[str] | None) -> int:
    """Return the index after a name's last token.

    A name after a noun may be written without capitals: then it ends with the clause, or at one of `nouns`.
    `nouns` is None for a name without a noun.
    """
    capitals = tokens[start].is_capital
    index = start
    while index < len(tokens) and not _is_taken(tokens[index], taken):
        token = tokens[index]
        after_of = "of" in (other.text for other in tokens[max(start, index - 2) : index])
        small = nouns is not None and (not capitals or after_of) and _goes_on(token, nouns)
        if (
            not (capitals and token.is_capital)
            and not small
            and not (index > start and _joins(tokens, index, nouns is None))
        ):
            break
        index += 1
    return index


def _goes_on(token: _Token, nouns: frozenset[str]) -> bool:
    """Return whether a word can be part of a name in small letters."""
    asks = stem(token.text) in REQUEST_STEMS and not token.text.endswith("ing")
    ends = token.text.lower() in CLAUSE_WORDS or stem(token.text) in nouns or asks
    return token.is_word and not ends


def _joins(tokens: list[_Token], index: int, is_bare: bool) -> bool:
    """Return whether up to three small words join the parts of a name with capitals.

    Fewer words join a bare name, without a noun before it: Oslo to Bergen are two names.
    """
    joining = _JOINING_BARE_NAMES if is_bare else CONNECTORS | STOP_WORDS
    for token in tokens[index : index + 4]:
        if token.is_capital:
            return token is not tokens[index]
        if token.text.lower() not in joining:
            return False
    return False


def _entity(
    text: str, tokens: list[_Token], start: int, stop: int, nouns: frozenset[str], noun: str | None
) -> Entity:
    first, last = tokens[start].start, tokens[stop - 1].end
    noun = noun or _noun_beside(tokens, start, stop, nouns)
    return Entity(first, last, text[first:last], noun, _preposition(tokens, start))


def _quoted_entity(text: str, tokens: list[_Token], quote: re.Match[str], nouns: frozenset[str]) -> Entity:
    start, stop = (sum(token.start < at for token in tokens) for at in quote.span())
    noun = _noun_beside(tokens, start, stop, nouns)
    value = (quote.group(1) or quote.group(2)).strip().rstrip(".,;?!") or quote.group().strip()
    return Entity(*quote.span(), value, noun, _preposition(tokens, start), quoted=True)


def _noun_beside(tokens: list[_Token], start: int, stop: int, nouns: frozenset[str]) -> str:
    """Return the stem of the word before a name, or of one of `nouns` behind it."""
    before = [token.text for token in tokens[:start]]
    while before and before[-1].lower() in _NAMING:
        before.pop()
    word = before[-1] if before else ""
    is_noun = word.isalpha() and not is_filler(word) and word.lower() not in _PREPOSITIONS
    behind = stem(tokens[stop].text) if stop < len(tokens) else ""
    return behind if behind in nouns and stem(word) not in nouns else stem(word) if is_noun else ""


def _preposition(tokens: list[_Token], start: int) -> str:
    for token in reversed(tokens[max(0, start - 3) : start]):
        if token.text.lower() in _PREPOSITIONS:
            return token.text.lower()
    return ""


def _share_nouns(text: str, entities: list[Entity]) -> tuple[Entity, ...]:
    """Return the names with nouns shared in lists: in `books "A" and "B"`, B is a book too."""
    shared: list[Entity] = []
    for entity in entities:
        if (
            shared
            and shared[-1].noun
            and text[shared[-1].end : entity.start].strip() in ("and", "or", ",", ", and", "&")
        ):
            last = shared[-1]
            entity = Entity(
                entity.start, entity.end, entity.value, last.noun, last.preposition, entity.quoted
            )
        shared.append(entity)
    return tuple(shared)


def _is_taken(token: _Token, taken: list[Span]) -> bool:
    return any(span.start <= token.start < span.end for span in taken)


def _mask(text: str, pattern: re.Pattern[str]) -> str:
    """Return the text with every match blanked out, so that positions stay."""
    return pattern.sub(lambda match: " " * len(match.group()), text)
