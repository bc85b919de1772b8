"""The resolution of a question's reference among the results. Pure."""

from dataclasses import dataclass
from typing import Any

from antiphon_shared.text.words import similarity, stems_of_name

from reasoning_engine.offline.language import ALIKE_MIN, content_words, likeness
from reasoning_engine.offline.question import Reference
from reasoning_engine.offline.records import Record
from reasoning_engine.offline.spans import Entity
from reasoning_engine.offline.tried import TriedCall


@dataclass(frozen=True)
class Resolution:
    """The record that the reference means, its title, and the name of its owner."""

    record: Record
    title: str
    owner: str
    owner_noun: str

    @property
    def queries(self) -> tuple[str, ...]:
        """Return the searches for similar ones, the best first: the title, and its words that carry meaning."""
        return tuple(dict.fromkeys((self.title, " ".join(content_words(self.title)))))


def resolve(
    reference: Reference, records: tuple[Record, ...], tried: tuple[TriedCall, ...]
) -> Resolution | None:
    """Return the first record that matches the reference, in results returned for it."""
    number, entity = reference.number, reference.entity
    for record in records:
        arguments = [call.arguments or {} for call in tried if call.has_returned_any(record.fact.ids)]
        values = [value for one in arguments for value in one.values()]
        is_argument = not record.context and number.value in values
        if not (is_argument or record.is_number(number.noun, number.value)):
            continue
        if entity is None or (owner := _owner(record, entity, values)) is not None:
            noun = entity.noun if entity else ""
            title = record.titled(number.noun) or record.title
            return Resolution(record, title, (owner or entity.value) if entity else title, noun)
    return None


def concerns(record: Record, resolution: Resolution) -> bool:
    """Return whether a record is the resolved reference, or a part of it."""
    own, noun = resolution.owner, resolution.owner_noun
    for key, value in record.values():
        if isinstance(value, str) and len(value) <= 200:
            kin = bool(noun) and noun in stems_of_name(key)
            if similarity(value, own) >= 0.9 or (kin and likeness(value, own) >= 0.9):
                return True
    return own.lower() in str(record.fields.get("text", ""))[:300].lower()


def _owner(record: Record, entity: Entity, values: list[Any]) -> str | None:
    """Return the name in or around a record that the question gives; None where the record belongs to another.

    A record without names belongs to the entity if an argument of its call was the entity's name.
    """
    near = [(key, value) for key, value in record.values() if isinstance(value, str) and len(value) <= 200]
    best = max((value for _, value in near), key=lambda value: likeness(value, entity.value), default="")
    if likeness(best, entity.value) >= ALIKE_MIN:
        return best
    has_other = bool(entity.noun) and any(entity.noun in stems_of_name(key) for key, _ in near)
    is_argument = any(
        isinstance(value, str) and similarity(value, entity.value) >= ALIKE_MIN for value in values
    )
    return "" if is_argument and not has_other else None
