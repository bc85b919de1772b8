"""The names and numbers in a question, with their nouns. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from antiphon_shared.text.dates import ISO_DATE
from antiphon_shared.text.numbers import CARDINALS, ORDINALS
from antiphon_shared.text.words import stem

from reasoning_engine.offline.language import STOP_WORDS, is_filler, word_set

_TOKEN = re.compile(r"[^\W_]+(?:[-'’+#./][^\W_]+)*(?:\+\+|#)?|[^\w\s]")
_QUOTED = re.compile(r"[\"“”„«]([^\"“”„«»]{1,200})[\"“”»]|(?<![\w])['‘]([^'‘’\n]{2,200})['’](?!\w)")
_WORD = r"[^\W\d_]{2,40}"
_NUMBER = re.compile(
    rf"(?:\b({_WORD})\s+(?:number\s+|no\.?\s*|#\s*)?)?"
    rf"(?<![\w.,-])(\d{{1,9}}(?:\.\d{{1,6}})?(?![.,]?\d|-\d)|{'|'.join([*CARDINALS, *ORDINALS])}\b)(?:st|nd|rd|th)?"
    rf"(?=\s*({_WORD})|)",
    re.IGNORECASE,
)
_BOUNDS = {
    "max": re.compile(r"\b(?:under|below|less than|at most|up to|cheaper than)\W*$", re.IGNORECASE),
    "min": re.compile(r"\b(?:over|above|more than|at least|from)\W*$", re.IGNORECASE),
}
_PREPOSITIONS = word_set("about as at by for from in into near of on to with")
_JOINING_BARE_NAMES = word_set("of the for & : -")
_JOINING_NAMES = STOP_WORDS | _JOINING_BARE_NAMES
_SENTENCE_ENDS = frozenset(".!?;")
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
    """A number and its noun's stem. `is_name` is True for `part 4`, not for `4 parts`; `bound` is max, min or empty."""

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


def find_numbers(text: str, nouns: frozenset[str]) -> tuple[Number, ...]:
    """Return the numbers outside quotes and dates.

    Numbers in words count where they name a thing of `nouns`: `the fourth lesson`, `lesson four`.
    """
    masked = _without_dates(mask_spans(text, (Span(*quote.span()) for quote in _QUOTED.finditer(text))))
    numbers = []
    for match in _NUMBER.finditer(masked):
        before, written, behind = match.group(1) or "", match.group(2).lower(), match.group(3) or ""
        value = CARDINALS.get(written, ORDINALS.get(written)) or (float if "." in written else int)(written)
        is_ordinal = written in ORDINALS or match.end() > match.end(2)
        is_noun = stem(before) in nouns or (
            written[0].isdigit() and before.islower() and not is_filler(before)
        )
        counts = stem(behind) in nouns if written.isalpha() else not is_filler(behind)
        if before and is_noun and written not in ORDINALS and "." not in written:
            numbers.append(Number(match.start(), match.end(2), value, stem(before), is_name=True))
        elif is_ordinal and behind and counts:
            numbers.append(Number(match.start(2), match.end(3), value, stem(behind), is_name=True))
        elif written[0].isdigit():
            lead = masked[max(0, match.start(2) - 30) : match.start(2)]
            bound = next((name for name, pattern in _BOUNDS.items() if pattern.search(lead)), "")
            noun = stem(behind) if behind and counts else ""
            numbers.append(Number(match.start(2), match.end(2), value, noun, bound=bound))
    return tuple(numbers)


def find_entities(
    text: str, nouns: frozenset[str], numbers: tuple[Number, ...], verbs: frozenset[str] = frozenset()
) -> tuple[Entity, ...]:
    """Return the names in a question: quoted, or with capitals. One of `verbs` at a sentence's start is not a name."""
    tokens = [_Token(m.start(), m.end(), m.group()) for m in _TOKEN.finditer(_without_dates(text))]
    quotes = list(_QUOTED.finditer(text))
    taken: list[Span] = [*(Span(*quote.span()) for quote in quotes), *(n for n in numbers if n.is_name)]
    free = [all(not span.start <= token.start < span.end for span in taken) for token in tokens]
    entities = [_quoted_entity(tokens, quote, nouns) for quote in quotes]
    stop = 0
    for index, token in enumerate(tokens):
        if index < stop or not free[index] or not token.is_capital:
            continue
        after_number = any(0 <= token.start - number.end <= 9 for number in numbers if number.is_name)
        is_of_noun = after_number or bool(nouns.intersection([_word_before(tokens, index)]))
        is_first = index == 0 or tokens[index - 1].text in _SENTENCE_ENDS
        is_before_number = index == 0 and len(tokens) > 1 and tokens[1].text.isdigit()  # `Order 50 ...`
        starts_command = is_before_number or (is_first and stem(token.text) in verbs)
        if not is_of_noun and (token.text[0].isdigit() or is_filler(token.text) or starts_command):
            continue
        stop = _end_of_name(tokens, index, free, _JOINING_NAMES if is_of_noun else _JOINING_BARE_NAMES)
        first, last = token.start, tokens[stop - 1].end
        noun = _adjacent_noun(tokens, index, stop, nouns)
        entities.append(Entity(first, last, text[first:last], noun, _preposition(tokens, index)))
    return tuple(sorted(entities, key=lambda entity: entity.start))


def _end_of_name(tokens: list[_Token], start: int, free: list[bool], joining: frozenset[str]) -> int:
    """Return the index after a name's last token: words with capitals, and up to three `joining` between them."""
    stop = start + 1
    while True:
        ahead = tokens[stop : stop + 4]
        small = next(
            (n for n, token in enumerate(ahead) if token.text.lower() not in joining or token.is_capital), 4
        )
        if small >= len(ahead) or not ahead[small].is_capital or not all(free[stop : stop + small + 1]):
            return stop
        stop += small + 1


def _quoted_entity(tokens: list[_Token], quote: re.Match[str], nouns: frozenset[str]) -> Entity:
    start, stop = (sum(token.start < at for token in tokens) for at in quote.span())
    noun = _adjacent_noun(tokens, start, stop, nouns)
    value = (quote.group(1) or quote.group(2)).strip().rstrip(".,;?!") or quote.group().strip()
    return Entity(*quote.span(), value, noun, _preposition(tokens, start), quoted=True)


def _adjacent_noun(tokens: list[_Token], start: int, stop: int, nouns: frozenset[str]) -> str:
    """Return the stem of the word before a name, or of one of `nouns` behind it."""
    before = _word_before(tokens, start)
    behind = stem(tokens[stop].text) if stop < len(tokens) else ""
    return behind if behind in nouns and before not in nouns else before


def _word_before(tokens: list[_Token], start: int) -> str:
    """Return the stem of the noun before a name; empty without one."""
    before = [token.text.lower() for token in tokens[:start]]
    while before and before[-1] in _NAMING:
        before.pop()
    word = before[-1] if before else ""
    return stem(word) if word.isalpha() and not is_filler(word) and word not in _PREPOSITIONS else ""


def _preposition(tokens: list[_Token], start: int) -> str:
    near = [token.text.lower() for token in reversed(tokens[max(0, start - 3) : start])]
    return next((word for word in near if word in _PREPOSITIONS), "")


def mask_spans(text: str, spans: Iterable[Span], mark: str = " ") -> str:
    """Return the text with the spans overwritten, so that positions stay."""
    for span in spans:
        text = text[: span.start] + mark * (span.end - span.start) + text[span.end :]
    return text


def _without_dates(text: str) -> str:
    return mask_spans(text, (Span(*date.span()) for date in ISO_DATE.finditer(text)))
