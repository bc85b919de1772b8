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
        owner, number = _owner(record, reference, tried), reference.number
        if owner is None:
            continue
        if number is None:
            return _resolution(record, reference, record.title, owner)
        if record.is_number(number.noun, number.value) or _asked_for_number(record, number.value, tried):
            return _resolution(record, reference, record.titled(number.noun) or record.title, owner)
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


def _owner(record: Record, reference: Reference, tried: tuple[TriedCall, ...]) -> str | None:
    """Return the name in or around a record that the question gives; None where the record belongs to another.

    A record without names belongs to the reference where it was requested by the question's name.
    """
    if reference.entity is None:
        return ""
    name, noun = reference.entity.value, reference.entity.noun
    near = [(key, value) for key, value in record.values() if isinstance(value, str) and len(value) <= 200]
    best = max((value for _, value in near), key=lambda value: likeness(value, name), default="")
    if likeness(best, name) >= _ALIKE:
        return best
    has_other = bool(noun) and any(noun in stems_of_name(key) for key, _ in near)
    asked = [call.arguments or {} for call in tried if call.told(record.fact.ids)]
    given = [value for arguments in asked for value in arguments.values() if isinstance(value, str)]
    is_asked = reference.number is not None and any(similarity(value, name) >= _ALIKE for value in given)
    return "" if is_asked and not has_other else None


def _asked_for_number(record: Record, value: int | float, tried: tuple[TriedCall, ...]) -> bool:
    calls = [call for call in tried if call.told(record.fact.ids) and call.arguments]
    return not record.context and any(value in (call.arguments or {}).values() for call in calls)


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
    entity = reference.entity
    owner = owner or (entity.value if entity else "")
    return Resolution(record, title, tuple(queries), owner, entity.noun if entity else "")
