"""The resolution of a question's reference among the results. Pure."""

from dataclasses import dataclass

from antiphon_shared.text.words import similarity, stem, stems_of_name

from reasoning_engine.offline.language import content_words, likeness
from reasoning_engine.offline.question import Reference
from reasoning_engine.offline.records import Record
from reasoning_engine.offline.tried import TriedCall

_ALIKE = 0.6
_SUBJECT_STEMS = tuple(map(stem, ("topic", "subject", "theme", "genre", "keyword", "tag", "category")))


@dataclass(frozen=True)
class Resolution:
    """The record that the reference means, and its owner. `queries` search for similar ones, the best first."""

    record: Record
    title: str
    queries: tuple[str, ...]
    owner: str
    owner_noun: str


def resolve(
    reference: Reference, records: tuple[Record, ...], tried: tuple[TriedCall, ...]
) -> Resolution | None:
    """Return the first record that matches the reference, in results returned for it."""
    for record in records:
        if not _belongs(record, reference, tried):
            continue
        number = reference.number
        if number is None:
            if reference.entity and _best_likeness(record, reference.entity.value) >= _ALIKE:
                return _resolution(record, reference, record.title, "")
            continue
        owner = _owner(record, reference) or _namesake(record, reference)
        if record.is_number(number.noun, number.value) or _asked_for_number(record, number.value, tried):
            return _resolution(record, reference, record.titled(number.noun) or record.title, owner)
        if line := record.line(number.noun, number.value):
            return _resolution(record, reference, line, owner)
    return None


def concerns(record: Record, resolution: Resolution) -> bool:
    """Return whether a record is the resolved reference, or a part of it."""
    own = resolution.owner or resolution.title
    for key, value in record.values():
        if isinstance(value, str) and len(value) <= 200:
            kin = bool(resolution.owner_noun) and resolution.owner_noun in stems_of_name(key)
            if similarity(value, own) >= 0.9 or (kin and likeness(value, own) >= 0.9):
                return True
    return any(
        own.lower() in str(value)[:300].lower() for key, value in record.fields.items() if key == "text"
    )


def _belongs(record: Record, reference: Reference, tried: tuple[TriedCall, ...]) -> bool:
    """Return whether a record was requested by the reference's name, or contains it."""
    entity = reference.entity
    if entity is None or reference.number is None:
        return True
    if _best_likeness(record, entity.value) >= _ALIKE:
        return True
    calls = [call for call in tried if call.told(record.fact.ids)]
    asked = [value for call in calls for value in (call.arguments or {}).values() if isinstance(value, str)]
    foreign = _owner(record, reference)
    return not foreign and any(similarity(value, entity.value) >= _ALIKE for value in asked)


def _best_likeness(record: Record, name: str) -> float:
    short = (value for _, value in record.values() if isinstance(value, str) and len(value) <= 200)
    return max((likeness(value, name) for value in short), default=0.0)


def _asked_for_number(record: Record, value: int | float, tried: tuple[TriedCall, ...]) -> bool:
    calls = [call for call in tried if call.told(record.fact.ids) and call.arguments]
    return not record.context and any(value in (call.arguments or {}).values() for call in calls)


def _owner(record: Record, reference: Reference) -> str:
    """Return the record's owner, under the noun that the question uses."""
    noun = reference.entity.noun if reference.entity else ""
    for key, value in record.values() if noun else ():
        if isinstance(value, str) and noun in stems_of_name(key) and len(value) <= 200:
            return value
    return ""


def _namesake(record: Record, reference: Reference) -> str:
    """Return the name around the record that is most like the question's name."""
    name = reference.entity.value if reference.entity else ""
    near = [value for _, value in record.context if isinstance(value, str) and len(value) <= 200]
    best = max(near, key=lambda value: likeness(value, name), default="")
    return best if name and likeness(best, name) >= _ALIKE else ""


def _resolution(record: Record, reference: Reference, title: str, owner: str) -> Resolution:
    """Return the resolution with its searches: for the shared attribute, the record's subject, and its title."""
    wanted = [reference.attribute] if reference.attribute else []
    queries = []
    for part in (*wanted, *_SUBJECT_STEMS):
        for key, value in record.fields.items():
            if part in stems_of_name(key):
                values = value if isinstance(value, list) else [value]
                queries += [text for text in values[:3] if isinstance(text, str) and 0 < len(text) <= 200]
    named = title if title not in queries else ""
    short = " ".join(content_words(title))
    queries = [query for query in dict.fromkeys((*queries, named, short)) if query.strip()]
    if reference.entity and reference.number:
        return Resolution(
            record, title, tuple(queries), owner or reference.entity.value, reference.entity.noun
        )
    return Resolution(record, title, tuple(queries), owner, "")
