"""The parts of a question: its names, numbers, topic, and what it compares with. Pure."""

import re
from dataclasses import dataclass

from antiphon_shared.text.dates import iso_dates_in
from antiphon_shared.text.words import similarity, stem, words_as_written

from reasoning_engine.offline.language import ALIKE_MIN, content_words, is_filler, stems
from reasoning_engine.offline.spans import Entity, Number, find_entities, find_numbers, mask_spans

LENGTH_MAX = 4_000
"""The characters of a question that are read; the rest is taken for quoted material."""

_COMPARES = re.compile(
    r"\b(?:(?:same|similar|identical|comparable)\s+(?:[^\W\d_]{2,40}\s+){0,3}?(?:as|to|with|of)"
    r"|related to|in common with|(?<!would )(?<!you )(?<!i )like(?! to\b))\b",
    re.IGNORECASE,
)
_OTHER = re.compile(r"\b(?:another|other|else(?:where)?)\b", re.IGNORECASE)
_REQUESTED = re.compile(
    r"\b(?:find|which|what|recommend|suggest|show|list|name|any|another|give|is there|are there)\s+"
    r"(?:(?:me|us|an?|any|some|the|all|one|other|another|similar)\s+){0,4}([^\W\d_]{2,40})",
    re.IGNORECASE,
)
_TOPIC = re.compile(
    r"\b(?:about|regarding|concerning|on the (?:topic|subject) of|discuss\w{0,4}|cover\w{0,4}|explain\w{0,4}"
    r"|teach\w{0,4}|mention\w{0,4}|introduc\w{0,4}|deal\w{0,4} with|on)\b",
    re.IGNORECASE,
)
_ALL = re.compile(r"\b(?:list|all|every\w*|how many|what is there|what do we have)\b", re.IGNORECASE)
_LIMIT = re.compile(
    r"\b(?:(?:show|list|give|find|name|get)(?: me| us)?(?: the)?|first|top|best|at most|up to) (\d{1,4})\b",
    re.IGNORECASE,
)
_COUNT = re.compile(r"\b(?:how many|count|(?:total )?number of)\b", re.IGNORECASE)
_SENTENCE_START = re.compile(
    r"(?:^|[.!?;,\n]|\b(?:please|and|then|you)\b)\s*(?=([^\W\d_]{2,40}))", re.IGNORECASE
)


@dataclass(frozen=True)
class Slots:
    """The possible sources of a call's arguments."""

    entities: tuple[Entity, ...] = ()
    numbers: tuple[Number, ...] = ()
    dates: tuple[str, ...] = ()
    query: str = ""
    """The words to search for."""
    text: str = ""
    """The text in which an option may be named."""
    limit: int | None = None
    """The greatest number of results that the question asks for."""
    wants_all: bool = False
    """Whether the question asks for all there is of something."""


@dataclass(frozen=True)
class Reference:
    """An indirect reference in the question: part 4 of X."""

    number: Number
    entity: Entity | None

    @property
    def slots(self) -> Slots:
        """Return the reference's own names and numbers."""
        entities = (self.entity,) if self.entity else ()
        return Slots(entities, (self.number,), query=self.entity.value if self.entity else "")

    def __str__(self) -> str:
        owner = f" of “{self.entity.value}”" if self.entity else ""
        return f"{self.number.noun} {self.number.value}{owner}"


@dataclass(frozen=True)
class Question:
    """A question, parsed."""

    text: str
    slots: Slots
    requested: str
    """The stem of the thing that the question asks for, if it gives one: `Find a book ...`."""
    topic: str
    """The topic in the question's own words; empty when it only has a reference."""
    reference: Reference | None
    compares: bool
    """Whether it asks for something else that shares an attribute with the reference."""
    imperatives: frozenset[str]
    counts: bool
    """Whether it asks for a number of things."""
    terms: frozenset[str]
    """The stems of its words without names."""

    def names_alike(self, title: str) -> float:
        """Return how well a title matches one of its names, in tenths; 0 for no match."""
        alike = max((similarity(title, entity.value) for entity in self.slots.entities), default=0.0)
        return round(alike, 1) if alike >= ALIKE_MIN else 0.0


def read_question(text: str, nouns: frozenset[str], verbs: frozenset[str] = frozenset()) -> Question:
    """Parse a question.

    `nouns` are the stems that the tools and their results use for things, `verbs` those of tools that write.
    """
    text = text[:LENGTH_MAX]
    numbers = find_numbers(text, nouns)
    entities = find_entities(text, nouns, numbers, verbs)
    cue = _comparison(text, numbers)
    reference = _reference(entities, numbers, after=max(cue, 0))
    compares = cue >= 0 and reference is not None
    topic, loose = _topic(text, entities, numbers, nouns)
    limit = _LIMIT.search(text)
    loose = loose.removeprefix(f"{limit[1]} ") if limit else loose
    query = topic or (entities[0].value if entities else "") or loose
    wants_all = bool(_ALL.search(text))
    return Question(
        text=text,
        slots=Slots(
            entities, numbers, iso_dates_in(text), query, text, int(limit[1]) if limit else None, wants_all
        ),
        requested=next((stem(m[1]) for m in _REQUESTED.finditer(text) if not is_filler(m[1])), ""),
        topic="" if compares else topic,
        reference=reference,
        compares=compares,
        counts=bool(_COUNT.search(text)),
        imperatives=frozenset(stem(match[1]) for match in _SENTENCE_START.finditer(text)),
        terms=stems(mask_spans(text, entities)),
    )


def _comparison(text: str, numbers: tuple[Number, ...]) -> int:
    """Return the position from which a comparison names the thing that it compares with; -1 without one."""
    compares, other = _COMPARES.search(text), _OTHER.search(text)
    if compares is not None:
        return compares.end()
    return other.end() if other is not None and any(number.is_name for number in numbers) else -1


def _reference(entities: tuple[Entity, ...], numbers: tuple[Number, ...], after: int) -> Reference | None:
    number = next((n for n in numbers if n.is_name and n.noun and n.start >= after), None)
    if number is None:
        return None
    later = [entity for entity in entities if entity.start >= after]
    return Reference(number, min(later, key=lambda entity: abs(entity.start - number.end), default=None))


def _topic(
    text: str, entities: tuple[Entity, ...], numbers: tuple[Number, ...], nouns: frozenset[str]
) -> tuple[str, str]:
    """Return the topic that the question states, and one guessed from its remaining words."""
    anchors = [n for n in numbers if n.is_name]
    owners = [e for e in entities if e.noun in nouns or any(0 <= e.start - n.end <= 9 for n in anchors)]
    masked = mask_spans(text, (*anchors, *owners), "|")
    cue = _TOPIC.search(masked)
    pieces = re.split(r"[|?.!;\n]+", masked[cue.end() :]) if cue else []
    stated = next((trimmed for piece in pieces if (trimmed := _trimmed(piece, nouns))), "")
    quoted = next((e.value for e in entities if e.quoted and e.noun not in nouns), "")
    return stated or quoted, " ".join(word for word in content_words(masked) if stem(word) not in nouns)


def _trimmed(piece: str, nouns: frozenset[str]) -> str:
    """Return a phrase without filler at its beginning; empty when it holds only filler and nouns of the tools."""
    words = piece.strip(" \t\"'“”„«»,:-()").split()
    while words and all(is_filler(part) for part in words_as_written(words[0])):
        words = words[1:]
    phrase = " ".join(words).strip(",:")
    return phrase if any(stem(word) not in nouns for word in content_words(phrase)) else ""
