"""The parts of a question: its names, numbers, topic, and what it compares with. Pure."""

import re
from dataclasses import dataclass

from antiphon_shared.text.dates import iso_dates_in
from antiphon_shared.text.words import similarity, stem, words_as_written

from reasoning_engine.offline.language import content_words, is_filler, stems
from reasoning_engine.offline.spans import Entity, Number, Span, find_entities, find_numbers

_ALIKE = 0.6
LENGTH_MAX = 4_000
"""The characters of a question that are read; the rest is taken for quoted material."""

_SAME_AS = re.compile(
    r"\b(?:same|similar|identical|comparable)\s+(?:([^\W\d_]{2,40})\s+){0,3}?(?:as|to|with|of)\b",
    re.IGNORECASE,
)
_LIKE = re.compile(
    r"\b(?:similar to|related to|akin to|resembl\w{1,5}|in common with"
    r"|(?<!would )(?<!you )(?<!i )like(?! to\b))",
    re.IGNORECASE,
)
_OTHER = re.compile(r"\b(?:another|other|else(?:where)?)\b", re.IGNORECASE)
_WANTED = re.compile(
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
    """An indirect reference in the question: part 4 of X, the thing called Y."""

    entity: Entity | None
    number: Number | None
    attribute: str
    """The stem of the wanted attribute (`topic`, `author`), where the question gives one."""

    @property
    def slots(self) -> Slots:
        """Return the reference's own names and numbers."""
        entity, number = self.entity, self.number
        return Slots(
            (entity,) if entity else (), (number,) if number else (), query=entity.value if entity else ""
        )

    def __str__(self) -> str:
        number = f"{self.number.noun} {self.number.value}" if self.number else ""
        return " of ".join(part for part in (number, f"“{self.entity.value}”" if self.entity else "") if part)


@dataclass(frozen=True)
class Question:
    """A question, parsed."""

    text: str
    slots: Slots
    wanted: str
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
        return round(alike, 1) if alike >= _ALIKE else 0.0


def read_question(text: str, nouns: frozenset[str]) -> Question:
    """Parse a question. `nouns` are the stems that the tools and their results use for things."""
    text = text[:LENGTH_MAX]
    numbers = find_numbers(text, nouns)
    entities = find_entities(text, nouns, numbers)
    wanted = next((stem(m.group(1)) for m in _WANTED.finditer(text) if not is_filler(m.group(1))), "")
    cue, attribute = _comparison(text, numbers, wanted, nouns)
    reference = _reference(entities, numbers, after=max(cue, 0), attribute=attribute)
    compares = cue >= 0 and reference is not None
    topic, loose = _topic(text, entities, numbers, nouns)
    limit = _LIMIT.search(text)
    if limit is not None:
        loose = loose.removeprefix(f"{limit.group(1)} ")
    query = topic or (entities[0].value if entities else "") or loose
    return Question(
        text=text,
        slots=Slots(
            entities,
            numbers,
            iso_dates_in(text),
            query,
            text,
            limit and int(limit[1]),
            bool(_ALL.search(text)),
        ),
        wanted=wanted,
        topic="" if compares else topic,
        reference=reference,
        compares=compares,
        counts=bool(_COUNT.search(text)),
        imperatives=frozenset(stem(match.group(1)) for match in _SENTENCE_START.finditer(text)),
        terms=stems(_without(text, entities)),
    )


def _comparison(
    text: str, numbers: tuple[Number, ...], wanted: str, nouns: frozenset[str]
) -> tuple[int, str]:
    """Return the position of a comparison's reference (-1: none), and the attribute that both should share."""
    same = _SAME_AS.search(text)
    if same is not None:
        return same.end(), stem(same.group(1) or "")
    like = _LIKE.search(text)
    if like is not None:
        return like.end(), ""
    named = any(number.is_name for number in numbers)
    other = _OTHER.search(text)
    return (other.end(), "") if named and other is not None else (-1, "")


def _reference(
    entities: tuple[Entity, ...], numbers: tuple[Number, ...], *, after: int, attribute: str
) -> Reference | None:
    number = next((n for n in numbers if n.is_name and n.noun and n.start >= after), None)
    later = [entity for entity in entities if entity.start >= after]
    entity = min(later, key=lambda e: abs(e.start - number.end) if number else e.start, default=None)
    return Reference(entity, number, attribute) if entity or number else None


def _topic(
    text: str, entities: tuple[Entity, ...], numbers: tuple[Number, ...], nouns: frozenset[str]
) -> tuple[str, str]:
    """Return the topic that the question states, and one guessed from its remaining words."""
    anchors = [n for n in numbers if n.is_name]
    hidden: list[Span] = [*anchors]
    hidden += [e for e in entities if e.noun in nouns or any(0 <= e.start - n.end <= 9 for n in anchors)]
    masked = text
    for span in hidden:
        masked = masked[: span.start] + "|" * (span.end - span.start) + masked[span.end :]
    cue = _TOPIC.search(masked)
    said = ""
    if cue is not None:
        pieces = (_trimmed(piece, nouns) for piece in re.split(r"[|?.!;\n]+", masked[cue.end() :]))
        said = next((piece for piece in pieces if piece), "")
    quoted = next((e.value for e in entities if e.quoted and e.noun not in nouns), "")
    loose = [word for word in content_words(masked) if stem(word) not in nouns]
    return said or quoted, " ".join(loose)


def _trimmed(piece: str, nouns: frozenset[str]) -> str:
    """Return a phrase without filler at its edges; empty when it holds only filler and nouns of the tools."""
    kept = piece.strip(" \t\"'“”„«»,:-()").split()
    while kept and _is_edge(kept[0]):
        kept = kept[1:]
    return (
        " ".join(kept).strip(",:")
        if any(stem(word) not in nouns for word in content_words(" ".join(kept)))
        else ""
    )


def _is_edge(word: str) -> bool:
    return all(is_filler(part) for part in words_as_written(word))


def _without(text: str, spans: tuple[Entity, ...]) -> str:
    for span in spans:
        text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text
