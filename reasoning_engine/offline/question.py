"""A question understood: what it names, what it counts, what it is about, what it compares with. Pure."""

import re
from dataclasses import dataclass, replace

from reasoning_engine.offline.language import content_words, is_filler, stem, stems, words
from reasoning_engine.offline.spans import Entity, Number, Span, find_dates, find_entities, find_numbers

LENGTH_MAX = 4_000
"""Characters of a question that are read; what follows is taken for quoted material."""

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
_SUBJECT_OF = re.compile(r"\b(topic|subject|theme|contents?)s? (?:of|from|in)\b", re.IGNORECASE)
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
    """What a call's arguments may be taken from."""

    entities: tuple[Entity, ...] = ()
    numbers: tuple[Number, ...] = ()
    dates: tuple[str, ...] = ()
    query: str = ""
    """What a search would be for."""
    text: str = ""
    """The words an option may be named in."""
    limit: int | None = None
    """How many results are asked for at most."""
    wants_all: bool = False
    """Whether all there is of something is asked for."""


@dataclass(frozen=True)
class Reference:
    """Something the question points at instead of saying it: part 4 of X, the thing called Y."""

    entity: Entity | None
    number: Number | None
    attribute: str
    """The stem of what is wanted of it (`topic`, `author`), where the question says so."""

    @property
    def slots(self) -> Slots:
        """The reference's own names and numbers."""
        entity, number = self.entity, self.number
        return Slots(
            (entity,) if entity else (), (number,) if number else (), query=entity.value if entity else ""
        )

    def __str__(self) -> str:
        number = f"{self.number.noun} {self.number.value}" if self.number else ""
        return " of ".join(part for part in (number, f"“{self.entity.value}”" if self.entity else "") if part)


@dataclass(frozen=True)
class Question:
    """One question, read."""

    text: str
    slots: Slots
    wanted: str
    """The stem of what is asked for, if the question says: `Find a book ...`."""
    topic: str
    """What the question says it is about, in its own words; empty when it only points at something."""
    reference: Reference | None
    compares: bool
    """Whether something other than the reference is wanted, that shares something with it."""
    imperatives: frozenset[str]
    counts: bool
    """Whether a number of things is asked for."""
    terms: frozenset[str]
    """The stems of the words that say what is asked, names left out."""


def read_question(text: str, nouns: frozenset[str]) -> Question:
    """Understand a question. `nouns` are the stems the tools and their results use for things."""
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
    named = [entity for entity in entities if entity.noun not in nouns]
    query = topic or (named[0].value if named else "") or (entities[0].value if entities else "") or loose
    return Question(
        text=text,
        slots=Slots(
            entities, numbers, find_dates(text), query, text, limit and int(limit[1]), bool(_ALL.search(text))
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
    """Where the reference of a comparison begins (-1: there is none), and what the two should share."""
    same = _SAME_AS.search(text)
    if same is not None:
        return same.end(), stem(same.group(1) or "")
    like = _LIKE.search(text)
    if like is not None:
        return like.end(), ""
    named = any(number.is_name for number in numbers)
    subject = _SUBJECT_OF.search(text)
    other = _OTHER.search(text)
    if named and subject is not None and wanted in nouns:
        return subject.end(), stem(subject.group(1))
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
    """What the question is about by its own saying, and what may be guessed from its remaining words."""
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
    """A phrase without the filler at its edges; empty when only filler and nouns of the tools are in it."""
    kept = piece.strip(" \t\"'“”„«»,:-()").split()
    while kept and _is_edge(kept[0]):
        kept = kept[1:]
    while kept and _is_edge(kept[-1]):
        kept = kept[:-1]
    return (
        " ".join(kept).strip(",:")
        if any(stem(word) not in nouns for word in content_words(" ".join(kept)))
        else ""
    )


def _is_edge(word: str) -> bool:
    return all(is_filler(part) for part in words(word))


def _without(text: str, spans: tuple[Entity, ...]) -> str:
    for span in spans:
        text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text


def with_query(slots: Slots, query: str) -> Slots:
    """The same slots, for a search for something else."""
    return replace(slots, query=query)
